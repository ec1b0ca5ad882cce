// SPDX-License-Identifier: Apache-2.0
#pragma once

#define MPM_VERSION_MAJOR 0
#define MPM_VERSION_MINOR 1
#define MPM_VERSION_PATCH 0
#define MPM_VERSION "0.1.0"
