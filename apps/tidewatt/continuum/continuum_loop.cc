#include "continuum_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tidewatt/units/text.h"

namespace tidewatt::cli {
namespace {

using continuum::Acted;
using continuum::Decision;
using continuum::Senses;

constexpr Milliseconds kServiceDeadline{2'000};
constexpr Milliseconds kSignalEvery{60'000};
constexpr Milliseconds kAhead{3 * 3'600'000};
constexpr std::size_t kJournalLimit = std::size_t{256} << 20U;
constexpr std::uint64_t kDecisionsAJournal = 20'000;
constexpr std::size_t kMostSamples = 100'000;  // of a metric

std::optional<double> intensity_at(const RunSignal& signal, UtcTime at) {
  std::optional<double> found;
  for (const auto& slot : signal.slots)
    if (slot.begin <= at && at < slot.end) found = slot.g_per_kwh;  // the last one is what was measured
  return found;
}

}  // namespace

Result<std::unique_ptr<ContinuumLoop>> ContinuumLoop::open(ContinuumConfig config, const ServerAccess& access,
                                                           std::shared_ptr<FileSystem> files,
                                                           const Clock& clock) {
  std::unique_ptr<ContinuumLoop> loop{new ContinuumLoop(std::move(config), std::move(files), clock)};
  const auto& c = loop->config_;
  if (!c.signal_file.empty())
    loop->read_signal_ = signal_of_file(c.signal_file, c.signal_column);
  else if (!c.zone.empty())
    loop->read_signal_ = signal_of_server(access, c.zone);
  TW_TRY_STATUS(loop->meet_services());
  TW_TRY_STATUS(loop->make_knobs());
  TW_TRY_STATUS(loop->open_journal());
  if (!c.rules.empty()) loop->rules_.emplace(c.rules);
  return loop;
}

Status ContinuumLoop::meet_services() {
  for (std::size_t s = 0; s < config_.services.size(); ++s) {
    net::ClientOptions options;
    options.deadline = kServiceDeadline;
    options.max_response_bytes = 16U << 20U;
    Service service;
    service.client =
        std::make_shared<popol::DevolClient>(config_.services[s].url, net::make_http_client(options));
    TW_TRY(const auto spec, service.client->spec());
    for (const auto& knob : config_.knobs)
      if (knob.kind == "devol" && knob.target == config_.services[s].name &&
          std::ranges::find(spec.parameters, knob.parameter) == spec.parameters.end())
        return fail(ErrorCode::invalid_input,
                    fmt::format("service {} has no parameter {}", knob.target, knob.parameter),
                    "GET /devol/v1/spec names them");
    for (const auto& objective : spec.objectives) promises_.push_back({s, objective, {}, {}});
    services_.push_back(std::move(service));
  }
  return {};
}

Status ContinuumLoop::make_knobs() {
  std::vector<std::unique_ptr<popol::Actuator>> knobs;
  for (const auto& knob : config_.knobs) {
    if (knob.kind == "devol") {
      const auto s = std::ranges::find(config_.services, knob.target, &ContinuumService::name) -
                     config_.services.begin();
      knobs.push_back(
          popol::make_devol_actuator(services_[static_cast<std::size_t>(s)].client, knob.parameter));
      continue;
    }
    auto made =
        popol::make_file_actuator(files_, config_.host_root, *popol::file_kind(knob.kind), knob.target);
    if (!made) return tl::unexpected(made.error().with_context("knob " + knob.name));
    knobs.push_back(*std::move(made));
  }
  desk_ = std::make_unique<popol::Desk>(std::move(knobs));
  levels_.assign(config_.knobs.size(), 0);
  for (std::size_t k = 0; k < levels_.size(); ++k) {
    if (auto value = desk_->knob(k).read(); !value)
      return tl::unexpected(value.error().with_context("knob " + config_.knobs[k].name));
    levels_[k] = level_of(k);
  }
  return {};
}

continuum::Setup ContinuumLoop::setup_of() const {
  continuum::Setup setup;
  for (const auto& s : config_.services) setup.services.push_back({s.name, s.load_above.size() + 1, s.price});
  const auto index = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(config_.services, name, &ContinuumService::name) -
                                    config_.services.begin());
  };
  for (const auto& k : config_.knobs) {
    continuum::KnobSetup knob{k.name, k.levels.size(), {}, k.switch_grams};
    for (const auto& name : k.services) knob.services.push_back(index(name));
    if (knob.services.empty() && k.kind == "devol") knob.services = {index(k.target)};
    if (knob.services.empty())
      for (std::size_t s = 0; s < config_.services.size(); ++s) knob.services.push_back(s);
    setup.knobs.push_back(std::move(knob));
  }
  for (const auto& p : promises_)
    setup.objectives.push_back({p.service, devol::to_text(p.objective), p.objective.tier, p.objective.weight,
                                continuum::accepted_share(p.objective.tier),
                                p.objective.tier == devol::Tier::gold});
  setup.power_w = config_.power_w;
  setup.period_s = static_cast<double>(config_.period.count()) / 1000;
  setup.guard_periods = config_.guard_periods;
  setup.block_periods = config_.block_periods;
  setup.delta = config_.delta;
  setup.by_rules = config_.by_rules;
  // Ten periods in which all of the power is saved, at 300 g/kWh, against one violated period.
  constexpr double kUsual = 300, kPeriods = 10, kJoulesPerKwh = 3.6e6;
  const double range = config_.power_w.empty() ? 0 : config_.power_w.back() - config_.power_w.front();
  setup.grams_per_violation = config_.grams_per_violation.value_or(
      std::max(1e-6, kPeriods * range * setup.period_s / kJoulesPerKwh * kUsual));
  return setup;
}

Status ContinuumLoop::append(const std::string& line) {
  TW_TRY_STATUS(journal_->append(line + "\n"));
  return journal_->sync();
}

Status ContinuumLoop::begin_journal(const std::optional<continuum::Counts>& counts) {
  const auto setup = setup_of();
  brain_.emplace(setup, counts);
  number_ = 0;
  before_.reset();
  return append(continuum::setup_line(setup, counts, clock_.utc_now()));
}

Status ContinuumLoop::open_journal() {
  const auto setup = setup_of();
  TW_TRY_STATUS(continuum::check(setup));
  const auto old = files_->read_text(config_.journal, kJournalLimit);
  if (!old && old.error().code != ErrorCode::not_found) return tl::unexpected(old.error());
  std::optional<continuum::Replayed> known;
  if (old && !old->empty()) {
    // A line that a crash left unfinished is cut off.
    const auto whole = old->rfind('\n') == std::string::npos ? 0 : old->rfind('\n') + 1;
    if (whole < old->size()) TW_TRY_STATUS(files_->truncate(config_.journal, whole));
    if (whole > 0) {
      auto replayed = continuum::replay(std::string_view{*old}.substr(0, whole));
      if (!replayed)
        return tl::unexpected(
            replayed.error().with_context(config_.journal + " (move it away to begin anew)"));
      known.emplace(*std::move(replayed));
    }
  }
  TW_TRY(journal_, files_->open_append(config_.journal));
  const auto same = [&] {
    return continuum::setup_line(known->setup, std::nullopt, UtcTime{}) ==
           continuum::setup_line(setup, std::nullopt, UtcTime{});
  };
  if (!known || !same()) return begin_journal(std::nullopt);
  if (known->decisions == 0 || known->decisions >= kDecisionsAJournal)
    return begin_journal(known->brain.counts());
  brain_.emplace(std::move(known->brain));
  number_ = known->decisions;
  before_ = Acted{levels_, std::nullopt, true, "restart"};
  brain_->acted(levels_);
  return {};
}

void ContinuumLoop::fetch(UtcTime now) {
  Milliseconds longest = config_.period;
  for (const auto& p : promises_) longest = std::max(longest, p.objective.window);
  for (auto& service : services_) {
    auto state = service.client->state(service.next);
    service.reached = state.has_value();
    if (!state) {
      note_ += " " + state.error().to_string() + ";";
      continue;
    }
    service.next = state->next;
    for (auto& [metric, samples] : state->samples) {
      auto& all = service.samples[metric];
      all.insert(all.end(), samples.begin(), samples.end());
      std::erase_if(all, [&](const devol::Sample& one) {
        return one.at <= now - longest || one.at > now + config_.period;
      });
      if (all.size() > kMostSamples)
        all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(kMostSamples));
    }
  }
}

