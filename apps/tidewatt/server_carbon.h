// The settings of live carbon intensity, and the thread that fetches it.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "server_settings.h"
#include "tidewatt/emma/chain_alerts.h"
#include "tidewatt/emma/emma.h"

namespace tidewatt::cli {

/// What the settings table has under "carbon.".
std::vector<config::Setting> carbon_settings();
/// Fills arguments.carbon; what is wrong becomes a problem of `settings`.
void take_carbon(config::Settings& settings, ServerArguments& arguments, const FileSystem& files);

/// Keeps an Emma fresh until it is destroyed, and tells of its zones' degradations.
class CarbonThread {
 public:
  /// @param alerts  nullptr = nobody is told
  CarbonThread(std::shared_ptr<emma::Emma> emma, std::unique_ptr<emma::ChainAlerts> alerts);
  ~CarbonThread();
  CarbonThread(const CarbonThread&) = delete;
  CarbonThread& operator=(const CarbonThread&) = delete;

 private:
  void run();

  std::shared_ptr<emma::Emma> emma_;
  std::unique_ptr<emma::ChainAlerts> alerts_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tidewatt::cli
