#include "server_desk.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "tidewatt/base/log.h"
#include "watcher.h"

namespace tidewatt::cli {
namespace {

using Json = nlohmann::json;

std::optional<double> number_at(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number() ? std::optional{found->get<double>()} : std::nullopt;
}

/// A server's account of a task: what isn't known stays absent, with the reason.
Result<k8s_json::Account> read_account(const std::string& body) {
  const auto json = Json::parse(body, nullptr, false);
  if (!json.is_object()) return fail(ErrorCode::corrupt, "the server's account can't be read");
  k8s_json::Account account;
  account.energy_kwh = number_at(json, "energy_kwh");
  if (!account.energy_kwh) {
    account.missing = "no energy of it was measured";
    return account;
  }
  account.carbon_kgco2e = number_at(json, "carbon_kgco2e");
  const auto covered = number_at(json, "coverage");
  constexpr double kPercent = 100;
  if (!account.carbon_kgco2e) {
    account.missing = json.value("carbon_hidden_reason", std::string{}) == "no_factor_configured"
                          ? "the server has no emission factor"
                          : "its carbon is not known";
  } else if (covered && *covered < 1) {
    account.missing =
        fmt::format("of {:.1f} % of its time no energy was measured", (1 - *covered) * kPercent);
  }
  return account;
}

}  // namespace

ServerDesk::ServerDesk(DeskOptions options, Clock& clock, const StopFlag& stop, std::function<void()> on_news)
    : options_(std::move(options)), clock_(clock), stop_(stop), on_news_(std::move(on_news)) {}

std::optional<ServerDesk::Signal> ServerDesk::signal(const std::string& zone) {
  const std::scoped_lock lock{mutex_};
  const auto& known = zones_[zone];
  return known.good ? std::optional{known.signal} : std::nullopt;
}

std::optional<k8s_json::Account> ServerDesk::account(const std::string& pod_uid) {
  const std::scoped_lock lock{mutex_};
  return questions_[pod_uid].answer;
}

void ServerDesk::forget_account(const std::string& pod_uid) {
  const std::scoped_lock lock{mutex_};
  questions_.erase(pod_uid);
}

void ServerDesk::ask_zone(const std::string& name) {
  const auto now = clock_.utc_now();
  auto slots = signal_of_server(options_.server, name)(now, now + options_.horizon);
  // A server that knows no such zone has answered: nothing is known, and waiting doesn't change it.
  const bool unknown_zone = !slots && slots.error().code == ErrorCode::not_found;
  const std::scoped_lock lock{mutex_};
  auto& zone = zones_[name];
  const bool good = slots.has_value() || unknown_zone;
  if (good != zone.good || zone.signal.serial == 0 || unknown_zone) {
    if (slots)
      log::info("the server's forecast is there", {{"zone", name}});
    else if (zone.good || zone.due == SteadyTime{})
      log::warning("no forecast", {{"zone", name}, {"why", slots.error().to_string()}});
  }
  zone.good = good;
  zone.signal.slots = slots ? std::move(slots->slots) : std::vector<runner::SignalSlot>{};
  zone.signal.serial = ++serial_;
  zone.due = clock_.mono_now() + (slots ? options_.refresh : options_.retry);
}

void ServerDesk::ask_account(const std::string& uid) {
  const auto path = fmt::format("/api/v1/tasks/pod%2F{}/energy?range=366d&cluster={}", encode_component(uid),
                                encode_component(options_.cluster));
  const auto body = get(options_.server, path);
  std::optional<k8s_json::Account> answer;
  if (body) {
    if (auto account = read_account(*body)) answer = std::move(*account);
  } else if (body.error().code == ErrorCode::not_found) {
    answer = k8s_json::Account{{}, {}, "the server knows no such task: no agent reported this pod"};
  }
  const std::scoped_lock lock{mutex_};
  auto& question = questions_[uid];
  question.answer = std::move(answer);
  question.due = clock_.mono_now() + options_.retry;
}

template <class Map>
std::optional<std::string> ServerDesk::due_in(const Map& map) const {
  const std::scoped_lock lock{mutex_};
  const auto now = clock_.mono_now();
  for (const auto& [name, entry] : map)
    if (entry.due <= now) return name;
  return std::nullopt;
}

void ServerDesk::run() {
  constexpr Milliseconds kIdle{100};
  while (!stop_) {
    if (const auto zone = due_in(zones_)) {
      ask_zone(*zone);
      on_news_();
    } else if (const auto uid = due_in(questions_)) {
      ask_account(*uid);
      on_news_();
    } else {
      pause_for(kIdle, stop_);
    }
  }
}

}  // namespace tidewatt::cli
