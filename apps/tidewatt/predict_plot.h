// A prediction as a picture.
#pragma once

#include <span>
#include <string>

#include "tidewatt/tasks/epoch.h"
#include "tidewatt/tasks/prediction.h"

namespace tidewatt::cli {

/// An SVG: cumulative energy over epochs, as measured and, from the last of `trained`, as predicted with its
/// 90 % interval; `after` is what came then, if the file holds it.
/// @param title  shown as it is, escaped
std::string prediction_svg(std::span<const tasks::Epoch> trained, std::span<const tasks::Epoch> after,
                           const tasks::Prediction& prediction, const std::string& title);

}  // namespace tidewatt::cli
