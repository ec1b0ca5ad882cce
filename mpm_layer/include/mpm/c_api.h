/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "mpm/export.hpp"

#ifdef __cplusplus
extern "C" {
#endif

/* Registers the ai.mpm layers with OpenCV; idempotent, thread-safe. Python, with the cv2 of the distribution:
 *   import ctypes, cv2
 *   ctypes.CDLL("libmpm_layer.so").mpm_register_layers()
 *   net = cv2.dnn.readNetFromONNX("converted.onnx")
 * Returns 0, or 1 when OpenCV refused (nothing is thrown across this border). */
MPM_API int mpm_register_layers(void);

/* "0.1.0", static storage. */
MPM_API const char* mpm_version(void);

#ifdef __cplusplus
}
#endif
