// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \namespace mpm
/// All public names. Version 0.1.1 may add names to those of 0.1.0, and changes none. Version 0.2 has another SONAME.
#include "mpm/build_info.hpp"    // IWYU pragma: export
#include "mpm/convert.hpp"       // IWYU pragma: export
#include "mpm/error.hpp"         // IWYU pragma: export
#include "mpm/estimator.hpp"     // IWYU pragma: export
#include "mpm/head_trainer.hpp"  // IWYU pragma: export
#include "mpm/merging.hpp"       // IWYU pragma: export
#include "mpm/model_info.hpp"    // IWYU pragma: export
#include "mpm/options.hpp"       // IWYU pragma: export
#include "mpm/read_net.hpp"      // IWYU pragma: export
#include "mpm/reuse.hpp"         // IWYU pragma: export
#include "mpm/run_report.hpp"    // IWYU pragma: export
#include "mpm/token_head.hpp"    // IWYU pragma: export
#include "mpm/version.hpp"       // IWYU pragma: export
