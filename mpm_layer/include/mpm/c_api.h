/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "mpm/export.hpp"

#ifdef __cplusplus
extern "C" {
#endif

/* Registers the ai.mpm layers with OpenCV. May be called again; thread-safe. From Python, with the distribution's cv2:
 *   import ctypes, cv2
 *   ctypes.CDLL("libmpm_layer.so").mpm_register_layers()
 *   net = cv2.dnn.readNetFromONNX("converted.onnx")
 * Returns 0, or 1 when OpenCV refused. Throws nothing. */
MPM_API int mpm_register_layers(void);

/* Version of the library, such as "0.1.0". The text has static storage; do not free it. */
MPM_API const char* mpm_version(void);

#ifdef __cplusplus
}
#endif
