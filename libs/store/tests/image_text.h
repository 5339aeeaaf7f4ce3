// An image as lines of text, to compare ledgers by.
#pragma once

#include <string>

#include "store_fixtures.h"
#include "tidewatt/ledger/months.h"

namespace tidewatt::store::testing {

class ImageText final : public ImageSink {
 public:
  /// When something was booked or sealed differs from run to run.
  explicit ImageText(bool with_times = false) : with_times_(with_times) {}
  Status add(const Seal& seal) override {
    text += "seal " + to_string(seal.month) + " " + std::to_string(seal.rows) + " " +
            seal.energy.to_string() + " " + seal.hash + " " + seal.previous +
            (with_times_ ? format_rfc3339(seal.sealed_at) : "") + "\n";
    return {};
  }
  Status add(const NodeImage& node) override {
    text += "node " + node.key.cluster + "/" + node.key.node_id + " " + std::to_string(node.revision) + " " +
            std::to_string(std::hash<std::string>{}(node.cursor)) +
            (node.info ? " seen " + format_rfc3339(node.info->last_seen_at) + " " + node.info->boot_id : "") +
            "\n";
    return {};
  }
  Status add(const Account& account) override {
    text += "account ";
    append_canonical({account.key, {}, account.totals}, text);
    text += account.first_sample_at ? format_rfc3339(*account.first_sample_at) : "-";
    text += account.last_sample_at ? format_rfc3339(*account.last_sample_at) + "\n" : "-\n";
    return {};
  }
  Status add(const HourlyRow& row) override {
    text += "hour ";
    append_canonical(row, text);
    return {};
  }
  Status add(const Adjustment& late) override {
    text += "late ";
    append_canonical({late.key, late.hour, late.measures}, text);
    text += late.reason + (with_times_ && late.booked_at ? format_rfc3339(*late.booked_at) : "") + "\n";
    return {};
  }
  Status add(const TaskInfo& task) override {
    text += "task " + task.cluster + "/" + task.task_id + " " + task.team + " " +
            (task.at_once_at ? format_rfc3339(*task.at_once_at) : "-") + "\n";
    return {};
  }
  Status add(const EpochReport& report) override {
    const auto number = [](auto value) { return value ? std::to_string(*value) : "-"; };
    text += "epoch " + report.cluster + "/" + report.task_id + " " + std::to_string(report.epoch) + " " +
            format_rfc3339(report.at) + " " + number(report.epochs_total) + " " +
            (report.energy_total ? std::to_string(report.energy_total->n) : "-") + " " +
            (report.step_latency ? std::to_string(report.step_latency->count()) : "-") + "\n";
    return {};
  }
  Status add(const TokenHour& hour) override {
    text += "tokens " + hour.cluster + "/" + hour.group_id + " " + format_rfc3339(start_of(hour.hour)) + " " +
            std::to_string(hour.tokens.prompt) + " " + std::to_string(hour.tokens.completion) + "\n";
    return {};
  }
  Status add(const TokenCounter& counter) override {
    text += "counter " + counter.cluster + "/" + counter.series + " " + format_rfc3339(counter.at) + " " +
            std::to_string(counter.value) + "\n";
    return {};
  }
  Status add(const TokenRecord& token) override {
    text += "token " + token.id + " " + token.role + " " + token.sha256_hex + "\n";
    return {};
  }
  Status add(const AuditEntry& entry) override {
    text += "audit " + format_rfc3339(entry.at) + " " + entry.actor + " " + entry.action + "\n";
    return {};
  }
  Status add(const MarketEntry& entry) override {
    text += "market " + std::to_string(entry.seq) + " " + entry.key + " " + format_rfc3339(entry.at) + " " +
            entry.body + "\n";
    return {};
  }
  std::string text;

