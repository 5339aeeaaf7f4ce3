#pragma once

#include <map>
#include <string>
#include <vector>

#include "tidewatt/base/process.h"

namespace tidewatt::testing {

/// Answers by the tool's name (argv[0]); unknown names are not_found. Remembers what was asked.
class FakeProcessRunner final : public ProcessRunner {
 public:
  std::map<std::string, Result<ProcessOutput>> answers;
  std::vector<std::vector<std::string>> asked;

  Result<ProcessOutput> run(const std::vector<std::string>& argv, Milliseconds /*deadline*/) override {
    asked.push_back(argv);
    const auto found = answers.find(argv.at(0));
    if (found == answers.end()) return fail(ErrorCode::not_found, argv.at(0) + ": no such tool");
    return found->second;
  }
};

}  // namespace tidewatt::testing
