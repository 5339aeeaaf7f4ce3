#include "core.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tidewatt/units/text.h"

namespace tidewatt::api {
namespace {

constexpr Milliseconds kRegistryLife{1'000};
constexpr Milliseconds kLongestRegistryLife{30'000};
constexpr int kReadingsShare = 20;  ///< reading it takes a twentieth of a core at most
constexpr Milliseconds kLongestRange{100LL * 366 * 24 * 3600 * 1000};

Result<UtcTime> time_parameter(const Call& call, std::string_view name) {
  const std::string text = call.parameter(name);
  if (const auto at = parse_rfc3339(text)) return *at;
  return fail(ErrorCode::invalid_input, fmt::format("{}={} is no time", name, text),
              "give RFC 3339 like 2026-11-29T08:00:00Z");
}

}  // namespace

const ledger::TaskInfo* Registry::find(std::string_view cluster, std::string_view task_id) const {
  const auto found = places.find({std::string{cluster}, std::string{task_id}});
  return found == places.end() ? nullptr : &tasks[found->second];
}

Result<std::shared_ptr<const Registry>> Core::registry() {
  const auto began = clock.mono_now();
  std::uint64_t seen = 0;
  {
    const std::scoped_lock lock{registry_mutex};
    // Nobody waits while another reads: what is there is some seconds old at most.
    if (cached_registry && (registry_is_read || began - registry_at < registry_life)) return cached_registry;
    registry_is_read = true;
    seen = registry_forgotten;
  }
  auto tasks = store.tasks();
  auto fresh = std::make_shared<Registry>();
  if (tasks) fresh->tasks = *std::move(tasks);
  for (std::size_t i = 0; i < fresh->tasks.size(); ++i)
    fresh->places.emplace(std::pair{fresh->tasks[i].cluster, fresh->tasks[i].task_id}, i);
  for (const auto& task : fresh->tasks)
    if (task.started_at || task.finished_at)
      fresh->windows[task.cluster][task.task_id] = {task.started_at, task.finished_at};
  const std::scoped_lock lock{registry_mutex};
  registry_is_read = false;
  if (!tasks) return tl::unexpected(tasks.error());
  if (seen == registry_forgotten) {
    cached_registry = fresh;
    registry_at = clock.mono_now();
    registry_life = std::clamp((registry_at - began) * kReadingsShare, kRegistryLife, kLongestRegistryLife);
  }
  return fresh;
}

void Core::forget_registry() {
  const std::scoped_lock lock{registry_mutex};
  cached_registry.reset();
  ++registry_forgotten;
}

std::string Call::parameter(std::string_view name, std::string_view fallback) const {
  const auto value = request.parameter(name);
  return std::string{value && !value->empty() ? *value : fallback};
}

std::string json_text(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

net::Response json_answer(int status, const Json& body) {
  net::Response response;
  response.status = status;
  response.headers["content-type"] = "application/json";
  response.body = json_text(body);
  return response;
}

net::Response empty_answer(int status) {
  net::Response response;
  response.status = status;
  return response;
}

Json number(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }
double shown_watts(double value) { return std::round(value * kPerKilo) / kPerKilo; }
Json watts(std::optional<Watts> value) { return value ? Json(shown_watts(value->value())) : Json(nullptr); }
Json time(std::optional<UtcTime> value) { return value ? Json(format_rfc3339_short(*value)) : Json(nullptr); }
Json seconds(Milliseconds value) {
  // Whole seconds print as integers.
  return value.count() % 1000 == 0 ? Json(value.count() / 1000)
                                   : Json(static_cast<double>(value.count()) / 1000.0);
}
double kwh(WideMicrojoules energy) { return energy.to_watt_hours().value() / kPerKilo; }

std::optional<double> coverage_of(Milliseconds covered, Milliseconds gap) {
  const auto all = covered + gap;
  if (all.count() <= 0) return std::nullopt;
  return static_cast<double>(covered.count()) / static_cast<double>(all.count());
}
Json coverage(Milliseconds covered, Milliseconds gap) { return number(coverage_of(covered, gap)); }

Json note(std::string_view code, std::string text, Json params) {
  return Json{{"code", code}, {"text", std::move(text)}, {"params", std::move(params)}};
}

carbon::CarbonView carbon_view(const Core& core, const Call& call) {
  return carbon::carbon_view(core.options.factor.factor, call.principal.role == Role::ops
                                                             ? carbon::Viewer::platform_operator
                                                             : carbon::Viewer::other);
}

Json factor_json(const carbon::Factor& factor) {
  return Json{
      {"value", factor.value.value()},          {"unit", carbon::unit_of(factor.gas)},
      {"gas", carbon::to_string(factor.gas)},   {"source", factor.source},
      {"configured", factor.configured},        {"year", factor.year ? Json(*factor.year) : Json(nullptr)},
      {"kind", carbon::to_string(factor.kind)}, {"boundary", carbon::to_string(factor.boundary)}};
}

void add_carbon_amount(Json& row, const Core& core, const Call& call, std::optional<WideMicrojoules> energy) {
  if (!carbon_view(core, call).visible) return;
  row["carbon_kgco2e"] =
      energy ? Json(carbon::carbon_of(energy->to_watt_hours(), core.options.factor.factor).value() / kPerKilo)
             : Json(nullptr);
}

void add_carbon(Json& answer, Json* notes, const Core& core, const Call& call,
                std::optional<WideMicrojoules> energy) {
  const auto view = carbon_view(core, call);
  if (!view.visible) {
    answer["carbon_hidden_reason"] = view.hidden_reason;
    return;
  }
  add_carbon_amount(answer, core, call, energy);
  answer["emission_factor"] = factor_json(core.options.factor.factor);
  if (view.placeholder && notes != nullptr)
    notes->push_back(note("placeholder_factor",
                          "placeholder factor, not authoritative: no emission factor is configured",
                          Json{{"value", core.options.factor.factor.value.value()}}));
}

Result<TimeRange> time_range(const Call& call, UtcTime now) {
  TimeRange range;
  const bool has_from = call.request.parameter("from").has_value();
  const bool has_to = call.request.parameter("to").has_value();
  range.asked.end = now;
  if (has_to) {
    TW_TRY(range.asked.end, time_parameter(call, "to"));
  }
  if (has_from) {
    TW_TRY(range.asked.begin, time_parameter(call, "from"));
    range.text = "custom";
  } else {
    range.text = call.parameter("range", "24h");
    const auto length = parse_duration(range.text);
    if (!length)
      return fail(ErrorCode::invalid_input, fmt::format("range={} is no length of time", range.text),
                  "give one like 24h or 7d");
    range.asked.begin = range.asked.end - *length;
  }
  if (range.asked.begin >= range.asked.end)
    return fail(ErrorCode::invalid_input,
                fmt::format("from={} is not before to={}", format_rfc3339(range.asked.begin),
                            format_rfc3339(range.asked.end)),
                "swap them");
  if (range.asked.length() > kLongestRange)
    return fail(ErrorCode::invalid_input, "the range is longer than 100 years", "ask for less");
  range.from = std::chrono::floor<std::chrono::hours>(range.asked.begin);
  range.to = std::chrono::ceil<std::chrono::hours>(range.asked.end);
  return range;
}

Result<Page> page_of(const Call& call) {
  Page page;
  if (const std::string text = call.parameter("limit"); !text.empty()) {
    const auto limit = parse_int64(text);
    if (!limit || *limit < 1 || *limit > 1000)
      return fail(ErrorCode::invalid_input, fmt::format("limit={} is not in 1..1000", text),
                  "give a number in it");
    page.limit = static_cast<std::size_t>(*limit);
  }
  if (const std::string text = call.parameter("cursor"); !text.empty()) {
    const auto offset = text.starts_with("o") ? parse_uint64(std::string_view{text}.substr(1)) : std::nullopt;
    if (!offset)
      return fail(ErrorCode::invalid_input, fmt::format("cursor={} is none of ours", text),
                  "use next_cursor as it came");
    page.offset = *offset;
  }
  return page;
}

Json next_cursor(const Page& page, std::size_t total) {
  const auto next = page.offset + page.limit;
  return page.offset < total && next < total ? Json("o" + std::to_string(next)) : Json(nullptr);
}

}  // namespace tidewatt::api
