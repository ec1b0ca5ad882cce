// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

/// Skips a test that opens "demo:" in a build without the renderer.
#ifdef MPM_WITH_SCENE
#define MPM_NEEDS_DEMO() static_cast<void>(0)
#else
#define MPM_NEEDS_DEMO() GTEST_SKIP() << "built without the renderer (MPM_WITH_SCENE=OFF)"
#endif
