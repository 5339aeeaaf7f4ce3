// AMD SMI as version 26 has it.
#define FAKE_POWER_INFO PowerInfo26
#include "fake_amd_smi.h"
