#include "shown.h"
#include "tidewatt/reports/text.h"

namespace tidewatt::reports {
namespace {

/// Names come from agents: nothing in them may end a cell or begin markup.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      out += ' ';
      continue;
    }
    if (c == '|' || c == '<' || c == '>' || c == '`' || c == '*' || c == '_' || c == '[' || c == ']' ||
        c == '\\')
      out += '\\';
    out += c;
  }
  return out;
}

void add_table(std::string& out, const std::string& title, const Table& table) {
  out += "\n## " + title + "\n\n|";
  for (const auto& name : table.head) out += " " + cell(name) + " |";
  out += "\n|";
  for (std::size_t i = 0; i < table.head.size(); ++i) out += i == 0 ? " --- |" : " ---: |";
  out += "\n";
  for (const auto& row : table.rows) {
    out += "|";
    for (const auto& text : row) out += " " + cell(text) + " |";
    out += "\n";
  }
}

}  // namespace

std::string to_markdown(const Report& report) {
  std::string out = "# " + title_of(report) + "\n\n";
  for (const auto& fact : facts_of(report)) out += "- " + cell(fact.name) + ": " + cell(fact.text) + "\n";
  add_table(out, "Energy", energy_table(report));
  if (report.view.visible) {
    add_table(out, "Carbon", carbon_table(report));
    add_table(out, "Beside it", beside_table(report));
  }
  add_table(out, "Money", money_table(report));
  out += "\n## Notes\n\n";
  for (const auto& note : notes_of(report)) out += "- " + cell(note) + "\n";
  return out;
}

}  // namespace tidewatt::reports
