#include "tidewatt/metering/beat.h"

#include <array>

namespace tidewatt {
namespace {

constexpr std::array<std::pair<HolderState, std::string_view>, 8> kStates{{
    {HolderState::starting, "starting"},
    {HolderState::running, "running"},
    {HolderState::stopping, "stopping"},
    {HolderState::suspended, "suspended"},
    {HolderState::sleeping, "sleeping"},
    {HolderState::queued, "queued"},
    {HolderState::finished, "finished"},
    {HolderState::unknown, "unknown"},
}};

}  // namespace

std::string_view to_string(Quality quality) {
  switch (quality) {
    case Quality::measured:
      return "measured";
    case Quality::estimated:
      return "estimated";
    case Quality::simulated:
      return "simulated";
  }
  return "measured";
}

std::string_view to_string(HolderState state) {
  for (const auto& [known, text] : kStates)
    if (known == state) return text;
  return "unknown";
}

std::string_view to_string(SourceState state) {
  switch (state) {
    case SourceState::ok:
      return "ok";
    case SourceState::failed:
      return "failed";
    case SourceState::absent:
      return "absent";
    case SourceState::starting:
      return "starting";
  }
  return "failed";
}

SourceState source_state_from(std::string_view text) {
  for (const auto state : {SourceState::ok, SourceState::starting, SourceState::absent})
    if (to_string(state) == text) return state;
  return SourceState::failed;
}

HolderState holder_state_from(std::string_view text) {
  for (const auto& [state, known] : kStates)
    if (known == text) return state;
  return HolderState::unknown;
}

}  // namespace tidewatt
