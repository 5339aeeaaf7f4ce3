#include "tidewatt/ledger/curve.h"

#include <utility>

namespace tidewatt::ledger {
namespace {

class Points final : public CurveReader {
 public:
  explicit Points(std::vector<CurvePoint> points) : points_(std::move(points)) {
    times_.reserve(points_.size());
    for (const auto& point : points_) times_.push_back(point.at);
  }
  const std::vector<UtcTime>& times() const override { return times_; }
  Result<const CurvePoint*> next() override { return next_ < points_.size() ? &points_[next_++] : nullptr; }

 private:
  std::vector<CurvePoint> points_;
  std::vector<UtcTime> times_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<CurveReader> read_points(std::vector<CurvePoint> points) {
  return std::make_unique<Points>(std::move(points));
}

Result<std::vector<CurvePoint>> read_all(CurveReader& reader) {
  std::vector<CurvePoint> points;
  points.reserve(reader.times().size());
  while (true) {
    TW_TRY(const auto* point, reader.next());
    if (point == nullptr) return points;
    points.push_back(*point);
  }
}

}  // namespace tidewatt::ledger