void ContinuumLoop::fetch_signal(UtcTime now) {
  if (!read_signal_ ||
      (signal_asked_ && now - *signal_asked_ < std::min(kSignalEvery, config_.period * 6) && !cut_off_))
    return;
  signal_asked_ = now;
  auto read = read_signal_(now, now + kAhead);
  const bool fresh = read && intensity_at(*read, now);
  cut_off_ = !fresh;
  if (fresh) {
    signal_ = *std::move(read);
    signal_as_of_ = now;
  }
}

std::optional<double> ContinuumLoop::mean_power(UtcTime now) const {
  for (std::size_t s = 0; s < services_.size(); ++s) {
    if (config_.services[s].name != config_.power_service) continue;
    const auto found = services_[s].samples.find(config_.power_metric);
    if (found == services_[s].samples.end()) continue;
    double sum = 0;
    std::size_t count = 0;
    for (const auto& one : found->second)
      if (one.at > now - config_.period && one.at <= now && std::isfinite(one.value))
        sum += one.value, ++count;
    if (count > 0) return sum / static_cast<double>(count);
  }
  return std::nullopt;
}

std::size_t ContinuumLoop::level_of(std::size_t knob) {
  const auto value = desk_->knob(knob).read();
  if (!value) return levels_[knob];
  const auto& levels = config_.knobs[knob].levels;
  const auto nearest =
      std::ranges::min_element(levels, {}, [&](double level) { return std::abs(level - *value); });
  return static_cast<std::size_t>(nearest - levels.begin());
}

