#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# After scripts/test.sh: runs the tests that take minutes each (networks trained from scratch, the rehearsal of the GPU
# benchmark), then all other tests at every lower instruction set that the kernels have on this CPU. scripts/test.sh ran them
# at the best one. Arguments go to ctest.
set -eu
cd "$(dirname "$0")/.."

ctest --test-dir build --output-on-failure --label-regex '^long$' "$@"
info=$(build/bin/mpm info --json)
for set in $(echo "$info" | tr -d '\n "' | sed -n 's/.*instruction_sets:\[[^],]*,*\([^]]*\)].*/\1/p' | tr , ' '); do
  echo "== MPM_INSTRUCTION_SET=$set"
  MPM_INSTRUCTION_SET=$set ctest --test-dir build --output-on-failure --label-exclude '^long$' --parallel "$(nproc)" "$@"
done
