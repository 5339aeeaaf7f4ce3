// Whether a ledger adds up: seals, conservation in every hour and over all time, hours against totals.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "tidewatt/ledger/months.h"
#include "tidewatt/ledger/store.h"
#include "tidewatt/metering/node_total.h"

namespace tidewatt::ledger {
namespace {

std::string name_of(std::string_view kind, const std::string& cluster, const std::string& id,
                    const std::string& domain) {
  return std::string(kind) + ' ' + cluster + '/' + id + ", " + domain;
}
std::string name_of(const AccountKey& key) {
  auto name = name_of(to_string(key.scope), key.cluster, key.id, key.domain);
  return key.part.empty() ? name : name + " on " + key.part;
}

/// "node/3" -> "node"; node ids may hold slashes.
std::string node_of(const std::string& device) { return device.substr(0, device.rfind('/')); }

/// What devices, nodes and tasks of one hour, or of all time, come to; in order, so that findings are.
class Balance {
 public:
  void add(const AccountKey& key, const WideMeasures& m) {
    switch (key.scope) {
      case Scope::device:
        node(key, node_of(key.id)).devices += m.energy;
        return;
      case Scope::node: {
        auto& own = node(key, key.id);
        own.energy += m.energy;
        own.taken += m.unattributed;
        return;
      }
      case Scope::task:
        tasks_[{key.cluster, key.id, key.domain}] += m.energy;
        return;
      case Scope::task_device: {
        node(key, node_of(key.part)).taken += m.energy;
        auto& task = tasks_[{key.cluster, key.id, key.domain}];
        task = task - m.energy;
        return;
      }
    }
  }

  /// Calls `tell` with a sentence for each thing that doesn't add up, and starts over.
  template <class Tell>
  void settle(const std::string& when, const Tell& tell) {
    for (const auto& [key, n] : nodes_) {
      const auto name = name_of("node", std::get<0>(key), std::get<1>(key), std::get<2>(key));
      if (n.devices != n.energy)
        tell(fmt::format("{}, {}: devices add up to {} uJ, the node says {} uJ", name, when,
                         n.devices.to_string(), n.energy.to_string()));
      if (n.taken != n.energy)
        tell(fmt::format("{}, {}: tasks and unattributed add up to {} uJ, the node says {} uJ", name, when,
                         n.taken.to_string(), n.energy.to_string()));
    }
    for (const auto& [key, difference] : tasks_)
      if (difference != WideMicrojoules{})
        tell(name_of("task", std::get<0>(key), std::get<1>(key), std::get<2>(key)) + ", " + when +
             ": the task's energy is " + difference.to_string() + " uJ apart from that on its devices");
    nodes_.clear();
    tasks_.clear();
  }

 private:
  struct Node {
    WideMicrojoules devices;
    WideMicrojoules energy;
    WideMicrojoules taken;
  };
  using Subject = std::tuple<std::string, std::string, std::string>;  // cluster, id, domain
  Node& node(const AccountKey& key, const std::string& id) { return nodes_[{key.cluster, id, key.domain}]; }
  std::map<Subject, Node> nodes_;
  std::map<Subject, WideMicrojoules> tasks_;
};

std::string what_differs(const WideMeasures& hours, const WideMeasures& total) {
  std::string text;
  const auto compare = [&text](std::string_view name, const std::string& a, const std::string& b) {
    if (a == b) return;
    text += (text.empty() ? "" : "; ") + std::string(name) + " of its hours " + a + ", total " + b;
  };
  compare("energy", hours.energy.to_string() + " uJ", total.energy.to_string() + " uJ");
  compare("counter energy", hours.counter.to_string() + " uJ", total.counter.to_string() + " uJ");
  compare("shared energy", hours.shared.to_string() + " uJ", total.shared.to_string() + " uJ");
  compare("unattributed", hours.unattributed.to_string() + " uJ", total.unattributed.to_string() + " uJ");
  compare("simulated", hours.simulated.to_string() + " uJ", total.simulated.to_string() + " uJ");
  compare("spread", hours.spread.to_string() + " uJ", total.spread.to_string() + " uJ");
  const auto ms = [](Milliseconds t) { return std::to_string(t.count()) + " ms"; };
  compare("covered time", ms(hours.covered), ms(total.covered));
  compare("gap time", ms(hours.gap), ms(total.gap));
  compare("partial time", ms(hours.partial), ms(total.partial));
  compare("shared time", ms(hours.shared_time), ms(total.shared_time));
  compare("samples", std::to_string(hours.samples), std::to_string(total.samples));
  return text;
}

/// One pass: accounts, adjustments, then hours in their order. Only adjustments and one hour are held.
class Checking final : public ImageSink {
 public:
  Checking(Verification& found, bool with_team_hours) : found_(found), with_team_hours_(with_team_hours) {}
  using ImageSink::add;

