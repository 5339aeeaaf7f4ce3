#include "tidewatt/runner/files.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace tidewatt::runner {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kSchema = "tidewatt-run/1";
constexpr std::size_t kMostBytes = 16U << 20U;

/// What the file lacks; caught where its text was given.
struct Lack {
  std::string what;
};

Json time_json(UtcTime at) { return format_rfc3339(at); }
Json time_json(const std::optional<UtcTime>& at) { return at ? time_json(*at) : Json(nullptr); }

const Json& field(const Json& object, const char* name) {
  if (!object.is_object() || !object.contains(name)) throw Lack{name};
  return object[name];
}
std::string text(const Json& object, const char* name) {
  const auto& value = field(object, name);
  if (!value.is_string()) throw Lack{name};
  return value.get<std::string>();
}
std::int64_t whole(const Json& object, const char* name) {
  const auto& value = field(object, name);
  if (!value.is_number_integer()) throw Lack{name};
  return value.get<std::int64_t>();
}
Milliseconds duration(const Json& object, const char* name) {
  const auto value = whole(object, name);
  constexpr std::int64_t kMost = 100LL * 366 * 24 * 3'600'000;
  if (value < 0 || value > kMost) throw Lack{name};
  return Milliseconds{value};
}
UtcTime time(const Json& object, const char* name) {
  const auto at = parse_rfc3339(text(object, name));
  if (!at) throw Lack{name};
  return *at;
}
std::optional<UtcTime> maybe_time(const Json& object, const char* name) {
  return field(object, name).is_null() ? std::nullopt : std::optional{time(object, name)};
}
std::vector<std::string> texts(const Json& object, const char* name) {
  std::vector<std::string> out;
  const auto& list = field(object, name);
  if (!list.is_array()) throw Lack{name};
  for (const auto& one : list) {
    if (!one.is_string()) throw Lack{name};
    out.push_back(one.get<std::string>());
  }
  return out;
}
const Json& list(const Json& object, const char* name) {
  const auto& value = field(object, name);
  if (!value.is_array()) throw Lack{name};
  return value;
}

template <class Enum>
Enum word(const Json& object, const char* name, Enum last) {
  const auto value = text(object, name);
  for (int i = 0; i <= static_cast<int>(last); ++i)
    if (to_string(static_cast<Enum>(i)) == value) return static_cast<Enum>(i);
  throw Lack{name};
}

template <class Read>
auto parsed(std::string_view what, std::string_view given, const Read& read)
    -> Result<decltype(read(std::declval<const Json&>()))> {
  const auto bad = [&](const std::string& why) {
    return fail(ErrorCode::corrupt, fmt::format("the run's {} file can't be used: {}", what, why),
                "start the run anew");
  };
  if (given.size() > kMostBytes) return bad("it is too large");
  const Json json = Json::parse(given, nullptr, false);
  if (json.is_discarded()) return bad("it is no JSON");
  try {
    if (text(json, "schema") != kSchema) return bad("its schema is another");
    return read(json);
  } catch (const Lack& lack) {
    return bad(fmt::format("\"{}\" is missing or wrong", lack.what));
  }
}

std::string dumped(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string to_text(const Order& order) {
  const auto& ask = order.checkpoint;
  return dumped({{"schema", kSchema},
                 {"id", order.id},
                 {"argv", order.argv},
                 {"folder", order.folder},
                 {"zone", order.zone},
                 {"submitted", time_json(order.submitted)},
                 {"duration_ms", order.duration ? Json(order.duration->count()) : Json(nullptr)},
                 {"deadline", time_json(order.deadline)},
                 {"pause", to_string(order.pause)},
                 {"min_run_ms", order.min_run.count()},
                 {"checkpoint",
                  {{"signal", ask.signal ? Json(*ask.signal) : Json(nullptr)},
                   {"command", ask.command},
                   {"patience_ms", ask.patience.count()}}}});
}

std::string to_text(const Record& record) {
  auto pieces = Json::array();
  for (const auto& piece : record.pieces)
    pieces.push_back({{"begin", time_json(piece.begin)}, {"end", time_json(piece.end)}});
  return dumped({{"schema", kSchema},
                 {"state", to_string(record.state)},
                 {"pieces", std::move(pieces)},
                 {"why", record.why},
                 {"exit_code", record.exit_code ? Json(*record.exit_code) : Json(nullptr)},
                 {"notes", record.notes}});
}

std::string to_text(const Plan& plan) {
  auto windows = Json::array();
  for (const auto& window : plan.windows)
    windows.push_back({{"begin", time_json(window.begin)}, {"end", time_json(window.end)}});
  auto signal = Json::array();
  for (const auto& slot : plan.signal)
    signal.push_back(
        {{"begin", time_json(slot.begin)}, {"end", time_json(slot.end)}, {"gco2_per_kwh", slot.g_per_kwh}});
  return dumped({{"schema", kSchema},
                 {"made_at", time_json(plan.made_at)},
                 {"windows", std::move(windows)},
                 {"why", plan.why},
                 {"signal", std::move(signal)}});
}

Result<Order> parse_order(std::string_view given) {
  return parsed("order", given, [](const Json& json) {
    Order order;
    order.id = text(json, "id");
    order.argv = texts(json, "argv");
    if (order.argv.empty()) throw Lack{"argv"};
    order.folder = text(json, "folder");
    order.zone = text(json, "zone");
    order.submitted = time(json, "submitted");
    if (!field(json, "duration_ms").is_null()) order.duration = duration(json, "duration_ms");
    order.deadline = maybe_time(json, "deadline");
    order.pause = word(json, "pause", Pause::kill);
    order.min_run = duration(json, "min_run_ms");
    const auto& ask = field(json, "checkpoint");
    if (!field(ask, "signal").is_null()) {
      const auto number = whole(ask, "signal");
      if (number < 1 || number > 64) throw Lack{"signal"};
      order.checkpoint.signal = static_cast<int>(number);
    }
    order.checkpoint.command = texts(ask, "command");
    order.checkpoint.patience = duration(ask, "patience_ms");
    return order;
  });
}

Result<Record> parse_record(std::string_view given) {
  return parsed("record", given, [](const Json& json) {
    Record record;
    record.state = word(json, "state", State::ended);
    for (const auto& piece : list(json, "pieces"))
      record.pieces.push_back({time(piece, "begin"), maybe_time(piece, "end")});
    record.why = text(json, "why");
    if (!field(json, "exit_code").is_null()) {
      const auto code = whole(json, "exit_code");
      if (code < 0 || code > 255) throw Lack{"exit_code"};
      record.exit_code = static_cast<int>(code);
    }
    record.notes = texts(json, "notes");
    return record;
  });
}

Result<Plan> parse_plan(std::string_view given) {
  return parsed("plan", given, [](const Json& json) {
    Plan plan;
    plan.made_at = time(json, "made_at");
    for (const auto& window : list(json, "windows")) {
      plan.windows.push_back({time(window, "begin"), time(window, "end")});
      if (plan.windows.back().end <= plan.windows.back().begin) throw Lack{"windows"};
    }
    plan.why = text(json, "why");
    for (const auto& slot : list(json, "signal")) {
      const auto& value = field(slot, "gco2_per_kwh");
      if (!value.is_number() || !std::isfinite(value.get<double>())) throw Lack{"gco2_per_kwh"};
      plan.signal.push_back({time(slot, "begin"), time(slot, "end"), value.get<double>()});
    }
    return plan;
  });
}

}  // namespace tidewatt::runner
