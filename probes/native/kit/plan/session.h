// The two things a probe is asked to do. Both return the exit status.
#pragma once

#include "kit/plan/plan.h"

namespace probe {

int describe(int count, char** arguments);
int run(int count, char** arguments);

}  // namespace probe
