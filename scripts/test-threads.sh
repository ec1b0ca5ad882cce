#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What has threads of ours (kernels, merging, layers in nets of several threads, nets, sources, capture, store, alarms) under
# ThreadSanitizer. Arguments go to ctest.
set -eu
cd "$(dirname "$0")/.."

sh packages/install.sh
cmake --preset tsan
cmake --build --preset tsan --target kernels_test merging_test layers_test net_test vision_test monitor_test
# ThreadSanitizer does not know the barriers of the OpenMP runtime and of OpenCV's pool, which were not built for it: one
# thread inside a loop of theirs, as many as ever around it.
# Left out: what OpenCV hands to GStreamer, whose locks are its own futexes, and what asks for more memory than there is.
OMP_NUM_THREADS=1 OPENCV_FOR_THREADS_NUM=1 TSAN_OPTIONS="suppressions=$PWD/scripts/tsan.supp halt_on_error=0 second_deadlock_stack=1" \
  ctest --preset tsan --tests-regex '^(kernels|merging|layers|net|vision|monitor)\.' --exclude-regex 'CamVid|RefusesWhatIsNoSource|net\.Pipeline\.|NoMemory' "$@"
