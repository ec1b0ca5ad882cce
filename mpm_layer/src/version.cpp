// SPDX-License-Identifier: Apache-2.0
#include "mpm/version.hpp"

#include "mpm/c_api.h"

extern "C" const char* mpm_version(void) { return MPM_VERSION; }
