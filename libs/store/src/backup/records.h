// The records of a backup: a kind, a length, and what ByteWriter made of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tidewatt/base/result.h"
#include "tidewatt/ledger/store.h"
#include "tidewatt/store/backup.h"

namespace tidewatt::store {

enum class RecordKind : std::uint8_t {
  task = 1,
  token = 2,
  audit = 3,
  node = 4,
  seal = 5,
  account = 6,
  adjustment = 7,
  hour = 8,
  end = 9,  ///< what was written, and the SHA-256 of all before
  epoch = 10,
  token_hour = 11,
  token_counter = 12,
  market = 13,
};

std::string encode_record(const ledger::TaskInfo& task);
std::string encode_record(const ledger::EpochReport& report);
std::string encode_record(const ledger::TokenHour& hour);
std::string encode_record(const ledger::TokenCounter& counter);
std::string encode_record(const ledger::MarketEntry& entry);
std::string encode_record(const ledger::TokenRecord& token);
std::string encode_record(const ledger::AuditEntry& entry);
std::string encode_record(const ledger::NodeImage& node);
std::string encode_record(const ledger::Seal& seal);
std::string encode_record(const ledger::Account& account);
std::string encode_record(const ledger::Adjustment& adjustment);
std::string encode_record(const ledger::HourlyRow& row);
std::string encode_end(const BackupSummary& summary, std::string_view sha256);

/// Counts what goes by.
void count(BackupSummary& summary, RecordKind kind, const ledger::Account* account);

/// Gives any record but the end to `sink`, and counts it. @error corrupt, or the sink's own
Status give_record(RecordKind kind, std::string_view payload, BackupSummary& summary,
                   ledger::ImageSink& sink);
struct EndRecord {
  BackupSummary summary;
  std::string sha256;
};
Result<EndRecord> decode_end(std::string_view payload);

}  // namespace tidewatt::store
