#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# All that can be done for the GPU kernels on a machine with nvcc, CMake and PyTorch but none of the project's other
# libraries: builds kernels, tests and benchmark for this machine's GPU, runs the tests, times kernels and networks
# beside PyTorch, prints the table of targets. A step that fails does not stop the next. About six minutes.
#   scripts/cuda_bench.sh [--sanitize] [--skip-torch] [--net BUNDLE.tar.xz]...
# --net: also whole nets in OpenCV, whose libraries come along in a bundle of scripts/cuda_bundle.sh, tested and beside
# the CPU's. MPM_OUT: folder for logs and JSON (default build-cuda-bench/out).
set -uo pipefail
cd "$(dirname "$0")/.."
sanitize=0 torch=1 bundles=()
while [ $# -gt 0 ]; do
  case $1 in
    --sanitize) sanitize=1 ;;
    --skip-torch) torch=0 ;;
    --net) shift; bundles+=("${1:?--net needs a bundle}") ;;
    *) echo "usage: $0 [--sanitize] [--skip-torch] [--net BUNDLE.tar.xz]..." >&2; exit 2 ;;
  esac
  shift
done
build=build-cuda-bench
out=${MPM_OUT:-$build/out}
mkdir -p "$out"
export PATH=$PATH:/usr/local/cuda/bin
failed=()
start=$SECONDS
step() {  # step NAME SECONDS COMMAND...: its output goes to a log, the end of which is shown
  local name=$1 limit=$2; shift 2
  echo "== $name ($((SECONDS - start)) s)"
  timeout "$limit" "$@" >"$out/$name.log" 2>&1
  local status=$?
  tail -n "${lines:-6}" "$out/$name.log"
  if [ $status -ne 0 ]; then
    echo "-- $name FAILED (exit $status), log: $out/$name.log"
    grep -nE "error|FAILED|Error|failed" "$out/$name.log" | head -n 20
    failed+=("$name")
  fi
  return $status
}

nvidia-smi --query-gpu=name,driver_version,compute_cap,memory.total --format=csv 2>&1 || true
architecture=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d '. ')
generator=(); command -v ninja >/dev/null && generator=(-G Ninja)
# Where nvcc came without cuBLAS, PyTorch's own serves.
cublas=$(python3 - 2>/dev/null <<'PYTHON'
import pathlib, nvidia
headers = [h for root in nvidia.__path__ for h in pathlib.Path(root).rglob("cublasLt.h")]
print(headers[0].parent.parent if headers else "")
PYTHON
)
step configure 90 cmake -S bench/cuda -B $build "${generator[@]}" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CUDA_ARCHITECTURES="${architecture:-90}" -DMPM_CUBLASLT_ROOT="$cublas" || exit 1
step build 240 cmake --build $build --parallel "$(nproc)"
lines=40 step tests 60 $build/bin/cuda_test
if [ $sanitize -eq 1 ]; then
  for tool in memcheck racecheck; do
    step $tool 150 compute-sanitizer --tool $tool --error-exitcode 9 $build/bin/cuda_test
  done
fi
lines=20 step ours 120 $build/bin/cuda_bench
if [ $torch -eq 1 ]; then
  lines=20 step torch 270 env PYTHONUNBUFFERED=1 python3 bench/peers/torch_cuda_worker.py --seconds 150
fi
[ $torch -eq 1 ] || rm -f "$out/torch.log"
number=0
for bundle in ${bundles[@]+"${bundles[@]}"}; do
  number=$((number + 1))
  net=$build/net$number
  rm -rf "$net" && mkdir -p "$net" && tar -xJf "$bundle" -C "$net" || { failed+=("unpacking $bundle"); continue; }
  # cuBLASLt: CUDA's, else PyTorch's.
  libraries=$PWD/$net/lib:$(dirname "$(command -v nvcc)")/../lib64${cublas:+:$cublas/lib}
  if [ $number -eq 1 ]; then
    lines=40 step net_test 120 env LD_LIBRARY_PATH="$libraries" MPM_TEST_DATA="$PWD/tests/data" "$net/bin/cuda_net_test"
  fi
  lines=20 step "net$number" 150 env LD_LIBRARY_PATH="$libraries" "$net/bin/cuda_net_bench" "$net"/models/*.onnx \
    "$net"/images/*.ppm
done
python3 bench/cuda/table.py "$out"/ours.log $(ls "$out"/torch.log "$out"/net[0-9]*.log 2>/dev/null) | tee "$out/table.txt"
echo "== done ($((SECONDS - start)) s)${failed[*]:+, FAILED: ${failed[*]}}"
[ ${#failed[@]} -eq 0 ]
