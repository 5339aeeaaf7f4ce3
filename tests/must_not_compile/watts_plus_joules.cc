// Power and energy do not add up.
// expect: no match for 'operator\+'|invalid operands to binary expression
#include "tidewatt/units/quantity.h"

using namespace tidewatt;

Joules sum() {
#ifdef MISTAKE
  return Watts{300} + Joules{5};
#else
  return Joules{300} + Joules{5};
#endif
}
