#include "tidewatt/attribution/cgroup_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tidewatt/units/printable.h"

namespace tidewatt::attribution {
namespace {

constexpr std::size_t kMaxComponents = 64;
constexpr std::size_t kMaxIdBytes = 200;  ///< of a task id; the server takes 256

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
template <class Is>
bool all(std::string_view text, Is is) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is);
}

/// What an id must look like to be believed.
enum class Id : std::uint8_t {
  hex64,   ///< a container's
  name,    ///< whatever its owner chose
  number,  ///< decimal
  uid,     ///< a pod's: 8-4-4-4-12 with '-' or '_', or 32 hex digits
  sluid,   ///< Slurm's: 's' and 13 digits or capitals
  ecs,     ///< 32 hex digits, '-', a number
};

bool is_uid(std::string_view id) {
  if (id.size() == 32) return all(id, is_hex);
  constexpr std::array<std::size_t, 4> kBars{8, 13, 18, 23};
  if (id.size() != 36) return false;
  for (std::size_t i = 0; i < id.size(); ++i) {
    const bool bar = std::find(kBars.begin(), kBars.end(), i) != kBars.end();
    if (bar ? id[i] != '-' && id[i] != '_' : !is_hex(id[i])) return false;
  }
  return true;
}

bool fits(Id form, std::string_view id) {
  switch (form) {
    case Id::hex64:
      return id.size() == 64 && all(id, is_hex);
    case Id::name:
      return !id.empty();
    case Id::number:
      return id.size() <= 20 && all(id, is_digit);
    case Id::uid:
      return is_uid(id);
    case Id::sluid:
      return id.size() == 14 && id[0] == 's' &&
             all(id.substr(1), [](char c) { return is_digit(c) || is_upper(c); });
    case Id::ecs:
      return id.size() > 33 && all(id.substr(0, 32), is_hex) && id[32] == '-' && all(id.substr(33), is_digit);
  }
  return false;
}

/// Where a row may match.
enum class Place : std::uint8_t {
  anywhere,
  below,         ///< the folder above is `where`
  below_suffix,  ///< the folder above ends with `where`
  in_slurm,      ///< somewhere below Slurm's own folder
  in_ecs,        ///< somewhere below "ecs"
};

/// One shape of one path component: prefix, id, suffix.
struct Row {
  std::string_view shape;
  WorkloadKind kind;
  std::string_view prefix;
  std::string_view suffix;
  Id id;
  std::string_view runtime{};
  Place place = Place::anywhere;
  std::string_view where{};
};

using enum WorkloadKind;

/// The first row that fits names the component; the order matters only where one prefix begins another.
constexpr std::array kRows{
    Row{"pod-cgroupfs", pod, "pod", "", Id::uid},
    Row{"pod-systemd", pod, "*-pod", ".slice", Id::uid},
    Row{"slurm-job", slurm, "job_", "", Id::number, {}, Place::in_slurm},
    Row{"slurm-sluid", slurm, "", "", Id::sluid, {}, Place::below_suffix, "slurmstepd.scope"},
    Row{"docker-systemd", container, "docker-", ".scope", Id::hex64, "docker"},
    Row{"docker-cgroupfs", container, "", "", Id::hex64, "docker", Place::below, "docker"},
    Row{"docker-buildkit", container, "", "", Id::name, "buildkit", Place::below, "buildkit"},
    Row{"containerd-cri", container, "cri-containerd-", ".scope", Id::hex64, "containerd"},
    Row{"containerd-nerdctl", container, "nerdctl-", ".scope", Id::hex64, "containerd"},
    Row{"containerd-scope", container, "containerd-", ".scope", Id::hex64, "containerd"},
    Row{"crio-conmon", container, "crio-conmon-", ".scope", Id::hex64, "cri-o"},
    Row{"crio-systemd", container, "crio-", ".scope", Id::hex64, "cri-o"},
    Row{"crio-conmon-cgroupfs", container, "crio-conmon-", "", Id::hex64, "cri-o"},
    Row{"crio-cgroupfs", container, "crio-", "", Id::hex64, "cri-o"},
    Row{"podman-conmon", container, "libpod-conmon-", ".scope", Id::hex64, "podman"},
    Row{"podman-payload", container, "libpod-payload-", "", Id::hex64, "podman"},
    Row{"podman-systemd", container, "libpod-", ".scope", Id::hex64, "podman"},
    Row{"podman-cgroupfs", container, "libpod-", "", Id::hex64, "podman"},
    Row{"container-bare", container, "", "", Id::hex64, ""},
    Row{"ecs-task", container, "", "", Id::ecs, "ecs", Place::in_ecs},
    Row{"lxc-payload", container, "lxc.payload.", "", Id::name, "lxc"},
    Row{"lxc-monitor", container, "lxc.monitor.", "", Id::name, "lxc"},
    Row{"lxc-payload-folder", container, "", "", Id::name, "lxc", Place::below, "lxc.payload"},
    Row{"lxc-folder", container, "", "", Id::name, "lxc", Place::below, "lxc"},
    Row{"machine-systemd", machine, "machine-", ".scope", Id::name},
    Row{"machine-libvirt", machine, "", ".libvirt-qemu", Id::name, {}, Place::below, "machine"},
    Row{"machine-qemu", machine, "", ".scope", Id::number, {}, Place::below, "qemu.slice"},
    Row{"user-slice", user, "user-", ".slice", Id::number},
    Row{"unit-service", unit, "", ".service", Id::name},
    Row{"unit-scope", unit, "", ".scope", Id::name},
    Row{"unit-socket", unit, "", ".socket", Id::name},
    Row{"unit-mount", unit, "", ".mount", Id::name},
    Row{"unit-swap", unit, "", ".swap", Id::name},
};

