#include "tidewatt/reports/gather.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "moved.h"
#include "pue.h"
#include "tidewatt/metering/node_total.h"
#include "tokens.h"

namespace tidewatt::reports {
namespace {

using ledger::AccountKey;
using Name = std::pair<std::string, std::string>;  ///< cluster, id

constexpr WideMicrojoules kNothing{};

bool of_tasks(Scope scope) {
  return scope == Scope::team || scope == Scope::task_group || scope == Scope::task;
}

/// Which line of the report an account belongs to, and in which zone it was used.
struct Place {
  std::size_t line = 0;
  std::string zone;
};

class Lines {
 public:
  Lines(const Question& question, std::span<const ledger::TaskInfo> tasks,
        const std::vector<ledger::SharedNode>& nodes)
      : question_{question} {
    for (const auto& task : tasks) tasks_[{task.cluster, task.task_id}] = &task;
    for (const auto& node : nodes) zones_[{node->key.cluster, node->key.node_id}] = node->zone;
  }

  /// Rows are team hours: their id is a team, and their cluster has one zone.
  void by_team_hours(const std::map<std::string, std::string>* zones) { zones_of_clusters_ = zones; }

  /// nullopt: not asked for
  std::optional<Name> name_of(const AccountKey& key) const {
    if (!question_.cluster.empty() && key.cluster != question_.cluster) return std::nullopt;
    if (question_.tasks != nullptr && !may_be_seen(key)) return std::nullopt;
    const auto name = full_name(key);
    if (!name || (!question_.id.empty() && name->second != question_.id)) return std::nullopt;
    return name;
  }
  std::string zone_of(const AccountKey& key) const {
    if (zones_of_clusters_ != nullptr) {
      const auto found = zones_of_clusters_->find(key.cluster);
      return found == zones_of_clusters_->end() ? std::string{} : found->second;
    }
    std::string node = key.id;
    if (key.scope == ledger::Scope::task_device) node = key.part.substr(0, key.part.rfind('/'));
    const auto found = zones_.find({key.cluster, node});
    return found == zones_.end() ? std::string{} : found->second;
  }

 private:
  bool may_be_seen(const AccountKey& key) const {
    return zones_of_clusters_ != nullptr ? key.id == question_.team
                                         : question_.tasks->contains({key.cluster, key.id});
  }
  std::optional<Name> full_name(const AccountKey& key) const {
    if (zones_of_clusters_ != nullptr && question_.scope == Scope::team)
      return Name{"", key.id.empty() ? "unassigned" : key.id};
    switch (question_.scope) {
      case Scope::cluster:
        return Name{key.cluster, key.cluster};
      case Scope::node:
      case Scope::task:
        return Name{key.cluster, key.id};
      case Scope::team:
      case Scope::task_group:
        break;
    }
    const auto task = tasks_.find({key.cluster, key.id});
    const std::string name = task == tasks_.end()             ? std::string{}
                             : question_.scope == Scope::team ? task->second->team
                                                              : task->second->group_id;
    if (question_.scope == Scope::task_group && name.empty()) return std::nullopt;
    // A team works in several clusters.
    return question_.scope == Scope::team ? Name{"", name.empty() ? "unassigned" : name}
                                          : Name{key.cluster, name};
  }

  const Question& question_;
  std::map<Name, const ledger::TaskInfo*> tasks_;
  std::map<Name, std::string> zones_;
  const std::map<std::string, std::string>* zones_of_clusters_ = nullptr;  ///< nullptr = of the nodes
};

/// The first pass: which domains each node or task has, since that decides what makes its total.
class Domains final : public ledger::ImageSink {
 public:
  explicit Domains(const Lines& lines) : lines_{lines} {}
  using ImageSink::add;
  Status add(const ledger::HourlyRow& row) override { return note(row.key); }
  Status add(const ledger::Adjustment& adjustment) override { return note(adjustment.key); }

  [[nodiscard]] std::set<Name> names() const { return names_; }
  [[nodiscard]] std::map<Name, std::vector<std::string>> totals() const {
    std::map<Name, std::vector<std::string>> out;
    for (const auto& [owner, domains] : domains_)
      out[owner] = metering::node_total(domains, metering::Wanted::attributable).parts;
    return out;
  }