Senses ContinuumLoop::sense(UtcTime now) {
  Senses senses;
  for (auto& p : promises_) {
    const auto& service = services_[p.service];
    const auto found = service.samples.find(p.objective.metric);
    static const std::vector<devol::Sample> kNone;
    const auto& samples = found == service.samples.end() ? kNone : found->second;
    p.official = devol::evaluate(p.objective, samples, now);
    p.recent = devol::evaluate(p.objective, samples, now, std::min(p.objective.window, config_.period));
    senses.objectives.push_back(p.recent.state == devol::State::unknown ? std::nullopt
                                                                        : std::optional{p.recent.state});
  }
  loads_.clear();
  for (std::size_t s = 0; s < services_.size(); ++s) {
    const auto& c = config_.services[s];
    senses.load_bins.emplace_back();
    loads_.emplace_back();
    if (c.load_metric.empty() || !services_[s].reached) continue;
    double sum = 0;
    for (const auto& one : services_[s].samples[c.load_metric])
      if (one.at > now - config_.period && one.at <= now) sum += one.value;
    const double rate = sum * 1000 / static_cast<double>(config_.period.count());
    loads_.back() = rate;
    senses.load_bins.back() = static_cast<std::size_t>(
        std::ranges::count_if(c.load_above, [&](double bound) { return rate > bound; }));
  }
  if (const auto power = mean_power(now)) senses.power_bin = continuum::power_bin(brain_->setup(), *power);
  for (std::size_t k = 0; k < levels_.size(); ++k) levels_[k] = level_of(k);
  senses.levels = levels_;
  if (signal_ && signal_as_of_) {
    // What is known of now, else the last value that was known.
    auto ci = intensity_at(*signal_, now);
    if (!ci) ci = intensity_at(*signal_, *signal_as_of_);
    senses.ci_g_per_kwh = ci;
    for (std::size_t t = 1; ci && *ci > 0 && t <= brain_->setup().horizon; ++t)
      senses.ci_ahead.push_back(
          intensity_at(*signal_, now + config_.period * static_cast<long>(t)).value_or(*ci) / *ci);
  }
  const auto hour = static_cast<int>((now - std::chrono::floor<std::chrono::days>(now)).count() / 3'600'000);
  for (const auto& [from, to] : config_.try_hours)
    senses.may_try = senses.may_try || (hour >= from && hour < to);
  ask_rules(now, senses);
  return senses;
}

