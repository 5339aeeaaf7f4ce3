// tidewatt ledger seal, verify and export.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "input.h"
#include "ledger_place.h"
#include "months_command.h"
#include "tidewatt/api/ledger_text.h"
#include "tidewatt/ledger/months.h"

namespace tidewatt::cli {
namespace {

using Json = nlohmann::ordered_json;

UtcTime now() { return std::chrono::floor<Milliseconds>(std::chrono::system_clock::now()); }

Result<Json> parsed(const std::string& body) {
  auto json = Json::parse(body, nullptr, false);
  if (!json.is_object()) return fail(ErrorCode::invalid_input, "the server's answer is no JSON object");
  return json;
}

// -- seal
struct SealOptions {
  LedgerPlace place;
  std::string month;
  bool json = false;
};

Result<Json> seals_after(const SealOptions& options) {
  if (!options.place.is_local()) {
    TW_TRY(const auto body, request(options.place.access, "POST", "/api/v1/ledger/seals",
                                    Json{{"month", options.month}}.dump()));
    return parsed(body);
  }
  TW_TRY(const auto store, options.place.open_store());
  TW_TRY([[maybe_unused]] const auto made,
         ledger::seal_through(*store, *ledger::parse_month(options.month), now()));
  TW_TRY(const auto seals, store->seals());
  Json list = Json::array();
  for (const auto& seal : seals) list.push_back(Json::parse(api::seal_json(seal)));
  return Json{{"seals", std::move(list)}};
}

int run_seal(const SealOptions& options) {
  const auto answer = seals_after(options);
  if (!answer) return report("ledger seal", answer.error());
  if (options.json) {
    fmt::print("{}\n", answer->dump());
    return kOk;
  }
  for (const auto& seal : (*answer)["seals"])
    fmt::print("{}  {} rows  {} uJ  {}\n", seal.value("month", ""), seal["rows"].dump(),
               seal["energy_uj"].is_string() ? seal["energy_uj"].get<std::string>() : "—",
               seal["hash"].is_string() ? seal["hash"].get<std::string>() : "being made");
  return kOk;
}

// -- verify
struct VerifyOptions {
  LedgerPlace place;
  bool json = false;
};

Result<Json> verification(const VerifyOptions& options) {
  if (!options.place.is_local()) {
    TW_TRY(const auto body, get(options.place.access, "/api/v1/ledger/verify"));
    return parsed(body);
  }
  TW_TRY(const auto image, options.place.open_image());
  TW_TRY(const auto found, ledger::verify(*image));
  return parsed(api::verification_json(found));
}

int run_verify(const VerifyOptions& options) {
  const auto found = verification(options);
  if (!found) return report("ledger verify", found.error());
  const bool ok = found->value("ok", false);
  if (options.json) {
    fmt::print("{}\n", found->dump());
    return ok ? kOk : kFailed;
  }
  fmt::print("{} seals, {} accounts, {} hourly rows, {} adjustments; nodes used {} uJ\n",
             found->value("seals", 0LL), found->value("accounts", 0LL), found->value("rows", 0LL),
             found->value("adjustments", 0LL), found->value("nodes_used_uj", ""));
  for (const auto& mismatch : (*found)["mismatches"]) fmt::print("WRONG: {}\n", mismatch.get<std::string>());
  const auto count = found->value("mismatch_count", 0ULL);
  if (count > (*found)["mismatches"].size())
    fmt::print("... and {} more\n", count - (*found)["mismatches"].size());
  fmt::print("{}\n", ok ? "Everything adds up." : fmt::format("{} things don't add up.", count));
  return ok ? kOk : kFailed;
}

// -- export
struct ExportOptions {
  LedgerPlace place;
  std::string from;
  std::string to;
  std::string format = "csv";
  std::string scope;
  std::string output;
};

/// Standard output, or a new file that is gone again when something fails.
class Output {
 public:
  static Result<std::unique_ptr<Output>> open(const std::string& path) {
    std::unique_ptr<Output> output(new Output(path));
    if (path.empty()) return output;
    output->file_ = std::fopen(path.c_str(), "wxe");
    if (output->file_ == nullptr)
      return fail(errno == EEXIST ? ErrorCode::conflict : ErrorCode::io,
                  fmt::format("{}: {}", path, std::strerror(errno)),
                  "give a new name; nothing is overwritten");
    return output;
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (path_.empty()) return;
    if (file_ != nullptr) std::fclose(file_);
    if (!done_) std::remove(path_.c_str());
  }
  Status write(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), file_) == text.size()) return {};
    return fail(ErrorCode::io,
                fmt::format("{}: {}", path_.empty() ? "standard output" : path_, std::strerror(errno)));
  }
  Status finish() {
    if (std::fflush(file_) != 0)
      return fail(ErrorCode::io, fmt::format("{}: {}", path_, std::strerror(errno)));
    done_ = true;
    return {};
  }

 private:
  explicit Output(std::string path) : path_(std::move(path)) {}
  std::string path_;
  std::FILE* file_ = stdout;
  bool done_ = false;
};

