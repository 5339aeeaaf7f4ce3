#include "man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace tidewatt::cli {
namespace {

/// As roff prints it: no line is taken for a request, and hyphens can be copied.
std::string roff(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    line_begins = c == '\n';
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string names_of(const OptionInfo& option) {
  if (option.names.empty()) return "\\fI" + roff(option.positional) + "\\fR";
  std::string out;
  for (const auto& name : option.names) out += (out.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
  if (!option.value.empty()) out += " \\fI" + roff(option.value) + "\\fR";
  return out;
}

std::string synopsis(const CommandInfo& command) {
  std::string out = ".B " + roff(path_text(command)) + "\n";
  if (!command.commands.empty()) return out + "\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n";
  for (const auto& option : command.options)
    if (option.required && !option.names.empty()) out += names_of(option) + "\n";
  out += "[\\fIOPTIONS\\fR]\n";
  for (const auto& option : command.options) {
    if (!option.names.empty()) continue;
    const auto name = "\\fI" + roff(option.positional) + "\\fR" + (option.repeated ? "..." : "");
    out += option.required ? name + "\n" : "[" + name + "]\n";
  }
  return out;
}

std::string options_section(const CommandInfo& command) {
  std::string out;
  for (const auto& option : command.options) {
    out += ".TP\n" + names_of(option) + "\n" + roff(option.description) + "\n";
    if (option.description.empty()) out += "\\&\n";
    if (!option.default_value.empty()) out += "(default: " + roff(option.default_value) + ")\n";
    if (!option.environment.empty()) out += "(environment: " + roff(option.environment) + ")\n";
    if (option.required) out += "It is required.\n";
  }
  return out.empty() ? out : ".SH OPTIONS\n" + out;
}

/// "Example: a\n         b" as lines that can be copied.
std::string examples_section(const CommandInfo& command) {
  if (command.footer.empty()) return {};
  return ".SH EXAMPLES\n.nf\n" + roff(command.footer) + "\n.fi\n";
}

std::string see_also(const CommandInfo& command) {
  std::string out;
  std::string above;
  for (std::size_t i = 0; i + 1 < command.path.size(); ++i) {
    above += (above.empty() ? "" : "-") + command.path[i];
    out += (out.empty() ? "" : ",\n") + fmt::format(".BR {} (1)", roff(above));
  }
  for (const auto& below : command.commands)
    out += (out.empty() ? "" : ",\n") + fmt::format(".BR {} (1)", roff(path_text(below, "-")));
  return out.empty() ? out : ".SH SEE ALSO\n" + out + "\n";
}

}  // namespace

std::string man_file_name(const CommandInfo& command) { return path_text(command, "-") + ".1"; }

std::string man_page(const CommandInfo& command, const std::string& version) {
  const auto name = path_text(command, "-");
  std::string out = fmt::format(".TH {} 1 \"\" \"tidewatt {}\" \"Tidewatt\"\n", upper(roff(name)), version);
  out += fmt::format(".SH NAME\n{} \\- {}\n", roff(name), roff(command.description));
  out += ".SH SYNOPSIS\n" + synopsis(command);
  if (!command.commands.empty()) {
    out += ".SH COMMANDS\n";
    for (const auto& below : command.commands)
      out += fmt::format(".TP\n.B {}\n{}\n", roff(below.path.back()), roff(below.description));
  }
  out += options_section(command) + examples_section(command);
  out +=
      ".SH EXIT STATUS\n.TP\n0\nDone.\n.TP\n1\nIt could not be done; the reason stands on standard error.\n"
      ".TP\n2\nThe command was used wrongly.\n";
  return out + see_also(command);
}

}  // namespace tidewatt::cli
