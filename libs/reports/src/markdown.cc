#include <fmt/format.h>

#include "statements.h"
#include "tables.h"
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

void add_table(std::string& out, const Table& table) {
  out += "\n## " + table.title + "\n\n|";
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

void add_list(std::string& out, std::string_view title, const std::vector<std::string>& items) {
  if (items.empty()) return;
  out += fmt::format("\n## {}\n\n", title);
  for (const auto& item : items) out += "- " + cell(item) + "\n";
}

}  // namespace

std::string to_markdown(const Report& report, Language language) {
  const Words& words = words_of(language);
  std::string out = "# " + title_of(report, words) + "\n\n";
  for (const auto& warning : warnings_of(report, words)) out += "> " + cell(warning) + "\n\n";
  for (const auto& fact : facts_of(report, words))
    out += "- " + cell(fact.name) + std::string{words.colon} + cell(fact.text) + "\n";
  const auto tables = tables_of(report, language);
  for (const auto& table : tables.tables) add_table(out, table);
  add_list(out, words.unknown_title, tables.unknown);
  add_list(out, words.notes, notes_of(report, words));
  return out;
}

}  // namespace tidewatt::reports
