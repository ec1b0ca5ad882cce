// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace mpm::scene {

/// After this call vision::openSource() opens "demo:" sources: the rendered street. Idempotent and thread-safe.
void registerDemoSource();

}  // namespace mpm::scene
