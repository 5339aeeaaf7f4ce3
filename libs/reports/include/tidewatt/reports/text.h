// A report as text. The same report gives the same bytes: nothing here asks for the time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tidewatt/reports/report.h"

namespace tidewatt::reports {

enum class Format { json, csv, markdown, html };
/// json, csv, md, html
std::optional<Format> format_from(std::string_view text);
std::string_view media_type(Format format);
std::string_view file_ending(Format format);

std::string to_json(const Report& report);
std::string to_csv(const Report& report);
std::string to_markdown(const Report& report);
/// One file with its figures in it as SVG; prints on A4.
std::string to_html(const Report& report);
std::string to_text(const Report& report, Format format);

}  // namespace tidewatt::reports
