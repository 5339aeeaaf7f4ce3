#include "tidewatt/ledger/image.h"

namespace tidewatt::ledger {

Status ImageSink::add(const Seal&) { return {}; }
Status ImageSink::add(const NodeImage&) { return {}; }
Status ImageSink::add(const Account&) { return {}; }
Status ImageSink::add(const HourlyRow&) { return {}; }
Status ImageSink::add(const Adjustment&) { return {}; }
Status ImageSink::add(const TeamHour&) { return {}; }
Status ImageSink::add(const TaskInfo&) { return {}; }
Status ImageSink::add(const EpochReport&) { return {}; }
Status ImageSink::add(const TokenHour&) { return {}; }
Status ImageSink::add(const TokenCounter&) { return {}; }
Status ImageSink::add(const TokenRecord&) { return {}; }
Status ImageSink::add(const AuditEntry&) { return {}; }
Status ImageSink::add(const MarketEntry&) { return {}; }

}  // namespace tidewatt::ledger