 private:
  Status note(const AccountKey& key) {
    // A site's meter is no machine's.
    if (key.domain == metering::kDomainFacility) return {};
    const auto name = lines_.name_of(key);
    if (!name) return {};
    names_.insert(*name);
    auto& domains = domains_[{key.cluster, key.id}];
    if (std::find(domains.begin(), domains.end(), key.domain) == domains.end()) domains.push_back(key.domain);
    return {};
  }
  const Lines& lines_;
  std::set<Name> names_;
  std::map<Name, std::vector<std::string>> domains_;
};

/// The second pass: adds up.
class Sums final : public ledger::ImageSink {
 public:
  Sums(const Lines& lines, const Domains& domains, const Question& question)
      : lines_{lines}, totals_{domains.totals()}, question_{question} {
    for (const auto& name : domains.names()) {
      places_[name] = subjects.size();
      subjects.push_back({});
      subjects.back().cluster = name.first;
      subjects.back().id = name.second;
    }
    seconds_.resize(subjects.size());
  }
  using ImageSink::add;

  Status add(const ledger::HourlyRow& row) override {
    Subject* subject = subject_of(row.key);
    if (subject == nullptr) return {};
    if (!in_total(row.key)) {
      if (row.key.domain == kDomainPlatform) {
        subject->platform += counted(row.measures);
        subject->platform_known = true;
      }
      return {};
    }
    const auto& measures = row.measures;
    put(subject->by_zone[lines_.zone_of(row.key)], row.hour, counted(measures));
    subject->simulated += measures.simulated;
    subject->shared += measures.shared;
    if (question_.with_simulated || measures.simulated < measures.energy || measures.energy == kNothing)
      subject->unattributed += measures.unattributed;
    subject->domains.insert(row.key.domain);
    if (measures.shared_time.count() > 0) subject->shared_devices = true;
    auto& seconds = seconds_[static_cast<std::size_t>(subject - subjects.data())][row.key.domain];
    seconds.covered += measures.covered;
    seconds.gap += measures.gap;
    seconds.partial += measures.partial;
    return {};
  }

  Status add(const ledger::Adjustment& adjustment) override {
    Subject* subject = subject_of(adjustment.key);
    if (subject == nullptr || !in_total(adjustment.key)) return {};
    put(subject->adjustments[lines_.zone_of(adjustment.key)], adjustment.hour, counted(adjustment.measures));
    return {};
  }

  /// An hour measured in two domains is one hour: the seconds are those of the domain with the largest gap.
  void finish() {
    for (std::size_t i = 0; i < subjects.size(); ++i)
      for (const auto& [domain, seconds] : seconds_[i]) {
        auto& subject = subjects[i];
        if (domain == kDomainGpu) subject.device_time = seconds.covered + seconds.gap;
        subject.partial = std::max(subject.partial, seconds.partial);
        if (seconds.gap > subject.gap || (seconds.gap == subject.gap && seconds.covered > subject.covered)) {
          subject.gap = seconds.gap;
          subject.covered = seconds.covered;
        }
      }
  }

  std::vector<Subject> subjects;

 private:
  Subject* subject_of(const AccountKey& key) {
    const auto name = lines_.name_of(key);
    const auto place = name ? places_.find(*name) : places_.end();
    return place == places_.end() ? nullptr : &subjects[place->second];
  }
  bool in_total(const AccountKey& key) const {
    const auto parts = totals_.find({key.cluster, key.id});
    return parts != totals_.end() &&
           std::find(parts->second.begin(), parts->second.end(), key.domain) != parts->second.end();
  }
  [[nodiscard]] WideMicrojoules counted(const ledger::WideMeasures& measures) const {
    return question_.with_simulated ? measures.energy : measures.energy - measures.simulated;
  }
  void put(HourlyEnergy& into, UtcHour hour, WideMicrojoules energy) const {
    if (!question_.window.holds(hour)) return;
    if (into.energy.empty()) {
      into.energy.resize(question_.window.hours());
      into.booked.resize(question_.window.hours());
    }
    const auto at = static_cast<std::size_t>((hour - question_.window.from).count());
    into.energy[at] += energy;
    into.booked[at] = true;
  }