/// Folders that only group others.
bool is_structure(std::string_view name) {
  constexpr std::array<std::string_view, 22> kNames{
      "docker", "buildkit", "kubepods",    "kubelet", "burstable", "besteffort",    "guaranteed", "slurm",
      "lxc",    "ecs",      "lxc.payload", "default", "k8s.io",    "libpod_parent", "machine",    "user",
      "system", "init",     "actions_job", "moby",    "garden",    "podruntime"};
  if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) return true;
  return name.ends_with(".slice") || name.starts_with("slurm_") ||
         (name.starts_with("uid_") && all(name.substr(4), is_digit));
}

int rank(WorkloadKind kind) {
  switch (kind) {
    case pod:
    case slurm:
      return 3;
    case container:
    case machine:
      return 2;
    case user:
    case unit:
      return 1;
    case unknown:
      break;
  }
  return 0;
}

/// systemd writes characters that a unit's name can't hold as \xHH.
std::string unescaped(std::string_view text) {
  const auto value = [](char c) { return is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10; };
  std::string out;
  while (!text.empty()) {
    if (text.size() >= 4 && text[0] == '\\' && text[1] == 'x' && is_hex(text[2]) && is_hex(text[3])) {
      out += static_cast<char>(value(text[2]) * 16 + value(text[3]));
      text.remove_prefix(4);
    } else {
      out += text[0];
      text.remove_prefix(1);
    }
  }
  return out;
}

std::string clean(std::string_view text) { return printable(text, kMaxIdBytes); }

std::string pod_uid(std::string_view id) {
  std::string uid(id);
  std::replace(uid.begin(), uid.end(), '_', '-');
  return uid;
}

class Walk {
 public:
  explicit Walk(std::string_view path) : path_(path) {}

  std::optional<Workload> run() {
    std::size_t at = 0;
    std::string_view above;
    for (std::size_t seen = 0; at < path_.size() && seen < kMaxComponents; ++seen) {
      if (path_[at] == '/') {
        ++at;
        continue;
      }
      const auto end = std::min(path_.find('/', at), path_.size());
      const auto name = path_.substr(at, end - at);
      at = end;
      if (name == "..") continue;  // seen from within another cgroup namespace
      component(name, above, end);
      in_slurm_ =
          in_slurm_ || name == "slurm" || name.starts_with("slurm_") || name.ends_with("slurmstepd.scope");
      in_ecs_ = in_ecs_ || name == "ecs";
      above = name;
    }
    return std::move(found_);
  }

 private:
  void component(std::string_view name, std::string_view above, std::size_t end) {
    // runc's "slice:runtime:container" when it was told a systemd path but drives cgroupfs.
    const auto first = name.find(':');
    const auto second = first == std::string_view::npos ? first : name.find(':', first + 1);
    if (second != std::string_view::npos) {
      const auto id = name.substr(second + 1);
      if (fits(Id::hex64, id)) {
        match(name.substr(0, first), above, end);
        const auto runtime = name.substr(first + 1, second - first - 1);
        take({"container-colons", container, "", "", Id::hex64, runtime}, id, id, end);
        return;
      }
    }
    if (match(name, above, end)) return;
    if (found_ && found_->kind != unknown) {
      if (found_->kind == slurm && name.starts_with("step_")) set("slurm_step", std::string(name.substr(5)));
      return;
    }
    if (found_ || is_structure(name)) return;
    found_.emplace();
    found_->shape = "unknown";
    found_->account_path = path_.substr(0, end);
    const auto begin = std::min(found_->account_path.find_first_not_of('/'), found_->account_path.size());
    found_->task_id = clean("cgroup/" + found_->account_path.substr(begin));
  }

  bool match(std::string_view name, std::string_view above, std::size_t end) {
    for (const auto& row : kRows) {
      if (!at_place(row, above)) continue;
      const auto id = id_in(row, name);
      if (!id) continue;
      take(row, *id, name, end);
      return true;
    }
    return false;
  }

