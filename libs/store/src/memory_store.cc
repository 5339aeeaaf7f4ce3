#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "journal/late.h"
#include "journal/team_sums.h"
#include "semantics.h"
#include "tidewatt/store/memory.h"

namespace tidewatt::store {
namespace {

using namespace ledger;

struct StoredAccount {
  WideMeasures totals;
  std::optional<UtcTime> first_sample_at;
  std::optional<UtcTime> last_sample_at;
  std::map<UtcHour, WideMeasures> hours;
  std::map<UtcHour, WideMeasures> late;
};

template <class Hours>
auto hours_within(Hours& hours, UtcHour from, UtcHour to) {
  return std::pair{hours.lower_bound(from), from < to ? hours.lower_bound(to) : hours.lower_bound(from)};
}

class MemoryStore final : public Store {
 public:
  Result<VersionedCursor> cursor(const NodeKey& node) override {
    const std::lock_guard lock(mutex_);
    const auto found = cursors_.find(node);
    return found == cursors_.end() ? VersionedCursor{} : found->second;
  }

  Result<std::vector<AccrueOutcome>> accrue(std::span<const Accrual> accruals) override {
    const std::lock_guard lock(mutex_);
    std::vector<AccrueOutcome> outcomes;
    outcomes.reserve(accruals.size());
    for (const auto& accrual : accruals) outcomes.push_back(apply(accrual));
    return outcomes;
  }

  Status note_seen(std::span<const SharedNode> nodes) override {
    const std::lock_guard lock(mutex_);
    for (const auto& info : nodes) {
      auto& stored = nodes_[info->key];
      stored = noted(stored, info);
    }
    return {};
  }

  Result<std::vector<SharedNode>> nodes() override {
    const std::lock_guard lock(mutex_);
    std::vector<SharedNode> result;
    result.reserve(nodes_.size());
    for (const auto& [key, info] : nodes_) result.push_back(info);
    return result;
  }

  Result<SharedNode> node(const NodeKey& key) override {
    const std::lock_guard lock(mutex_);
    const auto found = nodes_.find(key);
    return found == nodes_.end() ? nullptr : found->second;
  }

  Result<std::vector<Account>> accounts(const AccountFilter& filter) override {
    const std::lock_guard lock(mutex_);
    std::vector<Account> result;
    for (const auto& [key, stored] : accounts_)
      if (matches(filter, key))
        result.push_back({key, stored.totals, stored.first_sample_at, stored.last_sample_at, 0});
    return result;
  }

  Result<std::vector<Account>> sums(const AccountFilter& filter, UtcHour from, UtcHour to) override {
    const std::lock_guard lock(mutex_);
    std::vector<Account> result;
    for (const auto& [key, stored] : accounts_) {
      if (!matches(filter, key)) continue;
      Account sum{key, {}, stored.first_sample_at, stored.last_sample_at, 0};
      for (auto row = stored.hours.lower_bound(from); row != stored.hours.end() && row->first < to;
           ++row, ++sum.rows)
        sum.totals += row->second;
      const auto [begin, end] = hours_within(stored.late, from, to);
      LateHours{key, {begin, end}}.add_to(sum);
      if (sum.rows > 0) result.push_back(std::move(sum));
    }
    return result;
  }

  Result<std::vector<HourlyRow>> hourly(const AccountFilter& filter, UtcHour from, UtcHour to) override {
    const std::lock_guard lock(mutex_);
    std::vector<HourlyRow> result;
    for (const auto& [key, stored] : accounts_) {
      if (!matches(filter, key)) continue;
      for (auto row = stored.hours.lower_bound(from); row != stored.hours.end() && row->first < to; ++row) {
        result.push_back({key, row->first, row->second});
      }
    }
    return result;
  }

  Result<std::unique_ptr<CurveReader>> read_curve(const NodeKey& node, UtcRange range,
                                                  std::size_t limit) override {
    const std::lock_guard lock(mutex_);
    std::vector<CurvePoint> points;
    const auto found = curves_.find(node);
    if (found == curves_.end() || range.end <= range.begin) return read_points({});
    const auto begin = found->second.lower_bound(range.begin);
    auto end = found->second.lower_bound(range.end);
    while (end != begin && points.size() < limit) points.push_back((--end)->second);
    std::reverse(points.begin(), points.end());
    return read_points(std::move(points));
  }

  Result<std::vector<Seal>> seals() override { return values(seals_); }

  Status close_month(Month month, UtcTime at) override {
    const std::lock_guard lock(mutex_);
    TW_TRY(const bool due,
           is_next_to_close(seals_.empty() ? std::nullopt : std::optional(seals_.rbegin()->first.n), month));
    if (due) seals_[month] = {.month = month, .sealed_at = at, .hash = {}, .previous = {}};
    return {};
  }

