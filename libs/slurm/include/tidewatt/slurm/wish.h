// What a job's comment asks for.
#pragma once

#include <optional>
#include <string_view>

#include "tidewatt/k8s/tolerance.h"

namespace tidewatt::slurm {

struct Wish {
  k8s::Tolerance tolerance = k8s::Tolerance::immediate;
  bool requeue = false;  ///< it saves its state and may be ended and started again in cleaner hours
  friend bool operator==(const Wish&, const Wish&) = default;
};

/// "carbon:daily" or "carbon:daily:requeue", a word of its own anywhere in the comment; the first one counts.
/// @return nullopt: nothing is asked for, or a tolerance that we don't know: the job starts at once
std::optional<Wish> wish_of(std::string_view comment);

}  // namespace tidewatt::slurm