  const Lines& lines_;
  std::map<Name, std::vector<std::string>> totals_;
  const Question& question_;
  std::map<Name, std::size_t> places_;
  struct Seconds {
    Milliseconds covered{0};
    Milliseconds gap{0};
    Milliseconds partial{0};
  };
  std::vector<std::map<std::string, Seconds>> seconds_;
};

ledger::ImageParts parts_of(const Question& question, ledger::Scope scope) {
  ledger::ImageParts parts;
  parts.hourly = true;
  parts.adjustments = true;
  parts.from = question.window.from;
  parts.to = question.window.to;
  parts.filter.scope = scope;
  parts.filter.cluster = question.cluster;
  if (!question.id.empty() && (question.scope == Scope::node || question.scope == Scope::task))
    parts.filter.ids = {question.id};
  return parts;
}

/// Accelerator seconds of nodes: their own rows count a second once, however many devices were there.
class DeviceTime final : public ledger::ImageSink {
 public:
  DeviceTime(const Lines& lines, std::vector<Subject>& subjects) : lines_{lines} {
    for (auto& subject : subjects) {
      subject.device_time = Milliseconds{0};
      subjects_[{subject.cluster, subject.id}] = &subject;
    }
  }
  using ImageSink::add;
  Status add(const ledger::HourlyRow& row) override {
    if (row.key.domain != kDomainGpu) return {};
    AccountKey node = row.key;
    node.id = node.id.substr(0, node.id.rfind('/'));
    const auto name = lines_.name_of(node);
    const auto found = name ? subjects_.find(*name) : subjects_.end();
    if (found != subjects_.end()) found->second->device_time += row.measures.covered + row.measures.gap;
    return {};
  }

 private:
  const Lines& lines_;
  std::map<Name, Subject*> subjects_;
};

/// What read_subjects is for: a report's own lines, or only the energy of clusters.
enum class For { lines, energy };

Result<std::vector<Subject>> read_subjects(ledger::ImageSource& source, const Question& question,
                                           const Lines& lines, For purpose) {
  const auto scope = of_tasks(question.scope) ? ledger::Scope::task_device : ledger::Scope::node;
  const auto parts = parts_of(question, scope);
  Domains domains{lines};
  TW_TRY_STATUS(source.read_image(parts, domains));
  const auto count = domains.names().size();
  if (count * question.window.hours() > kMostCells)
    return fail(
        ErrorCode::invalid_input,
        fmt::format("{} lines of {} hours are too much for one report", count, question.window.hours()),
        "ask for scope=team or cluster, for one id, or for a shorter period");
  Sums sums{lines, domains, question};
  TW_TRY_STATUS(source.read_image(parts, sums));
  sums.finish();
  if (!of_tasks(question.scope) && purpose == For::lines) {
    auto of_devices = parts_of(question, ledger::Scope::device);
    of_devices.filter.ids.clear();
    of_devices.filter.domain = kDomainGpu;
    of_devices.adjustments = false;
    DeviceTime time{lines, sums.subjects};
    TW_TRY_STATUS(source.read_image(of_devices, time));
  }
  return std::move(sums.subjects);
}

/// Team hours as if they were the rows of one owner each: what is added up from them is what their rows add
/// up to, as long as it doesn't matter which owner a row is of.
class TeamRows final : public ledger::ImageSource, private ledger::ImageSink {
 public:
  /// @return false = the rows themselves must be read: a whole-machine meter counts only where its owner has
  /// no
  ///         component, and what is unattributed of simulated energy is told row by row
  Result<bool> read(ledger::ImageSource& source, const Question& question, ledger::Scope scope) {
    ledger::ImageParts parts;
    parts.team_hours = true;
    parts.from = question.window.from;
    parts.to = question.window.to;
    parts.filter.scope = scope;
    parts.filter.cluster = question.cluster;
    with_simulated_ = question.with_simulated;
    TW_TRY_STATUS(source.read_image(parts, *this));
    return addable_;
  }
  Status read_image(const ledger::ImageParts& /*parts*/, ledger::ImageSink& sink) override {
    for (const auto& hour : hours_) {
      AccountKey key{hour.cluster, hour.scope, hour.team, {}, hour.domain};
      if (hour.late) {
        TW_TRY_STATUS(sink.add(ledger::Adjustment{std::move(key), hour.hour, hour.measures, {}, {}}));
      } else {
        TW_TRY_STATUS(sink.add(ledger::HourlyRow{std::move(key), hour.hour, hour.measures}));
      }
    }
    return {};
  }