class Rows final : public ledger::ImageSink {
 public:
  Rows(Output& output, bool csv) : output_(output), csv_(csv) {}
  using ImageSink::add;
  Status add(const ledger::HourlyRow& row) override { return write(row); }
  Status add(const ledger::Adjustment& adjustment) override { return write(adjustment); }

 private:
  template <class Row>
  Status write(const Row& row) {
    line_.clear();
    if (!csv_ && !first_) line_ += ",\n";
    first_ = false;
    if (csv_) {
      api::append_csv(row, line_);
    } else {
      api::append_json(row, line_);
    }
    return output_.write(line_);
  }
  Output& output_;
  bool csv_;
  bool first_ = true;
  std::string line_;
};

struct ExportRange {
  UtcTime from;
  UtcTime to;
};

Status export_local(const ExportOptions& options, ExportRange range, Output& output) {
  const bool csv = options.format == "csv";
  TW_TRY(const auto image, options.place.open_image());
  ledger::ImageParts parts;
  parts.hourly = true;
  parts.from = std::chrono::floor<std::chrono::hours>(range.from);
  parts.to = std::chrono::ceil<std::chrono::hours>(range.to);
  if (!options.scope.empty()) parts.filter.scope = ledger::scope_from(options.scope);
  TW_TRY_STATUS(output.write(csv ? api::export_head()
                                 : fmt::format("{{\"from\":\"{}\",\"to\":\"{}\",\"rows\":[\n",
                                               format_rfc3339_short(start_of(parts.from)),
                                               format_rfc3339_short(start_of(parts.to)))));
  Rows rows(output, csv);
  TW_TRY_STATUS(image->read_image(parts, rows));
  parts.hourly = false;
  parts.adjustments = true;
  TW_TRY_STATUS(image->read_image(parts, rows));
  return csv ? Status{} : output.write("]}\n");
}

Status export_remote(const ExportOptions& options, ExportRange range, Output& output) {
  constexpr std::string_view kPageRows = "20000";
  const bool csv = options.format == "csv";
  std::string cursor;
  bool first = true;
  do {
    auto path = fmt::format("/api/v1/energy/export?from={}&to={}&format={}&limit={}",
                            encode_component(format_rfc3339(range.from)),
                            encode_component(format_rfc3339(range.to)), options.format, kPageRows);
    if (!options.scope.empty()) path += "&scope=" + options.scope;
    if (!cursor.empty()) path += "&cursor=" + cursor;
    TW_TRY(const auto answer, get_answer(options.place.access, path));
    if (csv) {
      TW_TRY_STATUS(output.write(answer.body));
      const auto next = answer.headers.find("x-tidewatt-next-cursor");
      cursor = next == answer.headers.end() ? "" : next->second;
    } else {
      TW_TRY(const auto page, parsed(answer.body));
      if (cursor.empty())
        TW_TRY_STATUS(output.write(fmt::format("{{\"from\":{},\"to\":{},\"rows\":[\n", page.at("from").dump(),
                                               page.at("to").dump())));
      for (const auto& row : page.at("rows")) {
        TW_TRY_STATUS(output.write((first ? "" : ",\n") + row.dump()));
        first = false;
      }
      cursor = page.at("next_cursor").is_string() ? page.at("next_cursor").get<std::string>() : "";
    }
  } while (!cursor.empty());
  return csv ? Status{} : output.write("]}\n");
}