void ContinuumLoop::ask_rules(UtcTime now, Senses& senses) {
  if (!rules_) return;
  std::map<std::string, std::optional<double>> signals{{"ci_g_per_kwh", senses.ci_g_per_kwh},
                                                       {"power_w", mean_power(now)}};
  for (std::size_t s = 0; s < services_.size(); ++s) {
    signals["load." + config_.services[s].name] = loads_[s];
    auto& violated = signals["violated." + config_.services[s].name];
    for (const auto& p : promises_)
      if (p.service == s && p.recent.state != devol::State::unknown)
        violated = std::max(violated.value_or(0), p.recent.state == devol::State::violated ? 1.0 : 0.0);
  }
  senses.rules = rules_->step(signals, now, senses.levels);
}

std::string ContinuumLoop::take_command() {
  const auto path = config_.journal + ".command";
  const auto text = files_->read_text(path, 4096);
  if (!text) return {};
  (void)files_->remove(path);
  return std::string{trim(*text)};
}

Acted ContinuumLoop::turn(const Senses& senses, const std::vector<std::size_t>& levels,
                          const std::string& who) {
  Acted acted{levels, std::nullopt, true, who};
  for (std::size_t k = 0; k < levels.size(); ++k) {
    if (levels[k] == senses.levels[k]) continue;
    const auto done = desk_->apply(k, config_.knobs[k].levels[levels[k]]);
    if (done) continue;
    acted.ok = false;
    note_ += fmt::format(" {} failed: {};", config_.knobs[k].name, done.error().to_string());
  }
  if (levels != senses.levels) undo_ = senses.levels;
  return acted;
}

Acted ContinuumLoop::act(const Senses& senses, const Decision& decision) {
  const auto command = take_command();
  if (command == "roll-back" && undo_) {
    auto acted = turn(senses, *undo_, "person");
    acted.blocked = senses.levels;
    undo_.reset();
    suggestion_.reset();
    return acted;
  }
  if (command == "approve" && suggestion_) {
    const auto levels = *std::exchange(suggestion_, std::nullopt);
    return turn(senses, levels, "person");
  }
  Acted nothing{senses.levels, std::nullopt, true, "nobody"};
  if (command == "reject" && suggestion_) {
    nothing.blocked = *std::exchange(suggestion_, std::nullopt);
    return nothing;
  }
  // What broke a promise is taken back without asking, where anything is turned at all.
  const bool may = config_.mode == ContinuumMode::automatic ||
                   (config_.mode == ContinuumMode::suggest && decision.by == continuum::By::roll_back);
  if (decision.change && may) {
    auto acted = turn(senses, decision.levels, "engine");
    if (decision.by == continuum::By::roll_back) undo_.reset();
    return acted;
  }
  suggestion_ = decision.change && config_.mode == ContinuumMode::suggest ? std::optional{decision.levels}
                                                                          : std::nullopt;
  return nothing;
}

std::string ContinuumLoop::mode_text() const {
  return config_.mode == ContinuumMode::automatic ? "auto"
         : config_.mode == ContinuumMode::suggest ? "suggest"
                                                  : "observe";
}

std::string ContinuumLoop::levels_text(const std::vector<std::size_t>& levels) const {
  std::string text;
  for (std::size_t k = 0; k < levels.size(); ++k)
    text += fmt::format("{}{}={}", k == 0 ? "" : " ", config_.knobs[k].name,
                        format_double(config_.knobs[k].levels[levels[k]]));
  return text;
}

