#include "card_families.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidewatt::agent {
namespace {

std::string written(const SourceSpec& spec) {
  if (spec.kind == "tool") return "tool:" + spec.tool;
  if (spec.kind == "replay") return "replay:" + spec.file;
  if (!spec.target.empty()) return spec.kind + ":" + spec.target;
  return spec.kind;
}

bool same_outlets(const SourceSpec& a, const SourceSpec& b) {
  if (a.target != b.target) return false;
  const auto whole = [](const SourceSpec& s) { return s.option("model") != nullptr; };
  if (whole(a) || whole(b)) return true;
  return std::ranges::any_of(a.options, [&](const auto& option) {
    return option.first == "oid" && std::ranges::find(b.options, option) != b.options.end();
  });
}

/// Why the two measure the same; empty when they don't.
std::string clash_of(const SourceSpec& a, const SourceSpec& b) {
  const auto* family = family_of(a);
  if (family != nullptr && family == family_of(b)) {
    if (written(a) == written(b))
      return fmt::format("{} stands twice: its cards would count twice", written(a));
    return fmt::format(
        "{} and {} read the same cards ({}), which would count twice; keep one, or auto, which tries "
        "them in order",
        written(a), written(b), family->name);
  }
  const auto pair = [&](std::string_view kind) {
    const bool first = a.kind == kind || a.kind == "auto";
    const bool second = b.kind == kind || b.kind == "auto";
    return first && second;
  };
  if (a.kind == "auto" && b.kind == "auto") return "auto stands twice";
  for (const std::string_view kind : {"rapl", "hwmon"})
    if (pair(kind))
      return a.kind == b.kind
                 ? fmt::format("{} stands twice: it would count twice", kind)
                 : fmt::format("auto has {} too: it would count twice; leave out {}", kind, kind);
  if (a.kind == "sim" && b.kind == "sim")
    return "sim stands twice: its devices have the same names; give one with more cards (sim:gpus=16)";
  if (a.kind == "replay" && b.kind == "replay" && a.file == b.file)
    return fmt::format("{} stands twice: it would count twice", written(a));
  if (a.kind == "snmp" && b.kind == "snmp" && same_outlets(a, b))
    return fmt::format("{} stands twice with the same outlets: they would count twice", written(a));
  return {};
}

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> kAll{{"nvidia", {"nvml"}, {"nvidia-smi"}},
                                        {"amd", {"amdsmi", "rocm-smi-lib"}, {"amd-smi", "rocm-smi"}},
                                        {"intel", {"level-zero"}, {"xpu-smi"}},
                                        {"hygon", {"hygon-smi-lib"}, {"hy-smi"}},
                                        {"huawei", {"dcmi"}, {"npu-smi"}},
                                        {"cambricon", {"cndev"}, {"cnmon"}},
                                        {"metax", {"mxsml"}, {"mx-smi"}},
                                        {"enflame", {"efml"}, {"efsmi"}},
                                        {"mthreads", {"mtml"}, {"mthreads-gmi"}},
                                        {"habana", {"hlml"}, {"hl-smi"}},
                                        {"kunlunxin", {"xpuml"}, {"kunlunxin-xpu-smi"}},
                                        {"iluvatar", {}, {"ixsmi"}},
                                        {"biren", {}, {"brsmi"}},
                                        {"tenstorrent", {}, {"tt-smi"}}};
  return kAll;
}

const Family* family_of(const SourceSpec& spec) {
  const auto& way = spec.kind == "tool" ? spec.tool : spec.kind;
  const auto has = [&](const Family& family) {
    return std::ranges::find(family.libraries, way) != family.libraries.end() ||
           std::ranges::find(family.tools, way) != family.tools.end();
  };
  const auto found = std::ranges::find_if(families(), has);
  return found == families().end() ? nullptr : &*found;
}

std::vector<std::string> check_sources_once(const std::vector<SourceSpec>& sources) {
  std::vector<std::string> problems;
  for (std::size_t later = 1; later < sources.size(); ++later)
    for (std::size_t earlier = 0; earlier < later; ++earlier)
      if (auto clash = clash_of(sources[earlier], sources[later]);
          !clash.empty() && std::ranges::find(problems, clash) == problems.end())
        problems.push_back(std::move(clash));
  return problems;
}

}  // namespace tidewatt::agent
