#include "pue.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tidewatt/metering/node_total.h"

namespace tidewatt::reports {
namespace {

using ledger::HourlyRow;
using NodeName = std::pair<std::string, std::string>;  ///< cluster, id
using metering::kDomainFacility;

double kwh_of_row(const ledger::WideMeasures& measures, bool with_simulated) {
  constexpr double kPerKilo = 1000;
  const auto energy = with_simulated ? measures.energy : measures.energy - measures.simulated;
  return energy.to_watt_hours().value() / kPerKilo;
}

bool counts(const ledger::WideMeasures& measures, bool with_simulated) {
  return with_simulated || measures.simulated == WideMicrojoules{};
}

/// The clusters, and which domains each node has.
class Layout final : public ledger::ImageSink {
 public:
  explicit Layout(bool with_simulated) : with_simulated_{with_simulated} {}
  using ImageSink::add;
  Status add(const HourlyRow& row) override {
    if (!counts(row.measures, with_simulated_)) return {};
    auto& domains = nodes_[{row.key.cluster, row.key.id}];
    if (std::find(domains.begin(), domains.end(), row.key.domain) == domains.end())
      domains.push_back(row.key.domain);
    if (row.key.domain == kDomainFacility) with_meter_.insert(row.key.cluster);
    return {};
  }

  [[nodiscard]] bool has_meter() const { return !with_meter_.empty(); }
  /// The domains that make what each machine draws. @return the reason that this isn't known, empty = it is
  std::string_view machines(std::map<NodeName, std::set<std::string>>& out) const {
    for (const auto& [name, domains] : nodes_) {
      const auto total = metering::node_total(domains, metering::Wanted::whole_machine);
      if (!total.known) continue;
      if (!with_meter_.contains(name.first)) return "facility_of_some_clusters";
      if (total.layer == metering::Layer::components) return "machines_not_metered";
      out[name] = {total.parts.begin(), total.parts.end()};
    }
    return out.empty() ? "machines_not_metered" : std::string_view{};
  }

 private:
  bool with_simulated_;
  std::set<std::string> with_meter_;
  std::map<NodeName, std::vector<std::string>> nodes_;
};

/// Whether a site's meter is booked at all, by the sums that are kept beside the rows.
class MeterLook final : public ledger::ImageSink {
 public:
  using ImageSink::add;
  Status add(const ledger::TeamHour& hour) override {
    found = found || hour.domain == kDomainFacility;
    return {};
  }
  bool found = false;
};

/// Both sums by the hour. An hour in which any meter had a gap is none to divide in.
class Meters final : public ledger::ImageSink {
 public:
  Meters(const Window& window, bool with_simulated, const std::map<NodeName, std::set<std::string>>& machines)
      : window_{window}, with_simulated_{with_simulated}, machines_{machines}, hours_(window.hours()) {}
  using ImageSink::add;
  Status add(const HourlyRow& row) override {
    if (!window_.holds(row.hour) || !counts(row.measures, with_simulated_)) return {};
    auto& hour = hours_[static_cast<std::size_t>((row.hour - window_.from).count())];
    const bool whole = row.measures.gap.count() == 0 && row.measures.partial.count() == 0;
    const double kwh = kwh_of_row(row.measures, with_simulated_);
    if (row.key.domain == kDomainFacility) {
      hour.facility_kwh += kwh;
      hour.facility = true;
      hour.whole = hour.whole && whole;
      return {};
    }
    const auto machine = machines_.find({row.key.cluster, row.key.id});
    if (machine == machines_.end() || !machine->second.contains(row.key.domain)) return {};
    hour.machines_kwh += kwh;
    hour.whole = hour.whole && whole;
    return {};
  }
  [[nodiscard]] MeteredPue result() const {
    MeteredPue out;
    for (const auto& hour : hours_) {
      if (!hour.facility || !hour.whole || hour.machines_kwh <= 0) continue;
      ++out.hours;
      out.facility_kwh += hour.facility_kwh;
      out.machines_kwh += hour.machines_kwh;
    }
    if (out.hours == 0)
      out.value.reason = "no_metered_hour";
    else if (out.facility_kwh < out.machines_kwh)
      out.value.reason = "facility_below_machines";
    else
      out.value.value = out.facility_kwh / out.machines_kwh;
    return out;
  }

 private:
  struct Hour {
    double facility_kwh = 0;
    double machines_kwh = 0;
    bool facility = false;
    bool whole = true;
  };
  const Window& window_;
  bool with_simulated_;
  const std::map<NodeName, std::set<std::string>>& machines_;
  std::vector<Hour> hours_;
};

MeteredPue none(std::string_view reason) {
  MeteredPue out;
  out.value.reason = reason;
  return out;
}

}  // namespace

Result<MeteredPue> metered_pue(ledger::ImageSource& source, const Question& question) {
  ledger::ImageParts parts;
  parts.from = question.window.from;
  parts.to = question.window.to;
  parts.filter.scope = ledger::Scope::node;
  parts.filter.cluster = question.cluster;
  if (source.keeps_team_hours()) {
    // Most have no such meter: then no row is read for it.
    parts.team_hours = true;
    MeterLook look;
    TW_TRY_STATUS(source.read_image(parts, look));
    if (!look.found) return none("no_facility_meter");
    parts.team_hours = false;
  }
  parts.hourly = true;
  parts.filter.domain = kDomainFacility;
  Layout meters{question.with_simulated};
  TW_TRY_STATUS(source.read_image(parts, meters));
  if (!meters.has_meter()) return none("no_facility_meter");
  parts.filter.domain.clear();
  Layout layout{question.with_simulated};
  TW_TRY_STATUS(source.read_image(parts, layout));
  std::map<NodeName, std::set<std::string>> machines;
  if (const auto reason = layout.machines(machines); !reason.empty()) return none(reason);
  Meters sums{question.window, question.with_simulated, machines};
  TW_TRY_STATUS(source.read_image(parts, sums));
  return sums.result();
}

}  // namespace tidewatt::reports
