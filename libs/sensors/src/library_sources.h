// One maker per library; make_library() chooses.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tidewatt/sensors/libraries.h"

namespace tidewatt::sensors {

using MakeLibrary = std::unique_ptr<Source>(std::shared_ptr<const FileSystem>, std::shared_ptr<const Clock>,
                                            LibraryOptions);

MakeLibrary make_nvml;
MakeLibrary make_amd_smi;
MakeLibrary make_rocm_smi;
MakeLibrary make_hygon_smi;
MakeLibrary make_level_zero;
MakeLibrary make_cndev;
MakeLibrary make_mxsml;
MakeLibrary make_efml;
MakeLibrary make_mtml;
MakeLibrary make_dcmi;
MakeLibrary make_hlml;
MakeLibrary make_xpuml;

/// The library that the options name, else the usual ones.
std::vector<std::string> library_names_or(std::string named, std::vector<std::string> usual);

}  // namespace tidewatt::sensors
