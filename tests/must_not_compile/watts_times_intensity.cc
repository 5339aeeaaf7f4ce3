// Power times intensity is a rate of carbon, not an amount.
// expect: could not convert|no viable conversion|cannot convert
#include "tidewatt/units/quantity.h"

using namespace tidewatt;

GramsCo2 emitted() {
#ifdef MISTAKE
  return Watts{3000} * GramsPerKwh{300};
#else
  return WattHours{3000} * GramsPerKwh{300};
#endif
}
