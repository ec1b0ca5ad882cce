// SPDX-License-Identifier: Apache-2.0
#include "test_precomp.hpp"

CV_TEST_MAIN("mpm")