  Result<bool> finish_seal(const Seal& seal) override {
    const std::lock_guard lock(mutex_);
    const auto stored = seals_.find(seal.month);
    if (stored == seals_.end() || !stored->second.hash.empty()) return false;
    const auto sealed_at = stored->second.sealed_at;
    stored->second = seal;
    stored->second.sealed_at = sealed_at;
    return true;
  }

  Status read_image(const ImageParts& parts, ImageSink& sink) override {
    // A copy: what the sink does may take long or ask this store.
    const auto image = copy(parts);
    for (const auto& task : image.tasks) TW_TRY_STATUS(sink.add(task));
    for (const auto& report : image.epochs) TW_TRY_STATUS(sink.add(report));
    for (const auto& hour : image.token_hours) TW_TRY_STATUS(sink.add(hour));
    for (const auto& counter : image.counters) TW_TRY_STATUS(sink.add(counter));
    for (const auto& token : image.tokens) TW_TRY_STATUS(sink.add(token));
    for (const auto& entry : image.audit) TW_TRY_STATUS(sink.add(entry));
    for (const auto& entry : image.market) TW_TRY_STATUS(sink.add(entry));
    for (const auto& node : image.nodes) TW_TRY_STATUS(sink.add(node));
    for (const auto& seal : image.seals) TW_TRY_STATUS(sink.add(seal));
    for (const auto& account : image.accounts) TW_TRY_STATUS(sink.add(account));
    for (const auto& adjustment : image.adjustments) TW_TRY_STATUS(sink.add(adjustment));
    for (const auto& row : image.hourly) TW_TRY_STATUS(sink.add(row));
    return TeamMerge(image.teams, sink).end();
  }
  [[nodiscard]] bool keeps_team_hours() const override { return true; }

  Status put_task(const TaskInfo& task) override {
    const std::lock_guard lock(mutex_);
    tasks_.insert_or_assign({task.cluster, task.task_id}, task);
    return {};
  }
  Result<std::vector<TaskInfo>> tasks() override { return values(tasks_); }
  Result<std::vector<TaskInfo>> moved_tasks() override {
    TW_TRY(auto all, tasks());
    std::erase_if(all, [](const TaskInfo& task) { return !task.at_once_at; });
    return all;
  }

  Result<bool> add_epoch(const EpochReport& report) override {
    const std::lock_guard lock(mutex_);
    return epochs_[{report.cluster, report.task_id}].emplace(report.epoch, report).second;
  }
  Result<std::vector<EpochReport>> epochs(const std::string& cluster, const std::string& task_id,
                                          std::size_t limit) override {
    const std::lock_guard lock(mutex_);
    std::vector<EpochReport> result;
    const auto found = epochs_.find({cluster, task_id});
    if (found == epochs_.end()) return result;
    for (auto row = found->second.rbegin(); row != found->second.rend() && result.size() < limit; ++row)
      result.push_back(row->second);
    std::reverse(result.begin(), result.end());
    return result;
  }
  Result<bool> add_usage(const UsageReport& report) override {
    const std::lock_guard lock(mutex_);
    if (!requests_.emplace(std::tuple{report.cluster, report.group_id, report.request_id}, report.at).second)
      return false;
    add_tokens(report.cluster, report.group_id, report.at, report.tokens);
    return true;
  }
  Result<std::optional<TokenCounter>> token_counter(const std::string& cluster,
                                                    const std::string& series) override {
    const std::lock_guard lock(mutex_);
    const auto found = counters_.find({cluster, series});
    return found == counters_.end() ? std::nullopt : std::optional(found->second);
  }
  Result<bool> step_token_counter(const CounterStep& step) override {
    const std::lock_guard lock(mutex_);
    const std::pair key{step.after.cluster, step.after.series};
    const auto found = counters_.find(key);
    const auto stands = found == counters_.end() ? std::nullopt : std::optional(found->second);
    if (stands != step.before) return false;
    counters_.insert_or_assign(key, step.after);
    if (!step.group_id.empty()) add_tokens(step.after.cluster, step.group_id, step.after.at, step.adds);
    return true;
  }
  Result<std::vector<TokenHour>> token_hours(UtcHour from, UtcHour to) override {
    const std::lock_guard lock(mutex_);
    std::vector<TokenHour> result;
    for (const auto& [key, hour] : token_hours_)
      if (hour.hour >= from && hour.hour < to) result.push_back(hour);
    return result;
  }
  Status forget_requests(UtcTime before) override {
    const std::lock_guard lock(mutex_);
    std::erase_if(requests_, [before](const auto& request) { return request.second < before; });
    return {};
  }

