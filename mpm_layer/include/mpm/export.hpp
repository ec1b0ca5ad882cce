// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(_WIN32)
#define MPM_API
#else
#define MPM_API __attribute__((visibility("default")))
#endif
