#include "tidewatt/agent/node.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tidewatt/units/text.h"

namespace tidewatt::agent {
namespace {

constexpr std::size_t kMaxIdBytes = 256;
constexpr std::size_t kSmallFile = 4096;

std::string first_line(const FileSystem& files, const std::string& path) {
  const auto text = files.read_text(path, kSmallFile);
  if (!text) return {};
  return std::string(trim(std::string_view(*text).substr(0, text->find('\n'))));
}

template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    visit(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
}

}  // namespace

Result<std::string> resolve_node_id(std::string_view configured, const FileSystem& files) {
  std::string id(trim(configured));
  if (id.empty()) {
    constexpr std::array<std::string_view, 4> kNobody{"", "(none)", "localhost", "localhost.localdomain"};
    id = first_line(files, "/proc/sys/kernel/hostname");
    if (std::ranges::find(kNobody, id) != kNobody.end()) {
      return fail(ErrorCode::invalid_input,
                  fmt::format("node_id: nothing names this node (its host name is \"{}\")", id),
                  "give --node-id or set node_id in the file");
    }
  }
  const bool control = std::ranges::any_of(id, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (control || id.size() > kMaxIdBytes) {
    return fail(ErrorCode::invalid_input,
                fmt::format("node_id: \"{}\" has control characters or more than {} bytes", id.substr(0, 40),
                            kMaxIdBytes),
                "give a plain name with --node-id");
  }
  return id;
}

std::optional<CpuTimes> parse_cpu_times(std::string_view stat) {
  // "cpu  user nice system idle iowait irq softirq steal guest guest_nice": guests are in user and nice
  // already.
  if (!stat.starts_with("cpu ")) return std::nullopt;
  std::string_view line = stat.substr(4, stat.find('\n') - 4);
  constexpr std::size_t kCounted = 8;
  CpuTimes times;
  std::size_t field = 0;
  while (field < kCounted) {
    line = trim(line);
    if (line.empty()) break;
    const auto end = line.find(' ');
    const auto ticks = parse_uint64(line.substr(0, end));
    if (!ticks) return std::nullopt;
    times.total += *ticks;
    const bool idle = field == 3 || field == 4;
    if (!idle) times.busy += *ticks;
    line = end == std::string_view::npos ? std::string_view{} : line.substr(end);
    ++field;
  }
  if (field < 4) return std::nullopt;
  return times;
}

std::optional<int> count_cpus(std::string_view stat) {
  int cpus = 0;
  for_each_line(stat, [&](std::string_view line) {
    if (line.size() > 3 && line.starts_with("cpu") && line[3] >= '0' && line[3] <= '9') ++cpus;
  });
  if (cpus == 0) return std::nullopt;
  return cpus;
}

std::optional<double> utilisation(const CpuTimes& before, const CpuTimes& now) {
  // iowait may go backwards, and with it the total.
  if (now.total <= before.total || now.busy < before.busy) return std::nullopt;
  const double share =
      static_cast<double>(now.busy - before.busy) / static_cast<double>(now.total - before.total);
  return std::min(share, 1.0);
}

std::string parse_cpu_model(std::string_view cpuinfo) {
  std::string model;
  for_each_line(cpuinfo, [&](std::string_view line) {
    if (!model.empty() || !line.starts_with("model name")) return;
    const auto colon = line.find(':');
    if (colon != std::string_view::npos) model = trim(line.substr(colon + 1));
  });
  return model;
}

void add_machine_facts(NodeFacts& facts, const FileSystem& files) {
  if (const auto stat = files.read_text("/proc/stat")) facts.cpu_cores = count_cpus(*stat);
  if (const auto info = files.read_text("/proc/cpuinfo")) facts.cpu_model = parse_cpu_model(*info);
  const bool given =
      std::ranges::any_of(facts.labels, [](const auto& label) { return label.first == "machine_id"; });
  if (given) return;
  if (std::string id = first_line(files, "/etc/machine-id"); !id.empty() && id != "uninitialized") {
    facts.labels.emplace_back("machine_id", std::move(id));
  }
}

std::optional<double> CpuMeter::read() {
  const auto stat = files_.read_text("/proc/stat");
  const auto now = stat ? parse_cpu_times(*stat) : std::nullopt;
  const auto share = last_ && now ? utilisation(*last_, *now) : std::nullopt;
  last_ = now;
  return share;
}

}  // namespace tidewatt::agent