  Result<MarketAppend> append_market(const MarketEntry& entry) override {
    const std::lock_guard lock(mutex_);
    if (const auto known = market_keys_.find(entry.key); known != market_keys_.end())
      return market_[known->second] == entry ? MarketAppend::appended : MarketAppend::key_known;
    if (entry.seq != static_cast<std::int64_t>(market_.size()) + 1) return MarketAppend::seq_taken;
    market_keys_.emplace(entry.key, market_.size());
    market_.push_back(entry);
    return MarketAppend::appended;
  }
  Result<std::optional<MarketEntry>> market_entry(const std::string& key) override {
    const std::lock_guard lock(mutex_);
    const auto known = market_keys_.find(key);
    return known == market_keys_.end() ? std::nullopt : std::optional(market_[known->second]);
  }
  Result<std::vector<MarketEntry>> market_entries(std::int64_t after, std::size_t limit) override {
    const std::lock_guard lock(mutex_);
    const auto size = static_cast<std::int64_t>(market_.size());
    const auto first = std::clamp<std::int64_t>(after, 0, size);
    const auto count = std::min<std::int64_t>(
        size - first, static_cast<std::int64_t>(std::min<std::size_t>(limit, market_.size())));
    return std::vector<MarketEntry>(market_.begin() + first, market_.begin() + first + count);
  }

  Status put_token(const TokenRecord& token) override {
    const std::lock_guard lock(mutex_);
    tokens_.insert_or_assign(token.id, token);
    return {};
  }
  Result<bool> replace_token(const TokenRecord& before, const TokenRecord& ended,
                             const TokenRecord& successor) override {
    const std::lock_guard lock(mutex_);
    const auto known = tokens_.find(before.id);
    if (known == tokens_.end() || known->second.expires_at != before.expires_at ||
        known->second.revoked_at != before.revoked_at)
      return false;
    known->second = ended;
    tokens_.insert_or_assign(successor.id, successor);
    return true;
  }
  Result<std::vector<TokenRecord>> tokens() override { return values(tokens_); }

  Status append_audit(const AuditEntry& entry) override {
    const std::lock_guard lock(mutex_);
    audit_.push_back(entry);
    return {};
  }
  Result<std::vector<AuditEntry>> audit(std::size_t limit) override {
    const std::lock_guard lock(mutex_);
    const auto count = static_cast<std::ptrdiff_t>(std::min(limit, audit_.size()));
    return std::vector<AuditEntry>(audit_.rbegin(), audit_.rbegin() + count);
  }

  Status drop_curves(UtcTime before) override {
    const std::lock_guard lock(mutex_);
    const UtcTime first_kept = std::chrono::floor<std::chrono::days>(before);
    for (auto& [node, points] : curves_) points.erase(points.begin(), points.lower_bound(first_kept));
    return {};
  }

  Status ping() override { return {}; }

 private:
  template <class Map>
  Result<std::vector<typename Map::mapped_type>> values(const Map& map) {
    const std::lock_guard lock(mutex_);
    std::vector<typename Map::mapped_type> result;
    result.reserve(map.size());
    for (const auto& [key, value] : map) result.push_back(value);
    return result;
  }

  struct Image {
    std::vector<TaskInfo> tasks;
    std::vector<EpochReport> epochs;
    std::vector<TokenHour> token_hours;
    std::vector<TokenCounter> counters;
    std::vector<TokenRecord> tokens;
    std::vector<AuditEntry> audit;
    std::vector<MarketEntry> market;
    std::vector<NodeImage> nodes;
    std::vector<Seal> seals;
    std::vector<Account> accounts;
    std::vector<Adjustment> adjustments;
    std::vector<HourlyRow> hourly;
    TeamSums teams;
  };

  Image copy(const ImageParts& parts) {
    const std::lock_guard lock(mutex_);
    Image image;
    if (parts.registry) {
      for (const auto& [key, task] : tasks_) image.tasks.push_back(task);
      for (const auto& [key, reports] : epochs_)
        for (const auto& [epoch, report] : reports) image.epochs.push_back(report);
      for (const auto& [key, hour] : token_hours_) image.token_hours.push_back(hour);
      for (const auto& [key, counter] : counters_) image.counters.push_back(counter);
      for (const auto& [id, token] : tokens_) image.tokens.push_back(token);
      image.audit = audit_;
      image.market = market_;
    }
    if (parts.nodes) copy_nodes(image.nodes);
    if (parts.seals)
      for (const auto& [month, seal] : seals_) image.seals.push_back(seal);
    for (const auto& [key, stored] : accounts_) {
      if (parts.accounts)
        image.accounts.push_back({key, stored.totals, stored.first_sample_at, stored.last_sample_at});
      if (parts.team_hours && wants_team_hours_of(parts, key))
        add_team_hours(image.teams, parts, key, stored);
      if (!matches(parts.filter, key)) continue;
      const auto [late_begin, late_end] = hours_within(stored.late, parts.from, parts.to);
      if (parts.adjustments)
        for (auto row = late_begin; row != late_end; ++row)
          image.adjustments.push_back({key, row->first, row->second, std::nullopt, std::string(kLateReason)});
      const auto [begin, end] = hours_within(stored.hours, parts.from, parts.to);
      if (parts.hourly)
        for (auto row = begin; row != end; ++row)
          if (!parts.after || std::tie(parts.after->first, parts.after->second) < std::tie(key, row->first))
            image.hourly.push_back({key, row->first, row->second});
    }
    const auto by_hour = [](const auto& a, const auto& b) { return a.hour < b.hour; };
    std::stable_sort(image.adjustments.begin(), image.adjustments.end(), by_hour);
    if (parts.by_hour) std::stable_sort(image.hourly.begin(), image.hourly.end(), by_hour);
    return image;
  }

