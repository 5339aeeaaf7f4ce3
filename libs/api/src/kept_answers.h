// Answers that cost much to make: kept for those who ask again, and made anew in the background as long as
// somebody looks, and seldom for a day after. What is cheap is never kept. In words:
// docs/adr/0014-kept-dashboards-and-team-hours.md.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "tidewatt/base/clock.h"
#include "tidewatt/net/http.h"

namespace tidewatt::api {

/// Thread-safe. Each kept answer says its age in the header Age.
class KeptAnswers {
 public:
  using Make = std::function<net::Response()>;
  struct Rule {
    Milliseconds dear{30};         ///< CPU time from which on an answer is kept
    Milliseconds refresh{5'000};   ///< how often a kept one is made anew, ...
    int rest = 10;                 ///< ... and at least so many times its cost apart
    Milliseconds watched{30'000};  ///< it is made anew so often until nobody asked for so long, ...
    Milliseconds resting{60'000};  ///< ... then seldom, for the first look of whoever comes next, ...
    int rest_unwatched = 100;      ///< ... and at least so many times its cost apart
    Milliseconds remembered{24LL * 3600 * 1000};  ///< until nobody asked for so long
    std::size_t most_resting = 4;                 ///< of those, the ones asked last
    std::size_t most = 64;
  };

  /// @param cpu  CPU time that the calling thread used so far
  KeptAnswers(const Clock& clock, std::function<Milliseconds()> cpu, Rule rule);
  ~KeptAnswers();
  KeptAnswers(const KeptAnswers&) = delete;
  KeptAnswers& operator=(const KeptAnswers&) = delete;

  /// The kept answer to `key`, or what `make` gives. Never older than two refreshes while somebody looks; the
  /// first look after a pause may get one that is older, of the last rest, and has it made anew at once.
  /// @param make  copied where the answer is kept; called from another thread then, until this is destroyed
  net::Response get(const std::string& key, const Make& make);
  /// Makes anew what is due and forgets what nobody asks for. The background thread's work.
  void refresh();
  /// Makes answers anew in a thread of its own from now on.
  void start();

 private:
  struct Kept {
    net::Response response;
    Make make;
    Milliseconds cost{0};  ///< CPU time that it took
    SteadyTime made_at{};
    SteadyTime asked_at{};
    bool making = false;
  };
  struct Fresh {
    net::Response response;
    Milliseconds cost{0};
    SteadyTime began{};
  };
  [[nodiscard]] Fresh made(const Make& make) const;
  void keep(const std::string& key, const Make& make, const Fresh& fresh, SteadyTime asked_at);
  [[nodiscard]] bool is_watched(const Kept& kept, SteadyTime now) const;
  /// Time between two refreshes.
  [[nodiscard]] Milliseconds every(const Kept& kept, SteadyTime now) const;
  void forget_unasked(SteadyTime now);
  std::optional<std::string> next_due();

  const Clock& clock_;
  const std::function<Milliseconds()> cpu_;
  const Rule rule_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Kept> kept_;
  bool stopping_ = false;
  std::thread thread_;
};

/// CPU time of the calling thread.
Milliseconds thread_cpu();

}  // namespace tidewatt::api
