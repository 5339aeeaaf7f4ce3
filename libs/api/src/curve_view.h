// Curves for charts: down-sampled so that extremes survive, unknown left out and named as gaps.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core.h"
#include "tidewatt/carbon/cpu_estimate.h"
#include "tidewatt/ledger/curve.h"

namespace tidewatt::api {

struct CurveRequest {
  UtcRange range;
  std::size_t points = 2000;     ///< at most so many buckets a device
  Milliseconds max_gap{60'000};  ///< longer silence is a gap
  UtcTime now{};                 ///< what lies ahead isn't a gap
  /// Only what these tasks held, while they held it; nullptr = everything.
  const std::set<std::string>* held_by = nullptr;
  bool with_sum = true;
  const carbon::CpuPowerModel* cpu_model = nullptr;  ///< nullptr = no estimate of the CPU's power
};

struct CurveBucket {
  UtcTime at{};                       ///< mean time of its samples
  double mean = 0, min = 0, max = 0;  ///< watts
  int known = 0, total = 0;  ///< of the sum: devices known of devices listed, the worst in the bucket
};
struct CurveSeries {
  std::string node_id;
  int index = 0;  ///< -1 = the sum of the domain's known devices
  std::string domain;
  std::string quality;  ///< measured | simulated | estimated | mixed
  std::optional<Milliwatts> limit;
  std::vector<CurveBucket> points;
};
struct CurveGap {
  UtcRange range;
  bool no_data = false;  ///< nothing came from the node; else the device was unknown
  std::string key;       ///< the device, when it was unknown
  /// Time of it without a value: a stretch is drawn from the last known sample to the next and near ones are
  /// joined, but only the beats in between had none.
  Milliseconds lasting{0};
};
struct NodeCurves {
  Milliseconds bucket{0};  ///< 0 = every beat is a point
  bool downsampled = false;
  std::vector<CurveSeries> series;
  std::vector<CurveGap> gaps;
  std::vector<CurveBucket> cpu_points;  ///< estimated; empty where no utilisation is known
};

/// @param points inside the range  @error corrupt  as the reader says
Result<NodeCurves> node_curves(std::string_view node_id, ledger::CurveReader& points,
                               const CurveRequest& request);

std::string series_key(std::string_view node_id, std::string_view domain, int index);
/// `[[at_ms, mean, min, max], ...]` as JSON text, in watts; with_counts adds the known and all devices of a
/// sum.
void write_points(std::string& out, const std::vector<CurveBucket>& points, bool with_counts);

}  // namespace tidewatt::api