  [[nodiscard]] bool at_place(const Row& row, std::string_view above) const {
    switch (row.place) {
      case Place::anywhere:
        return true;
      case Place::below:
        return above == row.where;
      case Place::below_suffix:
        return above.ends_with(row.where);
      case Place::in_slurm:
        return in_slurm_;
      case Place::in_ecs:
        return in_ecs_;
    }
    return false;
  }

  static std::optional<std::string_view> id_in(const Row& row, std::string_view name) {
    if (!name.ends_with(row.suffix)) return std::nullopt;
    name.remove_suffix(row.suffix.size());
    if (row.prefix.starts_with('*')) {
      const auto inner = row.prefix.substr(1);
      const auto at = name.rfind(inner);
      if (at == std::string_view::npos) return std::nullopt;
      name.remove_prefix(at + inner.size());
    } else {
      if (!name.starts_with(row.prefix)) return std::nullopt;
      name.remove_prefix(row.prefix.size());
    }
    if (!fits(row.id, name)) return std::nullopt;
    return name;
  }

  void take(const Row& row, std::string_view id, std::string_view name, std::size_t end) {
    const int now = found_ ? rank(found_->kind) : -1;
    const int coming = rank(row.kind);
    const bool wins = coming > now || (coming == now && coming >= 2);
    if (wins) {
      found_.emplace();
      found_->kind = row.kind;
      found_->shape = row.shape;
      found_->account_path = path_.substr(0, end);
    }
    describe(row, id, name, wins);
  }

  void describe(const Row& row, std::string_view id, std::string_view name, bool wins) {
    std::string task;
    switch (row.kind) {
      case pod:
        set("pod_uid", pod_uid(id));
        task = "pod/" + pod_uid(id);
        break;
      case slurm:
        set(row.id == Id::sluid ? "slurm_sluid" : "slurm_job", std::string(id));
        task = fmt::format("slurm/{}", id);
        break;
      case container:
        set("container_id", std::string(id));
        if (!row.runtime.empty()) set("runtime", std::string(row.runtime));
        task = fmt::format("{}/{}", row.runtime == "lxc" ? "lxc" : "container", id);
        break;
      case machine:
        set("machine", unescaped(id));
        task = "machine/" + unescaped(id);
        break;
      case user:
        set("user", std::string(id));
        task = fmt::format("user/{}", id);
        break;
      case unit:
        // A unit inside a container is the container's own business.
        if (!wins && rank(found_->kind) >= 2) return;
        set("unit", unescaped(name));
        task = "unit/" + unescaped(name);
        break;
      case unknown:
        break;
    }
    if (wins) found_->task_id = clean(task);
  }

  void set(std::string_view label, std::string value) {
    value = clean(value);
    for (auto& [known, old] : found_->labels)
      if (known == label) {
        old = std::move(value);
        return;
      }
    found_->labels.emplace_back(label, std::move(value));
  }

  std::string_view path_;
  std::optional<Workload> found_;
  bool in_slurm_ = false;
  bool in_ecs_ = false;
};

bool names_cpu_time(std::string_view controllers) {
  while (!controllers.empty()) {
    const auto end = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, end) == "cpuacct") return true;
    controllers.remove_prefix(std::min(end + 1, controllers.size()));
  }
  return false;
}

}  // namespace

std::string_view to_string(WorkloadKind kind) {
  switch (kind) {
    case pod:
      return "pod";
    case slurm:
      return "slurm";
    case container:
      return "container";
    case machine:
      return "machine";
    case user:
      return "user";
    case unit:
      return "unit";
    case unknown:
      break;
  }
  return "unknown";
}

const std::string* Workload::label(std::string_view name) const {
  for (const auto& [known, value] : labels)
    if (known == name) return &value;
  return nullptr;
}

std::optional<Workload> workload_of_path(std::string_view path) { return Walk{path}.run(); }

std::optional<Workload> workload_of_process(std::string_view text) {
  std::optional<Workload> best;
  std::pair<int, bool> best_rank{-1, false};
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    // "hierarchy:controllers:path", and the path may hold colons of its own.
    const auto first = line.find(':');
    const auto second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos || !line.substr(second + 1).starts_with('/')) continue;
    auto path = line.substr(second + 1);
    // The kernel's mark for a cgroup that was removed under its process.
    constexpr std::string_view kDeleted = " (deleted)";
    if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
    auto found = workload_of_path(path);
    if (!found) continue;
    const auto controllers = line.substr(first + 1, second - first - 1);
    const std::pair<int, bool> standing{rank(found->kind), names_cpu_time(controllers)};
    if (standing <= best_rank) continue;
    best_rank = standing;
    best = std::move(found);
  }
  return best;
}

}  // namespace tidewatt::attribution