  Status add(const Account& account) override {
    ++found_.accounts;
    if (account.key.scope == Scope::node) found_.node_energy += account.totals.energy;
    lifetime_.add(account.key, account.totals);
    sums_[account.key].total = account.totals;
    return {};
  }
  Status add(const Adjustment& adjustment) override {
    ++found_.adjustments;
    add_to_team(adjustment.key, adjustment.hour, true, adjustment.measures);
    adjusted_[adjustment.hour].push_back({adjustment.key, adjustment.measures});
    sums_[adjustment.key].hours += adjustment.measures;
    if (!frozen_until_ || adjustment.hour >= *frozen_until_)
      tell("an adjustment of " + name_of(adjustment.key) + ", hour " +
           format_rfc3339_short(start_of(adjustment.hour)) + ", stands in a month that isn't sealed");
    return {};
  }
  Status add(const TaskInfo& task) override {
    if (!task.team.empty()) teams_[{task.cluster, task.task_id}] = task.team;
    return {};
  }
  Status add(const TeamHour& hour) override {
    auto& sum = team_sums_[{hour.cluster, hour.scope, hour.team, hour.domain, hour.hour, hour.late}];
    sum.kept = true;
    sum.total += hour.measures;
    return {};
  }
  Status add(const HourlyRow& row) override {
    add_to_team(row.key, row.hour, false, row.measures);
    if (row.hour != hour_) settle_hour(row.hour);
    ++found_.rows;
    hourly_.add(row.key, row.measures);
    sums_[row.key].hours += row.measures;
    if (first_sealed_ && row.hour < *first_sealed_)
      tell(name_of(row.key) + ", hour " + format_rfc3339_short(start_of(row.hour)) +
           ": an hourly row from before the first sealed month");
    return {};
  }
  void sealed(const std::vector<Seal>& seals) {
    if (seals.empty()) return;
    first_sealed_ = seals.front().month.begin();
    frozen_until_ = seals.back().month.end();
  }
  void finish() {
    add_up_nodes();
    settle_hour(UtcHour::max());
    lifetime_.settle("over all time", [this](std::string text) { tell(std::move(text)); });
    for (const auto& [key, sum] : sums_)
      if (const auto text = what_differs(sum.hours, sum.total); !text.empty())
        tell(name_of(key) + ": " + text);
    if (with_team_hours_) settle_teams();
  }
  void tell(std::string text) {
    ++found_.mismatch_count;
    if (found_.mismatches.size() < Verification::kMostTold) found_.mismatches.push_back(std::move(text));
  }

 private:
  struct Sum {
    WideMeasures hours;
    WideMeasures total;
  };
  /// Ends the hour at hand, and those before `next` that have adjustments only.
  void settle_hour(UtcHour next) {
    if (hour_) settle_one(*hour_);
    while (!adjusted_.empty() && adjusted_.begin()->first < next) settle_one(adjusted_.begin()->first);
    hour_ = next;
  }
  void settle_one(UtcHour hour) {
    if (const auto late = adjusted_.find(hour); late != adjusted_.end()) {
      for (const auto& [key, measures] : late->second) hourly_.add(key, measures);
      adjusted_.erase(late);
    }
    hourly_.settle("hour " + format_rfc3339_short(start_of(hour)),
                   [this](std::string text) { tell(std::move(text)); });
  }

  void add_to_team(const AccountKey& key, UtcHour hour, bool late, const WideMeasures& measures) {
    if (!with_team_hours_ || !has_team_hours(key.scope)) return;
    const auto team = key.scope == Scope::node ? teams_.end() : teams_.find({key.cluster, key.id});
    auto& sum = team_sums_[{key.cluster, key.scope, team == teams_.end() ? std::string{} : team->second,
                            key.domain, hour, late}];
    sum.rows = true;
    sum.hours += measures;
  }
  /// The sums kept by team are those of the rows, row by row of theirs.
  void settle_teams() {
    for (const auto& [key, sum] : team_sums_) {
      const auto& [cluster, scope, team, domain, hour, late] = key;
      auto text = what_differs(sum.hours, sum.total);
      if (text.empty() && sum.rows != sum.kept)
        text = sum.rows ? "there is none of its rows" : "it has no rows";
      if (!text.empty())
        tell(fmt::format("team hour of {} {}/{}, {}, {}{}: {}", to_string(scope), cluster, team, domain,
                         format_rfc3339_short(start_of(hour)), late ? ", adjustments" : "", text));
    }
  }

