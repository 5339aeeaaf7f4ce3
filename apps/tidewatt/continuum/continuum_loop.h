// The service agent at work: senses, decides, acts, and writes down why.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../run/run_signal.h"
#include "../server_access.h"
#include "continuum_config.h"
#include "tidewatt/base/clock.h"
#include "tidewatt/base/file_system.h"
#include "tidewatt/continuum/record.h"
#include "tidewatt/continuum/rules.h"
#include "tidewatt/popol/devol_client.h"

namespace tidewatt::cli {

class ContinuumLoop {
 public:
  /// Asks the services for their specs, and goes on from the journal where there is one.
  static Result<std::unique_ptr<ContinuumLoop>> open(ContinuumConfig config, const ServerAccess& access,
                                                     std::shared_ptr<FileSystem> files, const Clock& clock);
  /// One period. @return what happened, as one line for people
  Result<std::string> step();
  /// What a person should know before it begins: promises with their exchange rates, knobs.
  [[nodiscard]] std::string introduction() const;

 private:
  struct Service {
    std::shared_ptr<popol::DevolClient> client;
    std::map<std::string, std::vector<devol::Sample>> samples;
    std::uint64_t next = 0;
    bool reached = false;
  };
  struct Promise {
    std::size_t service = 0;
    devol::Objective objective;
    devol::Verdict recent, official;
  };

  ContinuumLoop(ContinuumConfig config, std::shared_ptr<FileSystem> files, const Clock& clock)
      : config_(std::move(config)), files_(std::move(files)), clock_(clock) {}
  Status meet_services();
  Status make_knobs();
  continuum::Setup setup_of() const;
  Status open_journal();
  Status begin_journal(const std::optional<continuum::Counts>& counts);
  Status append(const std::string& line);

  void fetch(UtcTime now);
  void fetch_signal(UtcTime now);
  continuum::Senses sense(UtcTime now);
  std::optional<double> mean_power(UtcTime now) const;
  std::size_t level_of(std::size_t knob);
  void ask_rules(UtcTime now, continuum::Senses& senses);
  std::string take_command();
  continuum::Acted act(const continuum::Senses& senses, const continuum::Decision& decision);
  continuum::Acted turn(const continuum::Senses& senses, const std::vector<std::size_t>& levels,
                        const std::string& who);
  void write_status(UtcTime now, const continuum::Senses& senses, const continuum::Decision& decision);
  [[nodiscard]] std::string levels_text(const std::vector<std::size_t>& levels) const;
  [[nodiscard]] std::string mode_text() const;

  ContinuumConfig config_;
  std::shared_ptr<FileSystem> files_;
  const Clock& clock_;
  std::vector<Service> services_;
  std::vector<Promise> promises_;
  std::unique_ptr<popol::Desk> desk_;
  std::vector<std::size_t> levels_;  // last known
  std::optional<continuum::Brain> brain_;
  std::optional<continuum::RuleBook> rules_;
  std::vector<std::optional<double>> loads_;  // per service [1/s]
  std::unique_ptr<AppendFile> journal_;
  std::uint64_t number_ = 0;
  std::optional<continuum::Acted> before_;
  std::optional<std::vector<std::size_t>> suggestion_, undo_;
  std::string note_;
  ReadSignal read_signal_;
  std::optional<RunSignal> signal_;
  std::optional<UtcTime> signal_as_of_, signal_asked_;
  bool cut_off_ = false;
};

}  // namespace tidewatt::cli
