#include "tidewatt/store/market_journal.h"

#include <utility>

#include "tidewatt/market/codec.h"

namespace tidewatt::store {
namespace {

class StoreJournal final : public market::Journal {
 public:
  explicit StoreJournal(ledger::Store& store) : store_(store) {}

  Result<market::Appended> append(const market::Record& record) override {
    TW_TRY(const auto outcome, store_.append_market({static_cast<std::int64_t>(record.seq), record.key,
                                                     record.at, market::encode(record)}));
    return outcome == ledger::MarketAppend::appended    ? market::Appended::done
           : outcome == ledger::MarketAppend::key_known ? market::Appended::key_known
                                                        : market::Appended::seq_taken;
  }
  Result<std::optional<market::Record>> find(const std::string& key) override {
    TW_TRY(const auto entry, store_.market_entry(key));
    if (!entry) return std::nullopt;
    TW_TRY(auto record, record_of(*entry));
    return std::optional(std::move(record));
  }
  Result<std::vector<market::Record>> read(std::uint64_t after, std::size_t limit) override {
    TW_TRY(const auto entries, store_.market_entries(static_cast<std::int64_t>(after), limit));
    std::vector<market::Record> records;
    records.reserve(entries.size());
    for (const auto& entry : entries) {
      TW_TRY(auto record, record_of(entry));
      records.push_back(std::move(record));
    }
    return records;
  }

 private:
  static Result<market::Record> record_of(const ledger::MarketEntry& entry) {
    auto record = market::decode(entry.body);
    if (!record) return tl::unexpected(record.error().with_context("entry " + std::to_string(entry.seq)));
    record->seq = static_cast<std::uint64_t>(entry.seq);
    record->key = entry.key;
    record->at = entry.at;
    return record;
  }

  ledger::Store& store_;
};

}  // namespace

std::unique_ptr<market::Journal> market_journal(ledger::Store& store) {
  return std::make_unique<StoreJournal>(store);
}

}  // namespace tidewatt::store
