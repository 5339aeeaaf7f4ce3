// An instant is not a duration.
// expect: could not convert|no viable conversion|cannot convert
#include "tidewatt/units/time.h"

using namespace tidewatt;

UtcTime at() {
#ifdef MISTAKE
  return Milliseconds{5};
#else
  return UtcTime{Milliseconds{5}};
#endif
}
