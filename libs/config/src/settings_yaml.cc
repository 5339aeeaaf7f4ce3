#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <set>

#include "tidewatt/config/settings.h"
#include "tidewatt/config/suggest.h"

namespace tidewatt::config {
namespace {

constexpr int kDeepest = 8;  // sections; a file nested deeper is a mistake or an attack

std::string at(const std::string& file, const YAML::Mark& mark) {
  return mark.is_null() ? file : fmt::format("{}:{}:{}", file, mark.line + 1, mark.column + 1);
}

}  // namespace

/// Walks a document once and hands each value to its setting.
class YamlLoader {
 public:
  YamlLoader(Settings& settings, const std::string& file) : settings_(settings), file_(file) {
    known_ = settings.table_.file_paths();
  }

  void section(const YAML::Node& node, const std::string& prefix, int depth) {
    std::set<std::string> seen;
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) {
        settings_.problem(at(file_, entry.first.Mark()), prefix, "a key must be a word");
        continue;
      }
      const std::string key = entry.first.Scalar();
      const std::string path = prefix.empty() ? key : prefix + "." + key;
      const std::string where = at(file_, entry.first.Mark());
      if (!seen.insert(key).second) {
        settings_.problem(where, path, "given twice; keep one");
        continue;
      }
      entry_of(path, where, entry.second, depth);
    }
  }

 private:
  void entry_of(const std::string& path, const std::string& where, const YAML::Node& node, int depth) {
    if (const Setting* setting = find(path)) {
      value(*setting, path, at(file_, node.Mark().is_null() ? YAML::Mark() : node.Mark()), node);
    } else if (const Setting* secret = settings_.table_.find(path); secret != nullptr && !secret->flag_only) {
      settings_.problem(where, path,
                        fmt::format("a secret doesn't belong into this file; name a file with {}_file{}",
                                    path, secret->env.empty() ? "" : " or set " + secret->env));
    } else if (is_section(path)) {
      if (node.IsMap() && depth < kDeepest) {
        section(node, path, depth + 1);
      } else if (!node.IsNull()) {
        settings_.problem(where, path, "is a section and holds keys, not a value");
      }
    } else {
      const std::string guess = nearest(path, known_);
      settings_.problem(where, path,
                        guess.empty() ? "unknown key" : fmt::format("unknown key; did you mean {}?", guess));
    }
  }

  const Setting* find(const std::string& path) const {
    for (const auto& setting : settings_.table_.settings()) {
      if (setting.flag_only) continue;
      if (setting.kind == Kind::secret ? path == setting.path + "_file" : path == setting.path)
        return &setting;
    }
    return nullptr;
  }

  bool is_section(const std::string& path) const {
    const std::string prefix = path + ".";
    for (const auto& one : known_) {
      if (one.starts_with(prefix)) return true;
    }
    return false;
  }

  void value(const Setting& setting, const std::string& path, const std::string& where,
             const YAML::Node& node) {
    if (node.IsNull()) return;  // "key:" alone: as if absent
    if (setting.kind == Kind::list) {
      list(setting, path, where, node);
    } else if (setting.kind == Kind::map) {
      map(setting, path, where, node);
    } else if (node.IsScalar()) {
      settings_.assign(setting, node.Scalar(), where);
    } else {
      settings_.problem(where, path,
                        fmt::format("must be one value ({}), not a {}", to_string(setting.kind),
                                    node.IsMap() ? "section" : "list"));
    }
  }

  void list(const Setting& setting, const std::string& path, const std::string& where,
            const YAML::Node& node) {
    Settings::Value value;
    value.where = where;
    if (node.IsScalar()) {
      value.items.push_back(node.Scalar());
    } else if (node.IsSequence()) {
      for (const auto& item : node) {
        if (!item.IsScalar()) {
          settings_.problem(at(file_, item.Mark()), path, "each item must be one word or text");
          return;
        }
        value.items.push_back(item.Scalar());
      }
    } else {
      settings_.problem(where, path, "must be a list, such as [a, b]");
      return;
    }
    settings_.store(setting, std::move(value));
  }

  void map(const Setting& setting, const std::string& path, const std::string& where,
           const YAML::Node& node) {
    Settings::Value value;
    value.where = where;
    if (!node.IsMap()) {
      settings_.problem(where, path, "must be a section of key: text");
      return;
    }
    for (const auto& entry : node) {
      if (!entry.first.IsScalar() || !entry.second.IsScalar()) {
        settings_.problem(at(file_, entry.first.Mark()), path, "must hold key: text only");
        return;
      }
      value.pairs.emplace_back(entry.first.Scalar(), entry.second.Scalar());
    }
    settings_.store(setting, std::move(value));
  }

  Settings& settings_;
  const std::string& file_;
  std::vector<std::string> known_;
};

void Settings::load_yaml(std::string_view text, const std::string& name) {
  // yaml-cpp reports by exception; this is the one place that wraps it.
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
    if (documents.empty() || documents.front().IsNull()) return;
    if (documents.size() > 1) {
      problem(name, "", "holds several YAML documents; keep one");
      return;
    }
    if (!documents.front().IsMap()) {
      problem(at(name, documents.front().Mark()), "", "must hold key: value lines");
      return;
    }
    YamlLoader(*this, name).section(documents.front(), "", 0);
  } catch (const YAML::Exception& error) {
    file_understood_ = false;
    problem(at(name, error.mark), "", "no YAML: " + error.msg);
  }
}

}  // namespace tidewatt::config
