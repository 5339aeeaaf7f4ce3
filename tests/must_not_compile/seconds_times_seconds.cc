// Only power times time is energy.
// expect: no match for 'operator\*'|invalid operands to binary expression
#include "tidewatt/units/quantity.h"

using namespace tidewatt;

Joules energy() {
#ifdef MISTAKE
  return Seconds{60} * Seconds{60};
#else
  return Watts{60} * Seconds{60};
#endif
}
