#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests and measures the GPU kernels on a machine with nvcc, CMake and PyTorch but none of the project's other libraries.
# Builds kernels, tests and benchmark for this machine's GPU, runs the tests, times kernels and networks, times the same in
# PyTorch, prints the table of targets. A step that fails does not stop the next. About eight minutes.
#   scripts/cuda_bench.sh [--sanitize] [--skip-torch] [--net BUNDLE.tar.xz]... [--seconds N]
# --net BUNDLE: also test whole nets in OpenCV and compare them with the CPU. scripts/cuda_bundle.sh makes the bundle. With
#   PyTorch, transformers and onnx also DINOv3-B, EoMT on DINOv3, Depth Anything V2-S and B, with random weights that are made
#   here, beside PyTorch.
# --sanitize: run the tests under compute-sanitizer after the benchmark. A tool that reports only warpgroup kernels may not
#   know the order of their operands: run it again with --check-warpgroup-mma no.
# --skip-torch: without PyTorch.
# --seconds N: end within N seconds (default 570). Steps that do not fit are left out and listed.
# MPM_GTEST: folder with the sources of GoogleTest, where it is not installed (default /usr/src/googletest, Debian's
#   libgtest-dev). Without it only the kernels are tried (tests/worlds/kernels).
# MPM_OUT: folder for table.txt and logs.tar.gz, both written after every step (default build-cuda-bench/out).
set -uo pipefail
usage() { echo "usage: $0 [--sanitize] [--skip-torch] [--net BUNDLE.tar.xz]... [--seconds N]" >&2; exit 2; }
sanitize=0 torch=1 bundles=() budget=570
while [ $# -gt 0 ]; do
  case $1 in
    --sanitize) sanitize=1 ;;
    --skip-torch) torch=0 ;;
    --net) [ $# -gt 1 ] || usage; shift; bundles+=("$(realpath -- "$1")") ;;
    --seconds) [ $# -gt 1 ] || usage; shift; budget=$1 ;;
    *) usage ;;
  esac
  shift
done
out=${MPM_OUT:+$(realpath -m -- "$MPM_OUT")}
cd "$(dirname "$0")/.." || exit 1
build=$PWD/build-cuda-bench
out=${out:-$build/out}
logs=$build/logs
rm -rf "$logs"
mkdir -p "$out" "$logs"
export PATH=$PATH:/usr/local/cuda/bin
failed=()
start=$SECONDS
save() {  # saves results so far, so that stopping this script loses one step at most
  local measured=()
  for log in "$logs"/{ours,torch,models,torch_models}.log "$logs"/net[0-9]*.log; do [ -f "$log" ] && measured+=("$log"); done
  python3 bench/cuda/table.py "${measured[@]}" >"$out/table.txt"
  tar -czf "$out/logs.tar.gz" -C "$build" logs
}
step() {  # step NAME SECONDS COMMAND...: its output goes to a log, the end of which is shown
  local name=$1 limit=$2 left=$((budget - (SECONDS - start) - 10)); shift 2
  [ "$limit" -gt "$left" ] && limit=$left
  if [ "$limit" -lt 15 ]; then
    echo "-- $name left out: no time"
    failed+=("$name")
    return 1
  fi
  echo "== $name ($((SECONDS - start)) s)"
  timeout -k 5 "$limit" "$@" >"$logs/$name.log" 2>&1
  local status=$?
  tail -n "${lines:-6}" "$logs/$name.log"
  if [ $status -ne 0 ]; then
    echo "-- $name FAILED (exit $status), log: $logs/$name.log"
    grep -nE "error|FAILED|Error|failed" "$logs/$name.log" | head -n 20
    failed+=("$name")
  fi
  save
  return $status
}