  void add_up_nodes() {
    std::map<std::pair<std::string, std::string>, std::map<std::string, WideMicrojoules>> nodes;
    for (const auto& [key, sum] : sums_)
      if (key.scope == Scope::node) nodes[{key.cluster, key.id}][key.domain] += sum.total.energy;
    for (const auto& [node, domains] : nodes) {
      std::vector<std::string> names;
      for (const auto& [domain, energy] : domains) names.push_back(domain);
      const auto rule = metering::node_total(names, metering::Wanted::attributable);
      for (const auto& part : rule.parts)
        if (const auto found = domains.find(part); found != domains.end()) found_.nodes_used += found->second;
    }
  }

  struct TeamSum {
    WideMeasures hours;
    WideMeasures total;
    bool rows = false;  ///< there are hourly rows or adjustments of it
    bool kept = false;  ///< there is a sum of it
  };

  Verification& found_;
  bool with_team_hours_;
  std::map<std::pair<std::string, std::string>, std::string>
      teams_;  ///< (cluster, task id); without one: none
  std::map<std::tuple<std::string, Scope, std::string, std::string, UtcHour, bool>, TeamSum> team_sums_;
  Balance lifetime_;
  Balance hourly_;
  std::optional<UtcHour> hour_;
  std::map<UtcHour, std::vector<std::pair<AccountKey, WideMeasures>>> adjusted_;
  std::map<AccountKey, Sum> sums_;
  std::optional<UtcHour> first_sealed_;
  std::optional<UtcHour> frozen_until_;
};

class Seals final : public ImageSink {
 public:
  using ImageSink::add;
  Status add(const Seal& seal) override {
    all.push_back(seal);
    return {};
  }
  std::vector<Seal> all;
};

Status check_seals(ImageSource& source, const std::vector<Seal>& seals, Checking& checking) {
  const Seal* before = nullptr;
  for (const auto& seal : seals) {
    const auto name = "seal of " + to_string(seal.month);
    if (before != nullptr && seal.month != before->month.next())
      checking.tell(name + ": the one before is of " + to_string(before->month) +
                    ", months between are missing");
    if (seal.hash.empty()) {
      if (&seal != &seals.back())
        checking.tell(name + ": its hash was never made, though a later month is sealed");
      before = &seal;
      continue;
    }
    if (const std::string expected = before == nullptr ? "" : before->hash; seal.previous != expected)
      checking.tell(
          fmt::format("{}: it follows {}, but the seal before is {}", name, seal.previous, expected));
    TW_TRY(const auto now, compute_seal(source, seal.month, seal.previous));
    if (now.rows != seal.rows || now.energy != seal.energy)
      checking.tell(name + ": " + std::to_string(seal.rows) + " rows of " + seal.energy.to_string() +
                    " uJ were sealed, there are " + std::to_string(now.rows) + " of " +
                    now.energy.to_string() + " uJ");
    else if (now.hash != seal.hash)
      checking.tell(name + ": its rows give " + now.hash + ", sealed was " + seal.hash);
    before = &seal;
  }
  return {};
}

}  // namespace

Result<Verification> verify(ImageSource& source) {
  Verification found;
  Checking checking(found, source.keeps_team_hours());
  Seals seals;
  ImageParts wanted;
  wanted.seals = true;
  TW_TRY_STATUS(source.read_image(wanted, seals));
  found.seals = static_cast<std::int64_t>(seals.all.size());
  checking.sealed(seals.all);
  TW_TRY_STATUS(check_seals(source, seals.all, checking));
  ImageParts all;
  all.accounts = all.adjustments = all.hourly = true;
  all.by_hour = true;
  all.registry = all.team_hours = source.keeps_team_hours();
  TW_TRY_STATUS(source.read_image(all, checking));
  checking.finish();
  return found;
}

}  // namespace tidewatt::ledger
