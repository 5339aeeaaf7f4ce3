#include "tidewatt/sensors/isolated.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

namespace tidewatt::sensors {
namespace {

constexpr std::string_view kQuestion = "read";
constexpr std::string_view kStuck =
    "a process that can't even be killed means a driver or device fault: see the kernel log";
constexpr std::string_view kFault =
    "a fault in the vendor's library or driver: see the kernel log; other sources aren't affected";

class Isolated final : public Source {
 public:
  Isolated(std::string name, CompanionStarter start, std::shared_ptr<const Clock> clock,
           IsolationLimits limits)
      : name_(std::move(name)),
        start_(std::move(start)),
        clock_(std::move(clock)),
        limits_(limits),
        pause_(limits.first_pause) {}

  [[nodiscard]] std::string name() const override { return name_; }

  Result<std::vector<Reading>> read() override {
    const auto now = clock_->mono_now();
    if (now < retry_at_) return tl::unexpected(waiting(now));
    if (child_ && dying_) {
      if (!child_->gone())
        return fail(ErrorCode::timed_out,
                    fmt::format("{}; its process is killed, but stuck in the kernel", last_error_.message),
                    std::string{kStuck});
      child_.reset();
      dying_ = false;
    }
    if (!child_) {
      auto started = start_();
      if (!started) return give_up(std::move(started).error());
      child_ = std::move(*started);
      started_at_ = now;
      answered_ = false;
    }
    auto line =
        child_->ask(kQuestion, answered_ ? limits_.deadline : limits_.first_deadline, kMaxAnswerBytes);
    if (!line) {
      line.error().hint = kFault;
      return give_up(std::move(line).error());
    }
    auto look = look_from_answer(*line);
    if (look && !belongs_here(*look, now)) look = fail(ErrorCode::corrupt, "readings of another time");
    if (!look) {
      const auto code = look.error().code;
      if (code == ErrorCode::corrupt)
        look.error().message = fmt::format("{}: {}", name_, look.error().message);
      // What isn't there needs no process that waits for it.
      if (code == ErrorCode::corrupt || code == ErrorCode::not_found || code == ErrorCode::invalid_input)
        return give_up(std::move(look).error());
    }
    answered_ = true;
    if (now - started_at_ >= limits_.settled_after) pause_ = limits_.first_pause;
    return look;
  }

 private:
  tl::unexpected<Error> give_up(Error error) {
    dying_ = child_ != nullptr;
    if (dying_ && child_->gone()) {
      child_.reset();
      dying_ = false;
    }
    if (answered_ && clock_->mono_now() - started_at_ >= limits_.settled_after) pause_ = limits_.first_pause;
    answered_ = false;
    retry_at_ = clock_->mono_now() + pause_;
    pause_ = std::min(2 * pause_, limits_.longest_pause);
    last_error_ = error;
    return tl::unexpected(std::move(error));
  }

  [[nodiscard]] Error waiting(SteadyTime now) const {
    auto error = last_error_;
    error.message += fmt::format(" (next try in {} s)", (retry_at_ - now).count() / 1000 + 1);
    return error;
  }

  /// The clock is the same in both processes: what was read was read since we asked.
  [[nodiscard]] bool belongs_here(const std::vector<Reading>& look, SteadyTime asked) const {
    const auto now = clock_->mono_now();
    return std::all_of(look.begin(), look.end(),
                       [&](const Reading& reading) { return reading.at >= asked && reading.at <= now; });
  }

  std::string name_;
  CompanionStarter start_;
  std::shared_ptr<const Clock> clock_;
  IsolationLimits limits_;
  std::unique_ptr<Companion> child_;
  SteadyTime started_at_{};
  bool answered_ = false;  ///< this child has
  bool dying_ = false;     ///< this child was told to
  SteadyTime retry_at_{SteadyTime::min()};
  Milliseconds pause_;
  Error last_error_;
};

Result<std::vector<Reading>> read_once(Source& source) {
  try {
    return source.read();
  } catch (const std::exception& broken) {
    return fail(ErrorCode::internal, fmt::format("{}: {}", source.name(), broken.what()));
  }
}

}  // namespace

std::unique_ptr<Source> make_isolated(std::string name, CompanionStarter start,
                                      std::shared_ptr<const Clock> clock, IsolationLimits limits) {
  return std::make_unique<Isolated>(std::move(name), std::move(start), std::move(clock), limits);
}

std::string answer_question(Source& source, std::string_view question) {
  if (question != kQuestion)
    return to_answer(fail(ErrorCode::invalid_input, fmt::format("\"{}\" is no question", question)));
  return to_answer(read_once(source));
}

}  // namespace tidewatt::sensors
