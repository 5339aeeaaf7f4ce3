// Hourly rows, adjustments, seals and findings as text: the API's answers and the offline commands print the
// same.
#pragma once

#include <string>

#include "tidewatt/ledger/months.h"

namespace tidewatt::api {

/// The CSV's first line.
std::string export_head();
/// One line each, with its end. A field that a spreadsheet would take for a formula gets an apostrophe.
void append_csv(const ledger::HourlyRow& row, std::string& out);
void append_csv(const ledger::Adjustment& adjustment, std::string& out);
/// One JSON object each; energies are decimal strings.
void append_json(const ledger::HourlyRow& row, std::string& out);
void append_json(const ledger::Adjustment& adjustment, std::string& out);

std::string seal_json(const ledger::Seal& seal);
std::string verification_json(const ledger::Verification& found);

}  // namespace tidewatt::api
