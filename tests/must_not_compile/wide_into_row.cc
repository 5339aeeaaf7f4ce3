// A 128-bit sum does not silently become a 64-bit row.
// expect: cannot convert|no viable conversion|could not convert
#include "tidewatt/units/exact.h"

using namespace tidewatt;

#ifdef MISTAKE
Microjoules row(WideMicrojoules sum) { return sum; }
#else
WideMicrojoules row(Microjoules row) { return WideMicrojoules{row}; }
#endif
