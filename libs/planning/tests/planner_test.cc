#include "tidewatt/planning/planner.h"

#include <gtest/gtest.h>
