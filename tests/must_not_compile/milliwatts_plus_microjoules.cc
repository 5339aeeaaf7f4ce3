// The booked integers keep their dimension, too.
// expect: no match for 'operator\+'|invalid operands to binary expression
#include "tidewatt/units/exact.h"

using namespace tidewatt;

Microjoules sum() {
#ifdef MISTAKE
  return Microjoules{1} + Milliwatts{1};
#else
  return Microjoules{1} + Microjoules{1};
#endif
}
