// Audit records: one line of JSON per decision, at most 2 kB, from which the decision can be replayed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/model_file/run_file.h"

namespace tidewatt::model_file {

inline constexpr std::size_t kLargestRecord = 2000;  ///< bytes

/// One record per step of a run: belief, the chosen action with G and its terms, the three best others with
/// what they lack, the mask, and fingerprints of model file, result and the record itself.
/// @param name  the model file's path, @param text  its content
std::vector<std::string> decision_records(const RunFile& file, std::string_view name, std::string_view text);

/// What a record says, before it is believed.
struct RecordHead {
  std::string model_name;
  inference::Mode mode = inference::Mode::exact;
};
/// @error invalid_input  not a record; corrupt  a bit of it was changed
Result<RecordHead> read_record_head(std::string_view record);

/// Runs the model up to the record's decision and compares every bit.
/// @return the decision in words @error corrupt  model file or decision is not what the record says
Result<std::string> explain_record(std::string_view record, std::string_view model_text);

}  // namespace tidewatt::model_file
