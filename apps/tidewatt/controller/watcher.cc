#include "watcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "../server_access.h"
#include "tidewatt/base/log.h"
#include "tidewatt/k8s/watch.h"
#include "tidewatt/k8s_json/held.h"

namespace tidewatt::cli {
namespace {

constexpr Milliseconds kListDeadline{60'000};
/// The server ends a watch after so long, and bookmarks come about once a minute: a connection that was cut
/// without a word is noticed.
constexpr int kWatchSeconds = 290;
constexpr Milliseconds kSilence{320'000};
/// etcd takes objects of up to 1.5 MiB; JSON of them is longer.
constexpr std::size_t kLongestLine = std::size_t{8} << 20U;
constexpr int kGone = 410;

}  // namespace

void pause_for(Milliseconds length, const StopFlag& stop) {
  constexpr Milliseconds kStep{50};
  for (; length > Milliseconds{0} && !stop; length -= kStep)
    std::this_thread::sleep_for(std::min(length, kStep));
}

Watcher::Watcher(KubeAccess access, Collection collection, HeldCache& cache, std::size_t part,
                 const StopFlag& stop, Rng& random)
    : api_(std::move(access), kListDeadline),
      collection_(std::move(collection)),
      cache_(cache),
      part_(part),
      stop_(stop),
      random_(random) {}

void Watcher::pause(const KubeFailure& failure) {
  ++failures_;
  if (failures_ == 1) log::warning(fmt::format("{}: {}", collection_.what, failure.what));
  pause_for(k8s::back_off(failures_, random_.uniform(), failure.retry_after), stop_);
}

tl::expected<std::string, KubeFailure> Watcher::list() {
  std::optional<Milliseconds> retry_after;
  auto listed = list_held(api_, collection_, &retry_after);
  if (!listed) return tl::unexpected(KubeFailure{listed.error().to_string(), retry_after});
  cache_.replace(part_, std::move(listed->items));
  return std::move(listed->resource_version);
}

bool Watcher::take_line(std::string_view line, std::optional<KubeFailure>& failure) {
  auto event = k8s_json::read_watch_event(collection_.kind, line);
  if (!event) {
    failure = KubeFailure{event.error().to_string(), {}};
    version_.clear();
    return false;
  }
  using Type = k8s_json::WatchEvent::Type;
  if (event->type == Type::error) {
    version_.clear();
    if (event->code != kGone) failure = KubeFailure{fmt::format("{} ({})", event->message, event->code), {}};
    return false;
  }
  failures_ = 0;
  restarts_ = 0;
  version_ = event->resource_version;
  if (event->type == Type::changed) cache_.put(part_, std::move(event->held));
  if (event->type == Type::deleted) cache_.remove(part_, event->held.uid);
  return true;
}

std::optional<KubeFailure> Watcher::follow() {
  auto path = fmt::format("{}?watch=1&allowWatchBookmarks=true&timeoutSeconds={}&resourceVersion={}",
                          collection_.path, kWatchSeconds, encode_component(version_));
  if (!collection_.selector.empty()) path += "&" + collection_.selector;
  k8s::WatchLines lines{kLongestLine};
  std::optional<KubeFailure> failure;
  bool too_long = false;
  net::Streaming streaming;
  streaming.silence = kSilence;
  streaming.go_on = [this] { return !stop_; };
  streaming.on_piece = [&](std::string_view piece) {
    bool ended = false;
    const bool more = lines.add(piece, [&](std::string_view line) {
      ended = !take_line(line, failure);
      return !ended;
    });
    too_long = !more && !ended;
    return more && !stop_;
  };
  const auto answer = api_.watch(path, streaming);
  if (too_long) {
    version_.clear();
    return KubeFailure{fmt::format("a watch event is longer than {} bytes", kLongestLine), {}};
  }
  if (failure) return failure;
  if (!answer) return KubeFailure{answer.error().to_string(), {}};
  if (answer->status == kGone) {
    version_.clear();
    return std::nullopt;
  }
  if (answer->status != 200) return failure_of(*answer);
  failures_ = 0;
  return std::nullopt;
}

void Watcher::run() {
  constexpr Milliseconds kShortest{200};  // a watch may end without an error at once, again and again
  while (!stop_) {
    if (version_.empty()) {
      auto listed = list();
      if (!listed) {
        if (!stop_) pause(listed.error());
        continue;
      }
      if (failures_ > 0) log::info(collection_.what + ": listed again");
      version_ = std::move(*listed);
    }
    if (const auto failure = follow(); failure && !stop_) {
      pause(*failure);
    } else if (version_.empty()) {
      pause_for(k8s::back_off(++restarts_, random_.uniform(), {}), stop_);
    } else {
      pause_for(kShortest, stop_);
    }
  }
}

}  // namespace tidewatt::cli
