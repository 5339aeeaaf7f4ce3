#include "reconcile.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "../server_access.h"
#include "kube_objects.h"
#include "tidewatt/base/log.h"
#include "tidewatt/k8s/watch.h"
#include "tidewatt/k8s_json/held.h"
#include "tidewatt/runner/plan.h"

namespace tidewatt::cli {
namespace {

constexpr Milliseconds kLongestPause{1'000};
/// Letting go takes a moment, too.
constexpr Milliseconds kOverdueAfter{60'000};
/// Events are kept for an hour: an opening that is older has been told, or it is too late for it.
constexpr Milliseconds kTellWithin = std::chrono::minutes{10};

std::string name_of(const k8s::Held& held) {
  return fmt::format("{} {}/{}", held.kind == k8s::ObjectKind::job ? "job" : "pod", held.name_space,
                     held.name);
}

}  // namespace

Reconciler::Reconciler(KubeApi& api, HeldCache& cache, const Leader& leader, ServerDesk& desk,
                       ReconcileOptions options, ControllerCounts& counts, Clock& clock, Rng& random)
    : api_(api),
      cache_(cache),
      leader_(leader),
      desk_(desk),
      options_(std::move(options)),
      counts_(counts),
      clock_(clock),
      random_(random) {}

Milliseconds Reconciler::pass() {
  next_ = kLongestPause;
  if (!cache_.complete()) return next_;
  auto all = cache_.all();
  count(all);
  forget_absent(all);
  opened_jobs_.clear();
  for (const auto& held : all)
    if (held.kind == k8s::ObjectKind::job && !held.opened.empty()) opened_jobs_.insert(held.uid);
  // What has the least time left comes first: a slow server costs the others.
  std::stable_sort(all.begin(), all.end(), [](const k8s::Held& a, const k8s::Held& b) {
    if (a.held != b.held) return a.held;
    return a.held && latest_start_of(a) < latest_start_of(b);
  });
  looked_at_.clear();
  for (const auto& held : all) {
    if (!leader_.may_write() || clock_.mono_now() < not_before_) break;
    look_at(held);
  }
  return next_;
}

void Reconciler::count(const std::vector<k8s::Held>& all) {
  std::uint64_t held = 0;
  std::uint64_t overdue = 0;
  const auto now = clock_.utc_now();
  for (const auto& one : all) {
    if (!one.held || one.deleting || !one.opened.empty() || opened_.contains(one.uid)) continue;
    ++held;
    if (latest_start_of(one) + kOverdueAfter < now) ++overdue;
  }
  counts_.held = held;
  counts_.overdue = overdue;
  counts_.complete = true;
  ++counts_.looks;
}

void Reconciler::look_at(const k8s::Held& held) {
  if (const auto later = later_.find(held.uid);
      later != later_.end() && clock_.mono_now() < later->second.due)
    return;
  if (held.held && held.opened.empty()) {
    if (!held.deleting && !opened_.contains(held.uid)) look_at_held(held);
  } else if (!held.opened.empty() && looked_at_.insert(held.uid).second) {
    look_at_opened(held);
  }
}

std::string Reconciler::zone_of(const k8s::Held& held) const {
  const auto found = options_.zones.find(held.topology);
  return found == options_.zones.end() ? options_.zone : found->second;
}

std::optional<k8s::PlannedStart> Reconciler::planned_for(const k8s::Held& held) {
  const auto zone = zone_of(held);
  if (zone.empty()) return k8s::PlannedStart{{}, "no carbon zone is set for it"};
  const auto signal = desk_.signal(zone);
  if (!signal) return std::nullopt;
  auto& plan = plans_[held.uid];
  if (plan.serial == signal->serial) return plan.start;
  plan.serial = signal->serial;
  runner::Order order;
  order.id = held.uid;
  order.zone = zone;
  order.submitted = held.created;
  order.duration = duration_of(held);
  order.deadline = deadline_of(held);
  const auto made = runner::make_plan(order, {}, signal->slots, {}, clock_.utc_now());
  plan.start = {{}, made.why};
  if (!made.windows.empty()) plan.start.start = made.windows.front().begin;
  return plan.start;
}

void Reconciler::look_at_held(const k8s::Held& held) {
  const auto now = clock_.utc_now();
  const auto decision = decide_gate(held, planned_for(held), opened_jobs_.contains(held.job_uid), now);
  if (decision.open) {
    if (!patch(held, k8s_json::open_patch(held, decision, now), "let it go")) return;
    opened_.insert(held.uid);
    counts_.opened(decision.by);
    log::info("let go", {{"what", name_of(held)}, {"by", decision.by}, {"why", decision.why}});
    return;
  }
  next_ = std::min(next_, std::max(decision.start - now, Milliseconds{0}));
  if (decision.by == "window" && decision.start != held.planned_start)
    patch(held, k8s_json::plan_patch(held, decision.start, decision.why), "write its plan");
}

bool Reconciler::patch(const k8s::Held& held, const std::string& json, const char* doing) {
  if (!leader_.may_write()) return false;
  const auto answer = api_.ask("PATCH", object_path(held), json, "application/json-patch+json");
  if (answer && answer->status == 200) {
    later_.erase(held.uid);
    if (const auto fresh = k8s_json::read_held(held.kind, answer->body))
      cache_.update(held.resource_version, *fresh);
    return true;
  }
  failed(held, answer, doing);
  // It has changed: somebody else let it go, or changed its gates.
  if (answer && (answer->status == 409 || answer->status == 422)) refresh(held);
  return false;
}

void Reconciler::refresh(const k8s::Held& held) {
  const auto answer = api_.ask("GET", object_path(held));
  if (!answer) return;
  if (answer->status == 404) return cache_.remove(held.uid);
  if (answer->status != 200) return;
  const auto fresh = k8s_json::read_held(held.kind, answer->body);
  if (!fresh) return;
  if (fresh->uid != held.uid) return cache_.remove(held.uid);
  cache_.update(held.resource_version, *fresh);
}

void Reconciler::failed(const k8s::Held& held, const Result<net::Response>& answer, const char* doing) {
  constexpr int kTooMany = 429;
  if (answer && answer->status == 404) return cache_.remove(held.uid);
  ++counts_.write_failures;
  auto& later = later_[held.uid];
  const auto failure = answer ? failure_of(*answer) : KubeFailure{answer.error().to_string(), {}};
  const auto wait = k8s::back_off(++later.failures, random_.uniform(), failure.retry_after);
  later.due = clock_.mono_now() + wait;
  if (answer && answer->status == kTooMany) not_before_ = later.due;
  if (later.failures != 1) return;
  log::warning(fmt::format("can't {}, trying again", doing),
               {{"what", name_of(held)}, {"why", failure.what}});
}

void Reconciler::tell(const k8s::Held& held, std::string_view reason, const std::string& message) {
  const auto key = fmt::format("{}/{}", held.uid, reason);
  if (told_.contains(key) || !leader_.may_write()) return;
  const auto path = fmt::format("/api/v1/namespaces/{}/events", encode_component(held.name_space));
  const auto answer = api_.ask(
      "POST", path, k8s_json::event_json(held, reason, message, false, options_.identity, clock_.utc_now()));
  // 409: told before, by whoever led then. What is refused for good isn't tried again.
  if (answer && (answer->status / 100 == 2 || (answer->status / 100 == 4 && answer->status != 429))) {
    told_.insert(key);
    if (answer->status / 100 != 2 && answer->status != 409)
      log::warning("an event was refused", {{"what", name_of(held)},
                                            {"why", k8s_json::status_message(answer->status, answer->body)}});
    return;
  }
  failed(held, answer, "tell an event");
}

void Reconciler::look_at_opened(const k8s::Held& held) {
  const auto now = clock_.utc_now();
  if (held.opened_at && now - *held.opened_at < kTellWithin)
    tell(held, "CleanWindowOpened", fmt::format("let go by {}: {}", held.opened, held.decision));
  if (held.kind == k8s::ObjectKind::pod && held.ended && !held.accounted) account(held);
}

void Reconciler::account(const k8s::Held& held) {
  const auto now = clock_.utc_now();
  const auto ended = held.ended_at.value_or(held.opened_at.value_or(held.created));
  const auto look_again_after = [&](Milliseconds since_end) {
    next_ = std::min(next_, std::max(Milliseconds{1}, since_end - (now - ended)));
  };
  if (now - ended < options_.settle) return look_again_after(options_.settle);
  const auto told = desk_.account(held.uid);
  const bool late = now - ended >= options_.account_within;
  if (!late && (!told || !told->carbon_kgco2e))
    return look_again_after(options_.account_within);  // it may still come
  const auto account = told.value_or(k8s_json::Account{{}, {}, "the Tidewatt server couldn't be asked"});
  if (!patch(held, k8s_json::account_patch(held, account), "write its account")) return;
  ++(account.carbon_kgco2e ? counts_.accounts_known : counts_.accounts_missing);
  desk_.forget_account(held.uid);
  std::string message =
      account.carbon_kgco2e ? fmt::format("{:.3g} kg CO2e", *account.carbon_kgco2e) : "carbon unknown";
  if (account.energy_kwh) message += fmt::format(" from {:.3g} kWh", *account.energy_kwh);
  if (!account.missing.empty()) message += ": " + account.missing;
  tell(held, "CarbonAccounted", message);
}

void Reconciler::forget_absent(const std::vector<k8s::Held>& all) {
  constexpr std::size_t kMostMemories = 10'000;
  if (plans_.size() + later_.size() + opened_.size() + told_.size() < kMostMemories) return;
  std::set<std::string> here;
  for (const auto& held : all) here.insert(held.uid);
  const auto absent = [&](const std::string& uid) { return !here.contains(uid); };
  std::erase_if(plans_, [&](const auto& entry) { return absent(entry.first); });
  std::erase_if(later_, [&](const auto& entry) { return absent(entry.first); });
  std::erase_if(opened_, absent);
  std::erase_if(told_, [&](const std::string& key) { return absent(key.substr(0, key.find('/'))); });
}

}  // namespace tidewatt::cli
