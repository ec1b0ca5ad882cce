#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fuzzes the ONNX reader with the converter, the readers of each other kind of file, and the requests of mpm serve, with
# libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer (clang). It stops at the first crash and leaves the input in build-fuzz/.
#   scripts/fuzz.sh [SECONDS]      for each; default: 600
set -eu
cd "$(dirname "$0")/.."

[ ! -d /dev/shm ] || export TMPDIR=/dev/shm  # each input is a file
# oneDNN needs OpenMP, which clang has in a package of its own.
sh packaging/install.sh clang libclang-rt-dev libomp-dev
cmake --preset fuzz
cmake --build --preset fuzz --target fuzz_reader fuzz_files fuzz_page
for target in reader classes labelme coco regions results lines states model lists pictures page; do
  mkdir -p "build-fuzz/corpus/$target"
  seeds="$PWD/tests/data/fuzz/$target" command="fuzz_files $target -max_len=20000 -dict=$PWD/tests/data/fuzz/json.dict"
  if [ $target = reader ]; then
    mkdir -p build-fuzz/seeds && cp tests/data/*.onnx build-fuzz/seeds/
    seeds="$PWD/build-fuzz/seeds" command="fuzz_reader -max_len=400000"
  fi
  [ $target != page ] || command="fuzz_page -max_len=20000"
  # shellcheck disable=SC2086 # a program and its options
  (cd build-fuzz && bin/$command -max_total_time="${1:-600}" -timeout=20 -rss_limit_mb=4096 "corpus/$target" "$seeds")
done
