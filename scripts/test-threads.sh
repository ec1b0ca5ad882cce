#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of all code that uses threads under ThreadSanitizer.
#   scripts/test-threads.sh [TESTS...]      TESTS: of these test programs only, such as net or monitor
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- kernels merging layers net vision monitor gui_models

sh packaging/install.sh
cmake --preset tsan -DCMAKE_UNITY_BUILD=ON
# One thread in the loops of OpenMP and OpenCV, whose barriers ThreadSanitizer does not see. Our own threads run as usual.
export QT_QPA_PLATFORM=offscreen OMP_NUM_THREADS=1 OPENCV_FOR_THREADS_NUM=1
export TSAN_OPTIONS="suppressions=$PWD/scripts/tsan.supp halt_on_error=0 second_deadlock_stack=1"
for tests; do
  cmake --build --preset tsan --target "${tests}_test"
  # Left out: long tests, those that use GStreamer, whose locks ThreadSanitizer does not see, and those that exhaust the memory.
  "build-tsan/bin/${tests}_test" --gtest_brief=1 \
    --gtest_filter='-*CamVid*:*Long*:PrivacyOnTheStreet.*:*RefusesWhatIsNoSource*:Pipeline.*:*NoMemory*' || status=1
  if [ "$tests" = kernels ]; then  # most of them are tried by another program
    cmake --build --preset tsan --target kernel_worlds
    build-tsan/bin/kernel_worlds 1 20 || status=1
  fi
done
exit "${status-0}"
