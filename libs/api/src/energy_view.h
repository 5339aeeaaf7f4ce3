// Ledger rows as one total per node, task or cluster, and as the JSON that every energy answer shares.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core.h"
#include "tidewatt/ledger/account.h"
#include "tidewatt/metering/node_total.h"

namespace tidewatt::api {

struct DomainTotal {
  std::string domain;
  bool in_total = false;
  ledger::WideMeasures measures;
  Milliseconds open_gap{0};  ///< of measures.gap: what no sample ended yet
};

/// What a subject used. Energies add up over the domains that are in the total. Seconds don't (an hour
/// measured in two domains is one hour): they are those of the in-total domain with the largest gap, so a gap
/// is never hidden by a neighbour.
struct Totals {
  std::optional<ledger::WideMeasures> sum;  ///< nullopt = no row in the total, and none was expected
  Milliseconds open_gap{0};                 ///< of sum->gap: what no sample ended yet
  std::int64_t rows = 0;
  std::optional<UtcTime> first_sample_at;
  std::optional<UtcTime> last_sample_at;
  WideMicrojoules adjustments{};     ///< of the sum: booked after their month was sealed
  std::string seconds_of;            ///< of one subject: the domain whose covered and gap seconds are its own
  std::string partial_of;            ///< ... and the one with the most partial seconds
  std::vector<DomainTotal> domains;  ///< by domain; one that is in the total of some nodes only stands twice

  [[nodiscard]] std::optional<WideMicrojoules> energy() const;
  [[nodiscard]] std::optional<double> coverage() const;
  [[nodiscard]] bool in_total(std::string_view domain) const;
};

using metering::is_component;

/// A first sample is a baseline, and a gap knows nothing: until a second is covered no joule is known.
std::optional<WideMicrojoules> known_energy(const ledger::WideMeasures& measures);

/// Accounts of one subject (several parts of one domain are added). What makes the total is
/// metering::node_total's rule: the components, else the whole-machine meter, which contains them. Other
/// domains (psys, board, ...) are listed, never added.
Totals totals_of(std::span<const ledger::Account> accounts);
/// Adds another subject's totals: energies and seconds alike (node-seconds).
void add(Totals& sum, const Totals& other);

using SubjectKey = std::pair<std::string, std::string>;  ///< cluster, id
std::map<SubjectKey, Totals> totals_by_subject(const std::vector<ledger::Account>& accounts);

/// "node/3" -> ("node", 3); node ids may hold slashes.
std::pair<std::string, int> split_part(std::string_view part);

struct EnergySubject {
  std::string_view scope;
  std::string_view id;
  std::string_view cluster;
  bool unattributed = false;  ///< say what no task took (nodes)
  bool attribution = false;   ///< say how it was attributed (tasks)
};
/// The common Energy object.
Json energy_json(const Core& core, const Call& call, const EnergySubject& subject, const TimeRange* range,
                 const Totals& totals);
Json amount_json(std::optional<WideMicrojoules> energy);

}  // namespace tidewatt::api
