#include "run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "tidewatt/os/posix.h"
#include "tidewatt/runner/files.h"

namespace tidewatt::cli {
namespace {

constexpr std::size_t kKeptRuns = 200;

/// Of an open file, not of a process; and asking who holds it takes nothing.
struct flock whole_file() {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

class FastClock final : public Clock {
 public:
  explicit FastClock(TrialClock trial) : trial_(trial) {}
  [[nodiscard]] UtcTime utc_now() const override {
    const auto passed = static_cast<double>((system_.mono_now() - trial_.origin).count()) * trial_.speed;
    return trial_.begin + Milliseconds{std::llround(passed)};
  }
  [[nodiscard]] SteadyTime mono_now() const override { return system_.mono_now(); }

 private:
  TrialClock trial_;
  os::SystemClock system_;
};

}  // namespace

std::optional<FolderLock> FolderLock::take(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return std::nullopt;
  auto whole = whole_file();
  if (::fcntl(descriptor, F_OFD_SETLK, &whole) != 0) {
    ::close(descriptor);
    return std::nullopt;
  }
  return FolderLock{descriptor};
}

bool FolderLock::is_taken(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return false;
  auto whole = whole_file();
  const bool taken = ::fcntl(descriptor, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
  ::close(descriptor);
  return taken;
}

FolderLock::FolderLock(FolderLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

RunFolder::RunFolder(std::shared_ptr<FileSystem> files, std::string path)
    : files_(std::move(files)), path_(std::move(path)) {}

Result<RunFolder> RunFolder::create(std::shared_ptr<FileSystem> files, const std::string& base,
                                    const runner::Order& order, const runner::Plan& plan,
                                    const std::optional<TrialClock>& trial) {
  RunFolder folder{std::move(files), base + "/" + order.id};
  TW_TRY_STATUS(folder.files_->make_folders(folder.path_));
  if (trial) {
    const nlohmann::json json{{"begin", format_rfc3339(trial->begin)},
                              {"origin_ms", trial->origin.time_since_epoch().count()},
                              {"speed", trial->speed}};
    TW_TRY_STATUS(folder.files_->write_atomically(folder.path_ + "/clock.json", json.dump() + "\n"));
  }
  TW_TRY_STATUS(folder.put(plan));
  TW_TRY_STATUS(folder.put(runner::Record{}));
  // The last one: a folder without an order is none of ours.
  TW_TRY_STATUS(folder.files_->write_atomically(folder.path_ + "/order.json", runner::to_text(order)));
  return folder;
}

Result<RunFolder> RunFolder::open(std::shared_ptr<FileSystem> files, const std::string& base,
                                  const std::string& id) {
  if (id.empty() || id.find('/') != std::string::npos || id.front() == '.')
    return fail(ErrorCode::invalid_input, fmt::format("\"{}\" is no run", id),
                "tidewatt run --list names them");
  RunFolder folder{std::move(files), base + "/" + id};
  if (!folder.files_->exists(folder.path_ + "/order.json"))
    return fail(ErrorCode::not_found, fmt::format("there is no run {} in {}", id, base),
                "tidewatt run --list names them");
  return folder;
}

Result<runner::Order> RunFolder::order() const {
  TW_TRY(const auto text, files_->read_text(path_ + "/order.json"));
  return runner::parse_order(text);
}

Result<runner::Plan> RunFolder::plan() const {
  TW_TRY(const auto text, files_->read_text(path_ + "/plan.json"));
  return runner::parse_plan(text);
}

Result<runner::Record> RunFolder::record() const {
  TW_TRY(const auto text, files_->read_text(path_ + "/record.json"));
  return runner::parse_record(text);
}

Status RunFolder::put(const runner::Plan& plan) const {
  return files_->write_atomically(path_ + "/plan.json", runner::to_text(plan));
}

Status RunFolder::put(const runner::Record& record) const {
  return files_->write_atomically(path_ + "/record.json", runner::to_text(record));
}

Result<std::shared_ptr<Clock>> RunFolder::clock() const {
  const auto text = files_->read_text(path_ + "/clock.json");
  if (!text) return std::make_shared<os::SystemClock>();
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  const auto has = [&](const char* name, auto is) {
    return json.is_object() && json.contains(name) && is(json[name]);
  };
  const auto is_number = [](const nlohmann::json& one) { return one.is_number(); };
  const auto begin = has("begin", [](const nlohmann::json& one) { return one.is_string(); })
                         ? parse_rfc3339(json["begin"].get<std::string>())
                         : std::nullopt;
  if (!begin || !has("speed", is_number) || !has("origin_ms", is_number) ||
      !(json["speed"].get<double>() > 0))
    return fail(ErrorCode::corrupt, path_ + "/clock.json can't be read", "start the run anew");
  return std::make_shared<FastClock>(TrialClock{
      *begin, SteadyTime{Milliseconds{json["origin_ms"].get<std::int64_t>()}}, json["speed"].get<double>()});
}

std::string default_runs_folder() {
  const auto* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && state[0] == '/') return std::string{state} + "/tidewatt/runs";
  const auto* home = std::getenv("HOME");
  return (home != nullptr && home[0] == '/' ? std::string{home} + "/.local/state" : std::string{"/var/lib"}) +
         "/tidewatt/runs";
}

std::vector<std::string> run_ids(const FileSystem& files, const std::string& base) {
  std::vector<std::string> ids;
  const auto folders = files.list_folders(base);
  if (!folders) return ids;
  for (const auto& name : *folders)
    if (files.exists(base + "/" + name + "/order.json")) ids.push_back(name);
  return ids;  // they begin with the time
}

void forget_old_runs(const std::shared_ptr<FileSystem>& files, const std::string& base) {
  auto ids = run_ids(*files, base);
  for (std::size_t i = 0; i + kKeptRuns < ids.size(); ++i) {
    const RunFolder folder{files, base + "/" + ids[i]};
    const auto record = folder.record();
    if (!record || record->state != runner::State::ended) continue;
    std::error_code ignored;
    std::filesystem::remove_all(folder.path(), ignored);
  }
}

std::optional<Milliseconds> usual_duration(const std::shared_ptr<FileSystem>& files, const std::string& base,
                                           const std::vector<std::string>& argv) {
  std::vector<Milliseconds> times;
  for (const auto& id : run_ids(*files, base)) {
    const RunFolder folder{files, base + "/" + id};
    const auto order = folder.order();
    if (!order || order->argv != argv) continue;
    const auto record = folder.record();
    if (!record || record->state != runner::State::ended || record->exit_code != 0) continue;
    times.push_back(ran(*record, order->submitted));
  }
  if (times.empty()) return std::nullopt;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace tidewatt::cli