  /// Added up when asked for: nothing is kept that could differ from the rows.
  void add_team_hours(TeamSums& sums, const ImageParts& parts, const AccountKey& key,
                      const StoredAccount& stored) const {
    TeamKey sum{key.scope, {}, false, key.cluster, {}, key.domain};
    if (const auto task = tasks_.find({key.cluster, key.id});
        key.scope == Scope::task_device && task != tasks_.end())
      sum.team = task->second.team;
    for (const auto* hours : {&stored.hours, &stored.late}) {
      const auto [begin, end] = hours_within(*hours, parts.from, parts.to);
      sum.late = hours == &stored.late;
      for (auto row = begin; row != end; ++row) {
        sum.hour = row->first;
        sums.add(sum, row->second, 1);
      }
    }
  }

  void copy_nodes(std::vector<NodeImage>& nodes) {
    std::map<NodeKey, NodeImage> found;
    for (const auto& [key, cursor] : cursors_)
      found[key] = {key, cursor.revision, encode(*cursor.cursor), nullptr};
    for (const auto& [key, info] : nodes_) {
      found[key].key = key;
      found[key].info = info;
    }
    for (auto& [key, node] : found) nodes.push_back(std::move(node));
  }

  void add_tokens(const std::string& cluster, const std::string& group, UtcTime at, const Tokens& adds) {
    const auto hour = hour_of(at);
    auto& row =
        token_hours_.try_emplace({cluster, group, hour}, TokenHour{cluster, group, hour, {}}).first->second;
    row.tokens.prompt += adds.prompt;
    row.tokens.completion += adds.completion;
  }

  AccrueOutcome apply(const Accrual& accrual) {
    auto current = cursors_.find(accrual.node);
    const auto revision = current == cursors_.end() ? 0 : current->second.revision;
    if (revision != accrual.expected_revision) return AccrueOutcome::conflict;
    cursors_.insert_or_assign(accrual.node, VersionedCursor{revision + 1, accrual.next});
    for (const auto& delta : accrual.deltas) {
      auto& account = accounts_[delta.key];
      widen(account.first_sample_at, account.last_sample_at, delta.first_sample_at, delta.last_sample_at);
      for (const auto& row : delta.hours) {
        account.totals += row.measures;
        const bool late = !seals_.empty() && row.hour < seals_.rbegin()->first.end();
        (late ? account.late : account.hours)[row.hour] += row.measures;
      }
    }
    for (const auto& point : accrual.curve) curves_[accrual.node].insert_or_assign(point.at, point);
    return AccrueOutcome::applied;
  }

  std::mutex mutex_;
  std::map<NodeKey, VersionedCursor> cursors_;
  std::map<NodeKey, SharedNode> nodes_;
  std::map<AccountKey, StoredAccount> accounts_;
  std::map<NodeKey, std::map<UtcTime, CurvePoint>> curves_;
  std::map<Month, Seal> seals_;
  std::map<std::pair<std::string, std::string>, TaskInfo> tasks_;
  std::map<std::pair<std::string, std::string>, std::map<std::int64_t, EpochReport>> epochs_;
  std::map<std::tuple<std::string, std::string, std::string>, UtcTime> requests_;
  std::map<std::tuple<std::string, std::string, UtcHour>, TokenHour> token_hours_;
  std::map<std::pair<std::string, std::string>, TokenCounter> counters_;
  std::map<std::string, TokenRecord> tokens_;
  std::vector<AuditEntry> audit_;
  std::vector<MarketEntry> market_;
  std::map<std::string, std::size_t> market_keys_;
};

}  // namespace

std::unique_ptr<Store> make_memory_store() { return std::make_unique<MemoryStore>(); }

}  // namespace tidewatt::store
