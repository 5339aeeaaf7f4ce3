// What there is to plan, read and resolved: minutes from the plan's start, one value per zone or site and
// slot.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tidewatt/planning/do_no_harm.h"
#include "tidewatt/units/time.h"

namespace tidewatt::planning {

/// Minutes from the plan's start.
using Minute = std::int64_t;

/// How well a slot's intensity is known.
enum class Known : std::uint8_t { unknown, interpolated, known };

/// A forecaster's own record: how far it is off at which lead time.
struct ErrorRecord {
  std::vector<double> lead_hours;  ///< rising
  std::vector<double> std_g;       ///< gCO2e/kWh, one per lead
  double rho = 0;                  ///< correlation from hour to hour
};

struct Zone {
  std::string name;
  std::vector<double> ci;                    ///< gCO2e/kWh, mean of the slot; 0 where `known` says unknown
  std::vector<Known> known;                  ///< as long as `ci`
  std::vector<std::optional<double>> price;  ///< money per kWh, per slot; the last one holds on; empty: none
  std::optional<ErrorRecord> error;
  std::optional<ForecastPast>
      past;  ///< slots before the start, where they are known: what judges the forecast
};

/// A cooling loop's limits and its pump. Minutes; 0 where no limit.
struct Thermal {
  Minute min_on = 0, min_off = 0;
  double pump_kw = 0;
  Minute pump_pre = 0, pump_post = 0;
  std::optional<double> ramp_kw_per_minute;
  std::optional<std::int64_t> max_starts_per_hour;
};

/// For a time, less power than the site's cap.
struct Event {
  Minute from = 0, to = 0;  ///< half-open
  double available_kw = 0;
};

struct Site {
  std::string id;
  std::size_t zone = 0;
  std::vector<double> pue;                    ///< per slot; the last one holds on
  std::vector<std::optional<double>> cap_kw;  ///< per slot; the last one holds on; empty: no cap
  std::vector<Event> events;
  std::optional<Thermal> thermal;
  std::optional<std::int64_t> devices;
};

struct Elastic {
  double work = 0;
  std::vector<double> throughput;  ///< per hour, at 1, 2, … replicas
  std::vector<double> power_kw;    ///< total, at 1, 2, … replicas
  int min = 1, max = 1;
};

enum class Tolerance { immediate, daily, weekly, monthly };
enum class Priority { critical, high, normal, low };

struct Job {
  std::string id, team;
  Minute release = 0;              ///< rounded up, not before 0
  std::optional<Minute> deadline;  ///< as stated, rounded down
  std::optional<Tolerance> tolerance;
  Minute duration = 0;
  double power_kw = 0;
  bool interruptible = false;
  double suspend_kwh = 0, resume_kwh = 0, migration_kwh = 0, move_gb = 0;
  Minute min_run = 0;
  std::vector<int> sites;  ///< the first is home
  std::optional<Elastic> elastic;
  Priority priority = Priority::normal;
  std::int64_t devices = 0;
  std::vector<std::string> notes;  ///< what a person should know about how times were read
};

enum class Policy {
  immediate,
  wait_awhile,
  wait_awhile_interrupting,
  threshold,
  elastic,
  spatial,
  joint,
  optimal,
  robust
};

struct Weights {
  double carbon = 1, price = 0, delay = 0, bytes = 0;
};

/// One plan file.
struct Problem {
  UtcTime start;
  Minute slot = 60;
  bool by_minute = false;  ///< granularity: pieces may start at any minute
  Policy policy = Policy::joint;
  std::vector<Zone> zones;  ///< by name
  std::vector<Site> sites;
  std::vector<Job> jobs;
  std::map<std::string, double> budgets;  ///< gCO2e
  std::optional<Weights> weights;
  bool do_no_harm = false;
  std::size_t slots = 0;  ///< the horizon: the longest zone series
};

/// A piece of a job: one site, one count, without a break.
struct Segment {
  int site = 0;
  Minute begin = 0, end = 0;
  double kw = 0;
  int replicas = 1;
  friend bool operator==(const Segment&, const Segment&) = default;
};
using Segments = std::vector<Segment>;

}  // namespace tidewatt::planning
