// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opencv2/mpm/mpm.hpp"