 private:
  using ImageSink::add;
  Status add(const ledger::TeamHour& hour) override {
    if (hour.domain == kDomainPlatform || hour.domain == metering::kDomainPdu) addable_ = false;
    if (!with_simulated_ && hour.measures.simulated != kNothing && hour.measures.unattributed != kNothing)
      addable_ = false;
    hours_.push_back(hour);
    return {};
  }
  std::vector<ledger::TeamHour> hours_;
  bool with_simulated_ = false;
  bool addable_ = true;
};

/// The zone of each cluster; nullopt where one has nodes in several.
std::optional<std::map<std::string, std::string>> zones_of_clusters(
    const std::vector<ledger::SharedNode>& nodes) {
  std::map<std::string, std::string> zones;
  for (const auto& node : nodes)
    if (zones.try_emplace(node->key.cluster, node->zone).first->second != node->zone) return std::nullopt;
  return zones;
}

/// As read_subjects, from team hours where they tell as much as the rows.
Result<std::vector<Subject>> read_quickly(ledger::ImageSource& source, const Question& question, For purpose,
                                          const ReadTasks& tasks,
                                          const std::vector<ledger::SharedNode>& nodes) {
  const bool of_team = question.scope == Scope::team && (question.tasks == nullptr || !question.team.empty());
  const bool of_cluster = question.scope == Scope::cluster && purpose == For::energy;
  const auto zones = zones_of_clusters(nodes);
  if (source.keeps_team_hours() && zones && (of_team || of_cluster)) {
    TeamRows rows;
    TW_TRY(const bool addable,
           rows.read(source, question, of_team ? ledger::Scope::task_device : ledger::Scope::node));
    if (addable) {
      Lines lines{question, {}, nodes};
      lines.by_team_hours(&*zones);
      return read_subjects(rows, question, lines, For::energy);
    }
  }
  std::span<const ledger::TaskInfo> registry;
  if (of_tasks(question.scope)) {
    TW_TRY(registry, tasks());
  }
  const Lines lines{question, registry, nodes};
  return read_subjects(source, question, lines, purpose);
}

}  // namespace

Result<Booked> gather_asking(ledger::ImageSource& source, const Question& question, const ReadTasks& tasks,
                             const std::vector<ledger::SharedNode>& nodes, std::vector<ledger::Seal> seals) {
  Booked booked;
  booked.window = question.window;
  booked.scope = question.scope;
  TW_TRY(booked.subjects, read_quickly(source, question, For::lines, tasks, nodes));
  if (question.scope == Scope::task_group) {
    TW_TRY(const auto registry, tasks());
    take_tokens(booked.subjects, question, registry);
  }
  if (of_tasks(question.scope) && question.tasks == nullptr && question.id.empty()) {
    Question of_nodes = question;
    of_nodes.scope = Scope::cluster;
    TW_TRY(const auto clusters, read_quickly(source, of_nodes, For::energy, tasks, nodes));
    for (const auto& cluster : clusters) booked.unattributed += cluster.unattributed;
  }
  if (question.with_whole) {
    Question of_all;
    of_all.window = question.window;
    of_all.with_simulated = question.with_simulated;
    TW_TRY(const auto clusters, read_quickly(source, of_all, For::energy, tasks, nodes));
    booked.whole.emplace();
    for (const auto& cluster : clusters)
      for (const auto& [zone, hours] : cluster.by_zone)
        for (const auto energy : hours.energy) *booked.whole += energy;
  }
  if (question.scope == Scope::node) {
    booked.moved_reason = "savings_are_of_tasks";
  } else if (question.moved != nullptr) {
    TW_TRY(booked.moved, moved_tasks(source, question, *question.moved, nodes));
  }
  TW_TRY(booked.pue, metered_pue(source, question));
  booked.pue.sums_shown = question.tasks == nullptr;
  for (auto& seal : seals)
    if (seal.month.end() > question.window.from && seal.month.begin() < question.window.to)
      booked.seals.push_back(std::move(seal));
  return booked;
}

Result<Booked> gather(ledger::ImageSource& source, const Question& question,
                      const std::vector<ledger::TaskInfo>& tasks,
                      const std::vector<ledger::SharedNode>& nodes, std::vector<ledger::Seal> seals) {
  const ReadTasks given = [&tasks]() -> Result<std::span<const ledger::TaskInfo>> {
    return std::span<const ledger::TaskInfo>{tasks};
  };
  Question with_moved = question;
  with_moved.moved = &tasks;
  return gather_asking(source, with_moved, given, nodes, std::move(seals));
}

}  // namespace tidewatt::reports
