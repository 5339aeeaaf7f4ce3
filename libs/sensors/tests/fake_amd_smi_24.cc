// AMD SMI as version 24 has it.
#define FAKE_POWER_INFO PowerInfo24
#include "fake_amd_smi.h"