models=$build/models exporting='' net='' libraries=''
trap '[ -z "$exporting" ] || kill "$exporting" 2>/dev/null' EXIT
if [ $torch -eq 1 ] && [ ${#bundles[@]} -gt 0 ]; then  # while nvcc compiles
  rm -rf "$models"
  mkdir -p "$models"
  CUDA_VISIBLE_DEVICES='' timeout 240 python3 bench/baselines/torch_cuda_worker.py --models --export "$models" >"$logs/export.log" 2>&1 &
  exporting=$!
fi
nvidia-smi --query-gpu=name,driver_version,compute_cap,memory.total --format=csv 2>&1 || true
architecture=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d '. ')
[ "$architecture" = 90 ] && architecture=90a  # code for plain 90 may not use Hopper's warpgroups
generator=() keep_going=(-k)
command -v ninja >/dev/null && generator=(-G Ninja) keep_going=(-k 0)
# If nvcc was installed without cuBLAS, use PyTorch's.
cublas=$(python3 - 2>/dev/null <<'PYTHON'
import pathlib, nvidia
headers = [h for root in nvidia.__path__ for h in pathlib.Path(root).rglob("cublasLt.h")]
print(headers[0].parent.parent if headers else "")
PYTHON
)
# --fresh: the folder may be a copy from another machine.
step configure 90 cmake --fresh -S bench/cuda -B "$build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CUDA_ARCHITECTURES="${architecture:-90a}" -DMPM_CUBLASLT_ROOT="$cublas" \
  -DMPM_GTEST="${MPM_GTEST:-/usr/src/googletest}" || exit 1
step build 240 cmake --build "$build" --parallel "$(nproc)" -- "${keep_going[@]}"
export MPM_REQUIRE_GPU=1  # without a GPU the tests fail instead of being skipped
# A faulty kernel ends all work of its process on the device. So after a failure each kernel has its own, and the one at fault runs
# again with blocking launches and under memcheck.
worlds=$build/bin/cuda_worlds
mapfile -t kernels < <("$worlds" --list)
if ! lines=15 step worlds 180 "$worlds" 1 120; then
  for kernel in "${kernels[@]}"; do
    name=${kernel//[^A-Za-z0-9]/_}
    lines=15 step "worlds_$name" 60 "$worlds" 1 120 "$kernel" && continue
    lines=15 step "fault_$name" 60 env CUDA_LAUNCH_BLOCKING=1 "$worlds" 1 120 "$kernel"
    lines=30 step "memcheck_$name" 60 compute-sanitizer --tool memcheck --report-api-errors no "$worlds" 1 20 "$kernel"
  done
fi
[ ! -x "$build/bin/cuda_test" ] || lines=15 step tests 60 "$build/bin/cuda_test"
lines=20 step ours 120 "$build/bin/cuda_bench"
if [ $sanitize -eq 1 ]; then  # our kernels only, not cuBLAS
  for tool in memcheck racecheck synccheck; do
    level=() some=()
    if [ $tool = racecheck ]; then  # on an H100 with CUDA 13.0 it breaks off at the first product of cuBLASLt
      level=(--racecheck-detect-level error)
      mapfile -t some < <(printf '%s\n' "${kernels[@]}" | grep -Ev 'Linear|PatchEmbed|Block|MaskScores|Convolution|WindowAttention|Pool$')
    fi
    step $tool 120 compute-sanitizer --tool $tool --report-api-errors no --kernel-name kernel_substring=3mpm4cuda \
      "${level[@]}" --error-exitcode 9 "$worlds" 1 5 "${some[@]}"
  done
fi
number=0
for bundle in "${bundles[@]}"; do
  number=$((number + 1))
  net=$build/net$number
  if ! { rm -rf "$net" && mkdir -p "$net" && { tar -xJf "$bundle" -C "$net" 2>/dev/null ||
    python3 -m tarfile -e "$bundle" "$net"; }; }; then  # if the machine has no xz
    failed+=("unpacking $bundle")
    continue
  fi
  # cuBLASLt of CUDA, else of PyTorch. The given path stays, because the driver may be in it.
  libraries=$net/lib:$(dirname "$(readlink -f "$(command -v nvcc)")")/../lib64${cublas:+:$cublas/lib}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  if [ $number -eq 1 ]; then
    lines=40 step net_test 120 env LD_LIBRARY_PATH="$libraries" MPM_TEST_DATA="$PWD/tests/data" "$net/bin/cuda_net_test"
  fi
  lines=20 step "net$number" 150 env LD_LIBRARY_PATH="$libraries" "$net/bin/cuda_net_bench" "$net"/models/*.onnx \
    "$net"/images/*.ppm
done
seconds_for() {  # seconds_for SHARE: of the time that is left, 20 to 150
  local seconds=$(((budget - (SECONDS - start) - 60) / $1))
  echo $((seconds > 150 ? 150 : seconds > 20 ? seconds : 20))
}
worker=(env PYTHONUNBUFFERED=1 python3 bench/baselines/torch_cuda_worker.py)
if [ -n "$exporting" ]; then
  if ! wait "$exporting"; then
    echo "-- export FAILED, log: $logs/export.log"
    tail -n 3 "$logs/export.log"
    failed+=("export")
  fi
  exporting=''
  if compgen -G "$models/*.onnx" >/dev/null; then
    lines=32 step models 200 env LD_LIBRARY_PATH="$libraries" "$net/bin/cuda_net_bench" --no-reuse "$models"/*.onnx "$net"/images/*.ppm
    seconds=$(seconds_for 2)
    lines=4 step torch_models $((seconds + 60)) "${worker[@]}" --models --seconds "$seconds"
  fi
fi
[ $torch -eq 0 ] || lines=20 step torch 270 "${worker[@]}" --seconds "$(seconds_for 1)"
cat "$out/table.txt"
echo "== done ($((SECONDS - start)) s)${failed[*]:+, FAILED: ${failed[*]}}"
[ ${#failed[@]} -eq 0 ]
