#include "tidewatt/api/power_forward.h"

namespace tidewatt::api {

PowerRound power_of(const Beat& beat) {
  PowerRound round;
  if (!beat.sampled_at) return round;
  round.cluster = beat.cluster;
  round.node_id = beat.node_id;
  round.at = *beat.sampled_at;
  for (const auto& device : beat.devices)
    if (device.power && device.quality != Quality::estimated)
      round.devices.push_back({device.domain, device.index, device.uuid, device.quality, *device.power});
  return round;
}

}  // namespace tidewatt::api
