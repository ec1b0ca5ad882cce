// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace mpm::scene {

/// After this call vision::openSource() opens "demo:" sources: the rendered street. Idempotent and thread-safe. Does
/// nothing in a build without the renderer (MPM_WITH_SCENE=OFF).
#ifdef MPM_WITH_SCENE
void registerDemoSource();
#else
inline void registerDemoSource() {}
#endif

}  // namespace mpm::scene
