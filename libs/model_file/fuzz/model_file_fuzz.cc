// Whatever a model file holds: no crash, no hang, one-line errors, and finite results of what is accepted.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidewatt/model_file/run_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidewatt;
  if (size == 0) return 0;
  const auto mode = data[0] % 2 == 0 ? inference::Mode::compat : inference::Mode::exact;
  const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
  const auto told_in_one_line = [](const Error& error) { return error.to_string().find('\n') == std::string::npos; };
  if (model_file::is_unit_file(text)) {
    const auto answer = model_file::unit_report(text);
    if (!answer && !told_in_one_line(answer.error())) std::abort();
    return 0;
  }
  const auto file = model_file::read_run(text, mode);
  if (!file) {
    if (!told_in_one_line(file.error())) std::abort();
    return 0;
  }
  // A small text can ask for a long run: that is the caller's to bound, not a finding.
  const auto& policies = file->model.policies;
  if (policies.count * policies.length > 4096 || file->options.iterations > 1000) return 0;
  std::size_t joint = 1;
  for (const auto n : file->model.shape.states) joint *= n < 64 ? n : 64;
  if (joint > 256) return 0;
  if (model_file::run_report(*file).find("null,null") != std::string::npos) std::abort();  // JSON's NaN
  return 0;
}
