// The bare number leaves only by value(), where a name says the unit.
// expect: cannot convert|no viable conversion|could not convert
#include "tidewatt/units/quantity.h"

using namespace tidewatt;

double watts() {
  const Watts power{412.5};
#ifdef MISTAKE
  return power;
#else
  return power.value();
#endif
}
