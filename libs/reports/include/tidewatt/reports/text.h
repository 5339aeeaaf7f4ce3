// A report as text. The same report gives the same bytes: nothing here asks for the time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tidewatt/reports/report.h"

namespace tidewatt::reports {

/// Of the forms for people; JSON and CSV have codes and are the same in each.
enum class Language { en, zh };
/// en, zh
std::optional<Language> language_from(std::string_view text);

enum class Format { json, csv, markdown, html };
/// json, csv, md, html
std::optional<Format> format_from(std::string_view text);
std::string_view media_type(Format format);
std::string_view file_ending(Format format);

std::string to_json(const Report& report);
std::string to_csv(const Report& report);
std::string to_markdown(const Report& report, Language language = Language::en);
/// One file with its figures in it as SVG; prints on A4.
std::string to_html(const Report& report, Language language = Language::en);
std::string to_text(const Report& report, Format format, Language language = Language::en);

/// What a reason's code means: part of a sentence.
std::string_view text_of(std::string_view reason, Language language = Language::en);

}  // namespace tidewatt::reports
