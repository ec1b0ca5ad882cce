#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of all code that uses threads under ThreadSanitizer. Arguments go to ctest.
set -eu
cd "$(dirname "$0")/.."

sh packaging/install.sh
cmake --preset tsan
cmake --build --preset tsan --target kernels_test merging_test layers_test net_test vision_test monitor_test gui_models_test
# One thread inside the loops of OpenMP and of OpenCV's pool: ThreadSanitizer does not see their barriers. Our own threads run
# as usual.
# Left out: tests that use GStreamer, whose locks ThreadSanitizer does not see, tests that exhaust the memory, and tests of
# programs, such as monitor.tell, which are not built here.
OMP_NUM_THREADS=1 OPENCV_FOR_THREADS_NUM=1 TSAN_OPTIONS="suppressions=$PWD/scripts/tsan.supp halt_on_error=0 second_deadlock_stack=1" \
  ctest --preset tsan --tests-regex '^(kernels|merging|layers|net|vision|monitor|gui_models)\.' --exclude-regex 'CamVid|RefusesWhatIsNoSource|net\.Pipeline\.|NoMemory|monitor\.[a-z]' "$@"
