#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "tidewatt/sensors/sources.h"

namespace tidewatt::sensors {
namespace {

// What the two threads share. The worker holds a reference of its own: it may outlive the source.
struct Desk {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t asked = 0;     ///< number of the last question
  std::uint64_t answered = 0;  ///< number of the last answer
  bool stop = false;
  bool done = false;  ///< the worker has left
  std::optional<Result<std::vector<Reading>>> answer;
};

Result<std::vector<Reading>> read_once(Source& source) {
  try {
    return source.read();
  } catch (const std::exception& broken) {
    return fail(ErrorCode::internal, fmt::format("{}: {}", source.name(), broken.what()));
  }
}

void work(const std::shared_ptr<Desk>& desk, const std::function<std::unique_ptr<Source>()>& factory) {
  std::unique_ptr<Source> source;
  std::unique_lock lock{desk->mutex};
  for (;;) {
    desk->changed.wait(lock, [&] { return desk->stop || desk->asked > desk->answered; });
    if (desk->stop) break;
    const auto question = desk->asked;
    lock.unlock();
    if (!source) source = factory();
    auto answer = read_once(*source);
    lock.lock();
    desk->answer.emplace(std::move(answer));
    desk->answered = question;
    desk->changed.notify_all();
  }
  lock.unlock();
  source.reset();  // closing a library may hang as well
  lock.lock();
  desk->done = true;
  desk->changed.notify_all();
}

class Guarded final : public Source {
 public:
  Guarded(std::string name, std::function<std::unique_ptr<Source>()> factory, Milliseconds deadline)
      : name_(std::move(name)), factory_(std::move(factory)), deadline_(deadline) {}
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  ~Guarded() override {
    if (!worker_.joinable()) return;
    std::unique_lock lock{desk_->mutex};
    desk_->stop = true;
    desk_->changed.notify_all();
    const bool left = desk_->changed.wait_for(lock, deadline_, [this] { return desk_->done; });
    lock.unlock();
    if (left)
      worker_.join();
    else
      worker_.detach();
  }

  [[nodiscard]] std::string name() const override { return name_; }

  Result<std::vector<Reading>> read() override {
    if (!worker_.joinable())
      worker_ = std::thread([desk = desk_, factory = factory_] { work(desk, factory); });
    std::unique_lock lock{desk_->mutex};
    if (desk_->asked > desk_->answered)
      return fail(ErrorCode::timed_out,
                  fmt::format("{}: still no answer; its devices are unknown until it returns", name_),
                  "a vendor library that hangs usually means a driver or device fault: see the kernel log");
    desk_->answer.reset();  // of a question that had timed out
    const auto question = ++desk_->asked;
    desk_->changed.notify_all();
    if (!desk_->changed.wait_for(lock, deadline_, [&] { return desk_->answered == question; }))
      return fail(ErrorCode::timed_out, fmt::format("{}: no answer within {} ms", name_, deadline_.count()),
                  "a vendor library that hangs usually means a driver or device fault: see the kernel log");
    auto answer = std::move(*desk_->answer);
    desk_->answer.reset();
    return answer;
  }

 private:
  std::string name_;
  std::function<std::unique_ptr<Source>()> factory_;
  Milliseconds deadline_;
  std::shared_ptr<Desk> desk_ = std::make_shared<Desk>();
  std::thread worker_;
};

}  // namespace

std::unique_ptr<Source> make_guarded(std::string name, std::function<std::unique_ptr<Source>()> factory,
                                     Milliseconds deadline) {
  return std::make_unique<Guarded>(std::move(name), std::move(factory), deadline);
}

}  // namespace tidewatt::sensors
