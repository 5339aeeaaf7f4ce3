// Closed months, verification and the export of hourly rows.
#include <fmt/format.h>

#include "body.h"
#include "handlers.h"
#include "tidewatt/api/ledger_text.h"
#include "tidewatt/units/text.h"

namespace tidewatt::api {
namespace {

/// About 60 MB of CSV: a day of 10,000 devices in one scope.
constexpr std::size_t kMostExportRows = 250'000;

/// Where the next page begins: behind this row. As bytes in hexadecimal, so that nobody builds one by hand.
std::string cursor_of(const ledger::HourlyRow& row) {
  const auto text = Json::array({row.key.cluster, static_cast<int>(row.key.scope), row.key.id, row.key.part,
                                 row.key.domain, row.hour.time_since_epoch().count()})
                        .dump(-1, ' ', true, Json::error_handler_t::replace);
  std::string hex;
  for (const char c : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

std::optional<std::pair<ledger::AccountKey, UtcHour>> read_cursor(const std::string& hex) {
  std::string text;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    const auto digit = [](char c) {
      return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
    };
    const int value = digit(hex[i]) * 16 + digit(hex[i + 1]);
    if (value > 0xFF) return std::nullopt;
    text += static_cast<char>(value);
  }
  const auto parts = Json::parse(text, nullptr, false);
  if (!parts.is_array() || parts.size() != 6 || !parts[1].is_number_integer() ||
      !parts[5].is_number_integer())
    return std::nullopt;
  for (const std::size_t i : {0U, 2U, 3U, 4U})
    if (!parts[i].is_string()) return std::nullopt;
  const auto scope = parts[1].get<std::int64_t>();
  if (scope < 0 || scope > 3) return std::nullopt;
  return std::pair{
      ledger::AccountKey{parts[0], static_cast<ledger::Scope>(scope), parts[2], parts[3], parts[4]},
      UtcHour{std::chrono::hours{parts[5].get<std::int64_t>()}}};
}

class ExportPage final : public ledger::ImageSink {
 public:
  ExportPage(bool csv, std::size_t limit) : csv_(csv), limit_(limit) {}
  using ImageSink::add;
  Status add(const ledger::HourlyRow& row) override {
    if (rows == limit_) {
      more = true;
      return fail(ErrorCode::conflict, "the page is full");
    }
    ++rows;
    last = row;
    return write(row);
  }
  Status add(const ledger::Adjustment& adjustment) override {
    if (rows >= kMostExportRows + limit_)
      return fail(ErrorCode::invalid_input, "too many adjustments for one answer");
    ++rows;
    return write(adjustment);
  }
  std::string body;
  std::size_t rows = 0;
  bool more = false;
  ledger::HourlyRow last{};

 private:
  template <class Row>
  Status write(const Row& row) {
    if (csv_) {
      append_csv(row, body);
    } else {
      if (!body.empty()) body += ',';
      append_json(row, body);
    }
    return {};
  }
  bool csv_;
  std::size_t limit_;
};

}  // namespace

net::Response export_energy(Core& core, const Call& call) {
  API_TRY(const auto range, time_range(call, core.clock.utc_now()));
  ledger::ImageParts parts;
  parts.hourly = true;
  parts.from = range.from;
  parts.to = range.to;
  parts.filter.cluster = call.parameter("cluster");
  if (const auto scope = call.parameter("scope"); !scope.empty()) {
    parts.filter.scope = ledger::scope_from(scope);
    if (!parts.filter.scope)
      return problem_answer("invalid_request", fmt::format("scope={} is unknown (known: device, node, task, "
                                                           "task_device)",
                                                           scope));
  }
  const std::string format = call.parameter("format", "csv");
  if (format != "csv" && format != "json")
    return problem_answer("invalid_request", fmt::format("format={} is unknown (known: csv, json)", format));
  const auto limit_text = call.parameter("limit");
  const auto limit = limit_text.empty() ? kMostExportRows : parse_uint64(limit_text).value_or(0);
  if (limit < 1 || limit > kMostExportRows)
    return problem_answer("invalid_request",
                          fmt::format("limit={} is not in 1..{}", limit_text, kMostExportRows));
  if (const auto cursor = call.parameter("cursor"); !cursor.empty()) {
    parts.after = read_cursor(cursor);
    if (!parts.after)
      return problem_answer("invalid_request",
                            fmt::format("cursor={} is none of ours: use the one of the page before", cursor));
  }
  const bool csv = format == "csv";
  ExportPage page(csv, limit);
  if (auto read = core.store.read_image(parts, page); !read && !page.more)
    return problem_answer(read.error());
  if (page.more && limit_text.empty())
    return problem_answer("invalid_request",
                          fmt::format("more than {} rows, too many for one answer: page through them with "
                                      "limit=, or ask for a shorter range, one scope or one cluster",
                                      limit));
  if (!page.more) {
    parts.hourly = false;
    parts.adjustments = true;
    if (auto read = core.store.read_image(parts, page); !read) return problem_answer(read.error());
  }
  const auto next = page.more ? cursor_of(page.last) : std::string();
  net::Response response;
  if (csv) {
    response.headers["content-type"] = "text/csv; charset=utf-8";
    response.headers["content-disposition"] = "attachment; filename=\"tidewatt-energy.csv\"";
    response.body = parts.after ? std::move(page.body) : export_head() + page.body;
  } else {
    // Row by row: a document of a whole day's rows takes ten times their text in memory.
    response = json_answer(200, Json{{"from", format_rfc3339_short(start_of(range.from))},
                                     {"rows", Json::array()},
                                     {"to", format_rfc3339_short(start_of(range.to))},
                                     {"next_cursor", next.empty() ? Json(nullptr) : Json(next)}});
    response.body.insert(response.body.find("[]") + 1, page.body);
  }
  if (!next.empty()) response.headers["x-tidewatt-next-cursor"] = next;
  return response;
}

net::Response list_seals(Core& core, const Call&) {
  API_TRY(const auto seals, core.store.seals());
  std::string list;
  for (const auto& seal : seals) list += (list.empty() ? "" : ",") + seal_json(seal);
  auto answer = json_answer(200, Json{{"seals", Json::array()}});
  answer.body.insert(answer.body.find("[]") + 1, list);
  return answer;
}

net::Response seal_month(Core& core, const Call& call) {
  API_TRY(const auto body, Body::parse(call.request, {"month"}));
  API_TRY(const auto text, body.text("month"));
  const auto month = ledger::parse_month(text);
  if (!month)
    return problem_answer("invalid_request",
                          fmt::format("month \"{}\" is no month: give one like 2026-10", text));
  API_TRY(const auto made, ledger::seal_through(core.store, *month, core.clock.utc_now()));
  for (const auto& seal : made)
    if (const auto noted = core.store.append_audit({core.clock.utc_now(), call.principal.name, "month.seal",
                                                    ledger::to_string(seal.month) + " " + seal.hash});
        !noted)
      return problem_answer(noted.error());
  return list_seals(core, call);
}

net::Response verify_ledger(Core& core, const Call&) {
  API_TRY(const auto found, ledger::verify(core.store));
  net::Response answer = json_answer(200, Json::object());
  answer.body = verification_json(found);
  return answer;
}

}  // namespace tidewatt::api
