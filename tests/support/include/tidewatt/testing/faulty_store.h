#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tidewatt/ledger/store.h"

namespace tidewatt::testing {

/// Another store with faults in front of it. Header only: link what the inner store needs.
class FaultyStore final : public ledger::Store {
 public:
  explicit FaultyStore(ledger::Store& inner) : inner_(inner) {}

  std::optional<Error> cursor_fails;
  std::optional<Error> accrue_fails;
  std::optional<Error> ping_fails;
  std::optional<Error> tokens_fail;
  std::vector<ledger::StoreDamage> damaged;
  /// Called before each accrue, e.g. to let somebody else book first.
  std::function<void()> before_accrue;

  Result<ledger::VersionedCursor> cursor(const ledger::NodeKey& node) override {
    if (cursor_fails) return tl::unexpected(*cursor_fails);
    return inner_.cursor(node);
  }
  Result<std::vector<ledger::AccrueOutcome>> accrue(std::span<const ledger::Accrual> accruals) override {
    if (accrue_fails) return tl::unexpected(*accrue_fails);
    if (before_accrue) before_accrue();
    return inner_.accrue(accruals);
  }
  Status note_seen(std::span<const ledger::SharedNode> nodes) override { return inner_.note_seen(nodes); }
  Result<std::vector<ledger::SharedNode>> nodes() override { return inner_.nodes(); }
  Result<ledger::SharedNode> node(const ledger::NodeKey& node) override { return inner_.node(node); }
  Result<std::vector<ledger::Account>> accounts(const ledger::AccountFilter& filter) override {
    return inner_.accounts(filter);
  }
  Result<std::vector<ledger::Account>> sums(const ledger::AccountFilter& filter, UtcHour from,
                                            UtcHour to) override {
    return inner_.sums(filter, from, to);
  }
  Result<std::vector<ledger::HourlyRow>> hourly(const ledger::AccountFilter& filter, UtcHour from,
                                                UtcHour to) override {
    return inner_.hourly(filter, from, to);
  }
  Result<std::unique_ptr<ledger::CurveReader>> read_curve(const ledger::NodeKey& node, UtcRange range,
                                                          std::size_t limit) override {
    return inner_.read_curve(node, range, limit);
  }
  Result<std::vector<ledger::Seal>> seals() override { return inner_.seals(); }
  Status close_month(ledger::Month month, UtcTime at) override { return inner_.close_month(month, at); }
  Result<bool> finish_seal(const ledger::Seal& seal) override { return inner_.finish_seal(seal); }
  Status read_image(const ledger::ImageParts& parts, ledger::ImageSink& sink) override {
    return inner_.read_image(parts, sink);
  }
  Status put_task(const ledger::TaskInfo& task) override { return inner_.put_task(task); }
  Result<std::vector<ledger::TaskInfo>> tasks() override { return inner_.tasks(); }
  Result<std::vector<ledger::TaskInfo>> moved_tasks() override { return inner_.moved_tasks(); }
  Result<bool> add_epoch(const ledger::EpochReport& report) override { return inner_.add_epoch(report); }
  Result<std::vector<ledger::EpochReport>> epochs(const std::string& cluster, const std::string& task_id,
                                                  std::size_t limit) override {
    return inner_.epochs(cluster, task_id, limit);
  }
  Result<bool> add_usage(const ledger::UsageReport& report) override { return inner_.add_usage(report); }
  Result<std::optional<ledger::TokenCounter>> token_counter(const std::string& cluster,
                                                            const std::string& series) override {
    return inner_.token_counter(cluster, series);
  }
  Result<bool> step_token_counter(const ledger::CounterStep& step) override {
    return inner_.step_token_counter(step);
  }
  Result<std::vector<ledger::TokenHour>> token_hours(UtcHour from, UtcHour to) override {
    return inner_.token_hours(from, to);
  }
  Status forget_requests(UtcTime before) override { return inner_.forget_requests(before); }
  Result<ledger::MarketAppend> append_market(const ledger::MarketEntry& entry) override {
    return inner_.append_market(entry);
  }
  Result<std::optional<ledger::MarketEntry>> market_entry(const std::string& key) override {
    return inner_.market_entry(key);
  }
  Result<std::vector<ledger::MarketEntry>> market_entries(std::int64_t after, std::size_t limit) override {
    return inner_.market_entries(after, limit);
  }
  Status put_token(const ledger::TokenRecord& token) override { return inner_.put_token(token); }
  Result<bool> replace_token(const ledger::TokenRecord& before, const ledger::TokenRecord& ended,
                             const ledger::TokenRecord& successor) override {
    return inner_.replace_token(before, ended, successor);
  }
  Result<std::vector<ledger::TokenRecord>> tokens() override {
    if (tokens_fail) return tl::unexpected(*tokens_fail);
    return inner_.tokens();
  }
  Status append_audit(const ledger::AuditEntry& entry) override { return inner_.append_audit(entry); }
  Result<std::vector<ledger::AuditEntry>> audit(std::size_t limit) override { return inner_.audit(limit); }
  Status drop_curves(UtcTime before) override { return inner_.drop_curves(before); }
  Status ping() override {
    if (ping_fails) return tl::unexpected(*ping_fails);
    return inner_.ping();
  }
  [[nodiscard]] std::vector<ledger::StoreDamage> damage() const override { return damaged; }

 private:
  ledger::Store& inner_;
};

}  // namespace tidewatt::testing
