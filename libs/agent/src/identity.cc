#include "tidewatt/agent/identity.h"

#include <fmt/format.h>

#include <algorithm>

#include "tidewatt/base/log.h"
#include "tidewatt/units/text.h"

namespace tidewatt::agent {
namespace {

constexpr std::string_view kFile = "identity";
constexpr std::size_t kIdDigits = 16;

bool is_hex_id(std::string_view text) {
  return text.size() == kIdDigits &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/// The rest of `text` up to the next newline, taken away from it.
std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  if (end == std::string_view::npos) return {};  // a line without an end isn't whole
  const auto line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

}  // namespace

Identity::Identity(FileSystem& files, Rng& rng, std::string folder, std::string boot_id, const Spool& spool)
    : files_(files),
      folder_(std::move(folder)),
      path_(folder_ + "/" + std::string(kFile)),
      boot_id_(std::move(boot_id)) {
  const std::uint64_t last = spool.next_id() - 1;
  const auto text = files_.read_text(path_, 4096);
  // An identity beside a spool that is gone would number its beats anew, and the server would know them all.
  const bool lost = spool.stats().damaged || (spool.stats().fresh && text);
  if (!lost && text && read(*text) && base_ <= last) return;
  if (agent_id_.empty() || lost || base_ > last) {
    agent_id_ = fmt::format("{:016x}", rng.next());
    if (last > 0 || lost)
      log::warning("goes on under a new agent id: which numbers the beats before had isn't certain",
                   {{"agent_id", agent_id_}, {"folder", folder_}});
  }
  base_ = last;  // a new boot or a new agent: its first beat is number 1
  save();
}

/// @return true when it is of this boot. On false agent_id_ may still have been read: a new boot of the same
/// agent.
bool Identity::read(const std::string& text) {
  std::string_view rest = text;
  const std::string_view id = take_line(rest);
  const std::string_view boot = take_line(rest);
  const auto base = parse_uint64(take_line(rest));
  if (!is_hex_id(id) || !base) return false;
  agent_id_ = id;
  base_ = *base;
  saved_ = true;
  return !boot_id_.empty() && boot == boot_id_;
}

void Identity::save() {
  const auto written =
      files_.write_atomically(path_, fmt::format("{}\n{}\n{}\n", agent_id_, boot_id_, base_));
  saved_ = written.has_value();
  if (!written) log::warning("the agent's id can't be saved", {{"error", written.error().to_string()}});
}

void Identity::beats_are_on_disk(bool on_disk) {
  if (on_disk == saved_) return;
  if (on_disk) {
    save();
  } else {
    (void)files_.remove(path_);
    saved_ = false;
  }
}

}  // namespace tidewatt::agent
