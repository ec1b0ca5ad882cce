#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Bytes at random through the ONNX reader, the recogniser and the writer, under libFuzzer, AddressSanitizer and
# UndefinedBehaviorSanitizer (clang). A finding stops it and leaves the input in build-fuzz/.
#   scripts/fuzz.sh [SECONDS]      default: 600
set -eu
cd "$(dirname "$0")/.."

sudo=
[ "$(id -u)" -eq 0 ] || sudo=sudo
sh packages/install.sh
# libomp-dev: without recommendations clang comes without OpenMP, which oneDNN needs.
$sudo apt-get install -q -y --no-install-recommends clang libclang-rt-dev libomp-dev
cmake --preset fuzz
cmake --build --preset fuzz --target fuzz_reader
mkdir -p build-fuzz/corpus build-fuzz/seeds
cp tests/data/*.onnx build-fuzz/seeds/
cd build-fuzz
bin/fuzz_reader -max_total_time="${1:-600}" -max_len=400000 -timeout=20 -rss_limit_mb=4096 corpus seeds
