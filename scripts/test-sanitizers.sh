#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the tests under AddressSanitizer and UndefinedBehaviorSanitizer, without LibTorch and Python, which do not support
# them. Arguments go to ctest.
set -eu
cd "$(dirname "$0")/.."

sh packaging/install.sh
cmake --preset asan
cmake --build --preset asan
# Without camvid_eval, which takes an hour and runs no code that the other tests do not run.
# OpenCV uses libgphoto2 to find cameras. One of its plugins leaks and is unloaded before LeakSanitizer can name it.
export OPENCV_VIDEOIO_PRIORITY_GPHOTO2=0
# lsan.supp: OpenCV, its plugins and OpenBLAS keep some memory until the process ends.
LSAN_OPTIONS=suppressions=$PWD/scripts/lsan.supp:print_suppressions=0 UBSAN_OPTIONS=print_stacktrace=1 \
  ctest --preset asan --parallel "$(nproc)" --exclude-regex '^camvid_eval' "$@"