int run_export(const ExportOptions& options) {
  const auto from = parse_rfc3339(options.from);
  const auto to = options.to.empty() ? std::optional(now()) : parse_rfc3339(options.to);
  if (!from)
    usage_error("--from",
                fmt::format("\"{}\" is no time: give RFC 3339 like 2026-11-01T00:00:00Z", options.from));
  if (!to)
    usage_error("--to",
                fmt::format("\"{}\" is no time: give RFC 3339 like 2026-12-01T00:00:00Z", options.to));
  if (*from >= *to) usage_error("--from", "it isn't before --to");
  const auto write = [&]() -> Status {
    TW_TRY(const auto output, Output::open(options.output));
    TW_TRY_STATUS(options.place.is_local() ? export_local(options, {*from, *to}, *output)
                                           : export_remote(options, {*from, *to}, *output));
    return output->finish();
  };
  if (const auto done = write(); !done) return report("ledger export", done.error());
  return kOk;
}

}  // namespace

void add_months_commands(CLI::App& group, int& exit_code) {
  auto* seal = group.add_subcommand("seal", "Seal every month up to this one, before housekeeping does");
  const auto sealing = std::make_shared<SealOptions>();
  seal->add_option("--month", sealing->month, "The last month to seal, as 2026-10")
      ->required()
      ->check([](const std::string& text) {
        return ledger::parse_month(text) ? std::string{}
                                         : "\"" + text + "\" is no month: give one like 2026-10";
      });
  seal->add_flag("--json", sealing->json, "Print JSON");
  sealing->place.add_options(*seal, true);
  seal->footer("Example: tidewatt ledger seal --month 2026-10");
  seal->callback([sealing, &exit_code] { exit_code = run_seal(*sealing); });

  auto* verify = group.add_subcommand("verify", "Recompute seals and sums; say what doesn't add up (exit 1)");
  const auto verifying = std::make_shared<VerifyOptions>();
  verify->add_flag("--json", verifying->json, "Print JSON");
  verifying->place.add_options(*verify, true);
  verify->footer("Example: tidewatt ledger verify --db /var/lib/tidewatt/tidewatt.db");
  verify->callback([verifying, &exit_code] { exit_code = run_verify(*verifying); });

  auto* exporting = group.add_subcommand("export", "Hourly rows and adjustments as CSV or JSON");
  const auto wanted = std::make_shared<ExportOptions>();
  exporting->add_option("--from", wanted->from, "Begin, RFC 3339; snaps to whole UTC hours")->required();
  exporting->add_option("--to", wanted->to, "End, RFC 3339 (default: now)");
  exporting->add_option("--format", wanted->format, "csv or json")
      ->capture_default_str()
      ->check(CLI::IsMember({"csv", "json"}));
  exporting->add_option("--scope", wanted->scope, "One scope only")
      ->check(CLI::IsMember({"device", "node", "task", "task_device"}));
  exporting->add_option("--output", wanted->output, "A new file (default: standard output)");
  wanted->place.add_options(*exporting, true);
  exporting->footer(
      "Example: tidewatt ledger export --from 2026-10-01T00:00:00Z --to 2026-11-01T00:00:00Z --format csv");
  exporting->callback([wanted, &exit_code] { exit_code = run_export(*wanted); });
}

}  // namespace tidewatt::cli