void ContinuumLoop::write_status(UtcTime now, const Senses& senses, const Decision& decision) {
  using Json = nlohmann::json;
  const auto of = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  Json json{{"at", format_rfc3339(now)},
            {"mode", mode_text()},
            {"decision", number_ - 1},
            {"by", continuum::to_string(decision.by)},
            {"set", levels_text(senses.levels)},
            {"decided", levels_text(decision.levels)},
            {"suggestion", suggestion_ ? Json(levels_text(*suggestion_)) : Json(nullptr)},
            {"can_roll_back_to", undo_ ? Json(levels_text(*undo_)) : Json(nullptr)},
            {"ci_g_per_kwh", of(senses.ci_g_per_kwh)},
            {"cut_off", cut_off_},
            {"signal_as_of", signal_as_of_ ? Json(format_rfc3339(*signal_as_of_)) : Json(nullptr)},
            {"power_w", of(mean_power(now))},
            {"note", note_}};
  for (const auto& p : promises_)
    json["objectives"].push_back({{"service", config_.services[p.service].name},
                                  {"objective", devol::to_text(p.objective)},
                                  {"state", devol::to_string(p.official.state)},
                                  {"value", of(p.official.value)},
                                  {"last_period", devol::to_string(p.recent.state)},
                                  {"samples", p.official.samples}});
  (void)files_->write_atomically(config_.journal + ".status",
                                 json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

Result<std::string> ContinuumLoop::step() {
  note_.clear();
  const auto now = clock_.utc_now();
  if (number_ >= kDecisionsAJournal) {
    const auto old = files_->read_text(config_.journal, kJournalLimit);
    if (old) TW_TRY_STATUS(files_->write_atomically(config_.journal + ".1", *old));
    TW_TRY_STATUS(files_->truncate(config_.journal, 0));
    TW_TRY_STATUS(begin_journal(brain_->counts()));
  }
  fetch(now);
  fetch_signal(now);
  const auto senses = sense(now);
  const auto decision = brain_->decide(senses);
  const continuum::Context context{now, mode_text(), config_.journal, signal_as_of_,
                                   cut_off_ && read_signal_ != nullptr};
  // Written down before it is done.
  TW_TRY_STATUS(append(continuum::decision_line(number_, context, before_, senses, decision)));
  ++number_;
  before_ = act(senses, decision);
  brain_->acted(before_->did);
  if (before_->blocked) brain_->block(*before_->blocked);
  write_status(now, senses, decision);
  auto line = fmt::format("{} {} decision {}: {}", format_rfc3339_short(now), mode_text(), number_ - 1,
                          levels_text(decision.levels));
  line += fmt::format(" by {}{}", continuum::to_string(decision.by),
                      before_->did != senses.levels ? ", set by " + before_->who : "");
  if (suggestion_) line += ", waits for approval";
  if (decision.broke)
    line += fmt::format(", the change broke {}", brain_->setup().objectives[*decision.broke].text);
  if (cut_off_ && read_signal_)
    line += signal_as_of_
                ? fmt::format(", cut off: carbon signal of {}", format_rfc3339_short(*signal_as_of_))
                : ", carbon intensity unknown";
  return line + (note_.empty() ? "" : " (" + note_.substr(1) + ")");
}

std::string ContinuumLoop::introduction() const {
  std::string text;
  for (std::size_t m = 0; m < promises_.size(); ++m)
    text += fmt::format("promise of {}: {}; one violated period weighs {:.4g} gCO2e{}\n",
                        config_.services[promises_[m].service].name, devol::to_text(promises_[m].objective),
                        continuum::exchange_grams(brain_->setup(), m),
                        brain_->setup().objectives[m].hard ? "; hard" : "");
  text += fmt::format("set now: {}\n", levels_text(levels_));
  if (!read_signal_)
    text += "no carbon signal: nothing is saved for carbon's sake (give zone or signal_file)\n";
  if (config_.power_metric.empty())
    text += "power is unknown: its expectation stays the prior (give power.service and power.metric)\n";
  return text;
}

}  // namespace tidewatt::cli
