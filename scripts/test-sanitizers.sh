#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tests under AddressSanitizer and UndefinedBehaviorSanitizer; without LibTorch and Python, which were not built for them.
set -eu
cd "$(dirname "$0")/.."

sh packages/install.sh
cmake --preset asan
cmake --build --preset asan
# Without camvid_eval: its hundreds of images walk no line that the other tests do not, and take an hour.
# libgphoto2, which OpenCV asks for cameras, leaks in a plugin that it unloads before LeakSanitizer could name it.
export OPENCV_VIDEOIO_PRIORITY_GPHOTO2=0
# OpenCV, its plugins and OpenBLAS keep what they hold until the process ends: no leak of ours.
LSAN_OPTIONS=suppressions=$PWD/scripts/lsan.supp:print_suppressions=0 UBSAN_OPTIONS=print_stacktrace=1 \
  ctest --preset asan --parallel "$(nproc)" --exclude-regex '^camvid_eval' "$@"
