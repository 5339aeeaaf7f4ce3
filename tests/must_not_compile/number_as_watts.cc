// A bare number has no unit: it must be named on the way in.
// expect: could not convert|no viable conversion|cannot convert
#include "tidewatt/units/quantity.h"

using namespace tidewatt;

Watts limit() {
#ifdef MISTAKE
  return 700.0;
#else
  return Watts{700.0};
#endif
}
