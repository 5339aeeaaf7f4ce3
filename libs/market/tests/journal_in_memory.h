// A journal that remembers the last keys, and all records or none.
#pragma once

#include <deque>
#include <unordered_map>

#include "tidewatt/market/market.h"

namespace tidewatt::market::testing {

class MemoryJournal final : public Journal {
 public:
  explicit MemoryJournal(std::size_t kept = SIZE_MAX) : kept_(kept) {}

  Result<Appended> append(const Record& record) override {
    if (record.seq != last_ + 1) return Appended::seq_taken;
    if (keys_.contains(record.key)) return Appended::key_known;
    last_ = record.seq;
    keys_[record.key] = record.seq;
    records_.push_back(record);
    if (records_.size() > kept_) {
      keys_.erase(records_.front().key);
      records_.pop_front();
    }
    return Appended::done;
  }
  Result<std::optional<Record>> find(const std::string& key) override {
    const auto found = keys_.find(key);
    if (found == keys_.end()) return std::nullopt;
    return records_[found->second - records_.front().seq];
  }
  Result<std::vector<Record>> read(std::uint64_t after, std::size_t limit) override {
    std::vector<Record> found;
    if (after >= last_) return found;
    const auto first = records_.front().seq;
    for (auto i = after < first ? 0 : after - first + 1; i < records_.size() && found.size() < limit; ++i)
      found.push_back(records_[i]);
    return found;
  }
  [[nodiscard]] std::size_t size() const { return last_; }

 private:
  std::size_t kept_;
  std::uint64_t last_ = 0;
  std::deque<Record> records_;
  std::unordered_map<std::string, std::uint64_t> keys_;
};

}  // namespace tidewatt::market::testing
