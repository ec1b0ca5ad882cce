// SPDX-License-Identifier: Apache-2.0
// Linked into tests that open "demo:" sources, which the programs register in main().
#include "scene/demo_source.h"

namespace {
[[maybe_unused]] const bool registered = (mpm::scene::registerDemoSource(), true);
}