 private:
  bool with_times_;
};

inline ImageParts everything() {
  ImageParts parts;
  parts.registry = parts.nodes = parts.seals = parts.accounts = parts.adjustments = parts.hourly = true;
  return parts;
}

inline std::string image_of(ImageSource& source, const ImageParts& parts = everything(),
                            bool with_times = false) {
  ImageText text(with_times);
  const auto status = source.read_image(parts, text);
  EXPECT_TRUE(status) << (status ? "" : status.error().to_string());
  return text.text;
}

inline const Month kOctober = *parse_month("2026-10");
inline UtcHour hour_at(std::string_view text) { return hour_of(*parse_rfc3339(text)); }

/// What one beat of a node with one task on one of its two cards adds: it adds up in every scope.
inline std::vector<AccountDelta> beat_of(const std::string& node, const std::string& task, std::int64_t uj,
                                         UtcHour hour, const std::string& domain = "gpu") {
  const auto key = [&](Scope scope, std::string id, std::string part = {}) {
    return AccountKey{"default", scope, std::move(id), std::move(part), domain};
  };
  std::vector<AccountDelta> deltas{
      delta(key(Scope::device, node + "/0"), uj, hour), delta(key(Scope::device, node + "/1"), 7, hour),
      delta(key(Scope::node, node), uj + 7, hour), delta(key(Scope::task, task), uj, hour),
      delta(key(Scope::task_device, task, node + "/0"), uj, hour)};
  deltas[2].at(hour).unattributed = Microjoules{7};
  for (auto& d : deltas) {
    d.first_sample_at = start_of(hour);
    d.last_sample_at = start_of(hour) + Milliseconds{20'000};
  }
  return deltas;
}

/// Two months of two nodes, October sealed, something late for it and for September, and a registry.
inline void fill(Store& store) {
  std::uint64_t revision = 0;
  for (const auto* hour : {"2026-10-01T00:00:00Z", "2026-10-31T23:00:00Z", "2026-11-01T00:00:00Z"})
    for (const std::string node : {"n1", "n2"}) {
      const NodeKey key{"default", node};
      const auto now = store.cursor(key)->revision;
      EXPECT_EQ(put(store, accrual(key, now,
                                   beat_of(node, "job\t1", static_cast<std::int64_t>(100 + ++revision),
                                           hour_at(hour)))),
                AccrueOutcome::applied);
    }
  const auto made = seal_through(store, kOctober, *parse_rfc3339("2026-11-09T00:00:00Z"));
  EXPECT_TRUE(made) << (made ? "" : made.error().to_string());
  for (const auto* hour : {"2026-10-31T23:00:00Z", "2026-09-30T23:00:00Z", "2026-11-02T05:00:00Z"})
    EXPECT_EQ(put(store, accrual(kNode, store.cursor(kNode)->revision,
                                 beat_of("n1", "job\t1", 1'000, hour_at(hour)))),
              AccrueOutcome::applied);
  EXPECT_TRUE(store.put_task({"default", "job\t1", "", "vision", "", kNoon, std::nullopt}));
  EXPECT_TRUE(*store.add_epoch(
      {"default", "job\t1", 1, kNoon, 40, Microjoules{9'000'000}, std::chrono::microseconds{250}}));
  EXPECT_TRUE(*store.add_epoch({"default", "job\t1", 2, kNoon, std::nullopt, std::nullopt, std::nullopt}));
  EXPECT_TRUE(*store.add_usage({"default", "chat", "r1", kNoon, {120, 40}}));
  EXPECT_TRUE(*store.step_token_counter({std::nullopt, {"default", "vllm{}", kNoon, 77}, "chat", {77, 0}}));
  EXPECT_TRUE(store.put_token({"t1", "ops", "ops", "", "ab12", kNoon, std::nullopt, std::nullopt}));
  EXPECT_TRUE(store.append_audit({kNoon, "ops", "token.create", "t1"}));
  EXPECT_TRUE(store.append_audit({kNoon, "ops", "token.revoke", "t1"}));
  EXPECT_TRUE(store.append_market({1, "k1", kNoon, R"({"kind":"allot"})"}));
  NodeInfo info;
  info.key = kNode;
  info.boot_id = "boot-7";
  info.last_seen_at = kNoon;
  EXPECT_TRUE(note(store, info));
}

}  // namespace tidewatt::store::testing
