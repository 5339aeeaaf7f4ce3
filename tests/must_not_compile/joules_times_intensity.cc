// Intensity is per kilowatt hour: joules must be converted by name.
// expect: no match for 'operator\*'|invalid operands to binary expression
#include "tidewatt/units/quantity.h"

using namespace tidewatt;

GramsCo2 emitted() {
#ifdef MISTAKE
  return Joules{3600} * GramsPerKwh{300};
#else
  return to_watt_hours(Joules{3600}) * GramsPerKwh{300};
#endif
}
