// What all handlers share.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kept_answers.h"
#include "market_desk.h"
#include "metrics.h"
#include "span_books.h"
#include "tidewatt/api/access.h"
#include "tidewatt/api/api.h"
#include "tidewatt/carbon/visibility.h"
#include "tidewatt/k8s/admission.h"
#include "tidewatt/k8s/cluster_view.h"
#include "tidewatt/ledger/ledger.h"
#include "tidewatt/net/http.h"
#include "tidewatt/oidc/sign_on.h"

namespace tidewatt::api {

using Json = nlohmann::ordered_json;

/// Task windows and teams as last read from the registry.
struct Registry {
  std::vector<ledger::TaskInfo> tasks;
  ledger::ClusterWindows windows;
  std::map<std::pair<std::string, std::string>, std::size_t>
      places;  ///< (cluster, task id) -> index in tasks
  [[nodiscard]] const ledger::TaskInfo* find(std::string_view cluster, std::string_view task_id) const;
};

struct Core {
  ledger::Store& store;
  ledger::Ledger& ledger;
  const Clock& clock;
  const ApiOptions options;
  Access access;
  RateLimiter limiter;
  Metrics metrics;
  std::function<net::ServerStats()> server_stats;

  /// The registry, a second old; a large one that takes long to read some seconds. What this server changed
  /// is in it at once.
  Result<std::shared_ptr<const Registry>> registry();
  void forget_registry();

  SpanBooks span_books;

  std::mutex registry_mutex;
  std::shared_ptr<const Registry> cached_registry;
  SteadyTime registry_at{};
  Milliseconds registry_life{0};
  bool registry_is_read = false;         ///< by some thread, just now
  std::uint64_t registry_forgotten = 0;  ///< times; what was read before the last one isn't kept

  std::unique_ptr<oidc::SignOn> sign_on;  ///< nullptr = not configured
  std::atomic<bool> sso_down{false};

  /// The nodes of options.kubernetes.cluster and the zones' intensities, some seconds old. Never null.
  std::shared_ptr<const k8s::ClusterView> cluster_view();
  void renew_cluster_view();
  /// What teams with a quota used of it this month, at most a minute old. Never null.
  std::shared_ptr<const k8s::TeamQuotas> team_quotas();

  std::mutex cluster_view_mutex{};
  std::shared_ptr<const k8s::ClusterView> cached_cluster_view{};
  SteadyTime cluster_view_at{};
  std::atomic<bool> cluster_view_blind{false};  ///< the last look couldn't read the nodes, which is told once
  std::mutex team_quotas_mutex{};
  std::shared_ptr<const k8s::TeamQuotas> cached_team_quotas{};
  SteadyTime team_quotas_at{};

  std::unique_ptr<MarketDesk> market;

  std::unique_ptr<KeptAnswers> kept;  ///< last: its thread uses all of the above
};

/// One authenticated request. `ids` are the path's decoded segments.
struct Call {
  const net::Request& request;
  const Principal& principal;
  std::vector<std::string> ids;

  [[nodiscard]] bool is_tenant() const { return principal.role == Role::tenant; }
  [[nodiscard]] std::string parameter(std::string_view name, std::string_view fallback = {}) const;
  [[nodiscard]] std::string cluster() const { return parameter("cluster", "default"); }
};

using Handler = net::Response (*)(Core&, const Call&);

// -- answers
/// Ids are bytes that agents sent: what is not UTF-8 is replaced rather than thrown at the caller.
std::string json_text(const Json& value);
net::Response json_answer(int status, const Json& body);
net::Response empty_answer(int status);
/// One of the registered problems; see problem.cc for the list.
net::Response problem_answer(std::string_view code, std::string_view detail);
/// The problem that an Error is. What failed within the server is marked: see conceal_inner_failure.
net::Response problem_answer(const Error& error);
/// Takes the mark off. Errors of a store name addresses, paths and SQL: they are an operator's to read, and
/// everybody else is told to ask one. @return the error's words, for the log; nullopt where nothing is marked
std::optional<std::string> conceal_inner_failure(net::Response& response, bool for_operator);

// -- values as JSON: unknown is null
Json number(std::optional<double> value);
/// Rounded to the milliwatt that power is booked with: sums of doubles have noise below it.
double shown_watts(double value);
Json watts(std::optional<Watts> value);
Json time(std::optional<UtcTime> value);
Json seconds(Milliseconds value);
double kwh(WideMicrojoules energy);
/// covered / (covered + gap); null when neither is known
Json coverage(Milliseconds covered, Milliseconds gap);
std::optional<double> coverage_of(Milliseconds covered, Milliseconds gap);
Json note(std::string_view code, std::string text, Json params = Json::object());

// -- carbon by the visibility rule
carbon::CarbonView carbon_view(const Core& core, const Call& call);
Json factor_json(const carbon::Factor& factor);
/// Adds carbon_kgco2e, emission_factor and the placeholder's note, or carbon_hidden_reason.
void add_carbon(Json& answer, Json* notes, const Core& core, const Call& call,
                std::optional<WideMicrojoules> energy);
/// carbon_kgco2e alone, for rows of a list; nothing when hidden.
void add_carbon_amount(Json& row, const Core& core, const Call& call, std::optional<WideMicrojoules> energy);

// -- ranges
struct TimeRange {
  UtcRange asked;
  UtcHour from;  ///< asked, snapped to whole hours
  UtcHour to;
  std::string text;  ///< "24h", or "custom"
  [[nodiscard]] bool snapped() const { return start_of(from) != asked.begin || start_of(to) != asked.end; }
};
/// ?range=24h (ends now), or ?from=&to=.
Result<TimeRange> time_range(const Call& call, UtcTime now);

// -- pages
struct Page {
  std::size_t offset = 0;
  std::size_t limit = 200;
};
Result<Page> page_of(const Call& call);
/// null after the last page
Json next_cursor(const Page& page, std::size_t total);

#define API_TRY(declaration, expression)                                                                  \
  auto TW_CONCAT(api_result_, __LINE__) = (expression);                                                   \
  if (!TW_CONCAT(api_result_, __LINE__)) return problem_answer(TW_CONCAT(api_result_, __LINE__).error()); \
  declaration = *std::move(TW_CONCAT(api_result_, __LINE__))
#define API_TRY_STATUS(expression) \
  if (auto api_status = (expression); !api_status) return problem_answer(api_status.error())

}  // namespace tidewatt::api
