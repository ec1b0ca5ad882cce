#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds for 64-bit Arm on x86-64, in a root of Debian for arm64 whose programs run under qemu. Its compiler is the cross
# compiler for x86-64 of the same release, which runs without qemu: minutes instead of hours. For Debian 12, as root; installs
# debootstrap and qemu. The first call makes the root, 3 GB.
#   scripts/arm64.sh tests [ROOT]       runs the tests of kernels, merging, layers and whole nets as on a Raspberry Pi 5 (Cortex-A76),
#                                       a Raspberry Pi 4 (Cortex-A72) and a CPU with all that qemu knows: hours
#   scripts/arm64.sh counts [ROOT]      fails when a linear layer or a block takes more instructions per operation of a
#                                       Cortex-A76 than it should; minutes
#   scripts/arm64.sh wheel [ROOT]       scripts/wheel.sh: the Python wheel into dist/, imported and tested
#   scripts/arm64.sh packages [ROOT]    Debian packages into dist/RELEASE/, without the trainer; tries mpm
# CPUS='cortex-a76': the CPUs of the tests. RELEASE=trixie: Debian 13; the default is bookworm.
set -eu
cd "$(dirname "$0")/.."
export QEMU_CPU="${QEMU_CPU:-cortex-a76}"  # qemu's default signs pointers, as Debian 13 asks for, which is slow to emulate
release=${RELEASE:-bookworm}
build='cmake -S . -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DMPM_BUILD_TESTS=ON -DMPM_BUILD_BENCHMARKS=OFF -DMPM_SHARED_DIR=/none
    cmake --build /build --target'
# shellcheck disable=SC2016
case ${1-} in
  tests) commands="$build"' mpm_layer kernels_test kernel_worlds merging_test layers_test onnx_test net_test
    for cpu in ${CPUS:-cortex-a76 cortex-a72 max}; do
      echo "== $cpu"
      QEMU_CPU=$cpu ctest --test-dir /build --output-on-failure -R "^(kernels|merging|layers|onnx|net)\.|^worlds\.kernels$" --parallel "$(nproc)"
    done' ;;
  counts) commands="$build kernels_work" ;;
  wheel) commands='sh scripts/wheel.sh dist' ;;
  packages) commands="sh scripts/package.sh --minimal dist/$release
    apt-get install -q -y --no-install-recommends ./dist/$release/*_arm64.deb ./dist/$release/*_all.deb
    mpm run 'demo:street?frames=1' --out /tmp/street" ;;
  *) echo "usage: scripts/arm64.sh tests|counts|wheel|packages [ROOT]" >&2; exit 2 ;;
esac
root=${2:-build-arm64-$release-root}
# in_root COMMAND
in_root() { ARCH=arm64 sh scripts/in-root.sh "$release" "$root" "$1"; }

if [ ! -e "$root/cross" ]; then
  apt-get update -q
  apt-get install -q -y --no-install-recommends debootstrap qemu-user-static binfmt-support
fi
# The kernel runs programs for Arm by qemu once binfmt_misc is mounted, which it is not in every container.
binfmt=/proc/sys/fs/binfmt_misc
[ -e $binfmt/status ] || mount -t binfmt_misc binfmt_misc $binfmt
[ -e $binfmt/qemu-aarch64 ] || update-binfmts --enable qemu-aarch64
if [ ! -e "$root/cross" ]; then
  in_root 'sh packaging/install.sh --minimal libgtest-dev libgmock-dev python3-dev python3-venv'
  # The cross compiler, the libraries that it loads and their loader take the place of the compiler. They come from a root for x86-64.
  # shellcheck disable=SC2016
  sh scripts/in-root.sh "$release" "build-$release-root" 'apt-get update -q
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends g++-aarch64-linux-gnu
    dpkg-query -W -f "\${Package}\n" | grep -e "-aarch64-linux-gnu$" -e "-arm64-cross$" | xargs dpkg -L | grep -v ^/usr/share |
      sort -u >/tmp/files
    while read -r file; do if [ -f "$file" ] && [ -x "$file" ]; then echo "$file"; fi; done </tmp/files | xargs ldd 2>/dev/null |
      grep -o "/[^ ]*\.so[^ :]*" | sort -u >/tmp/libraries
    tar cf /tmp/cross.tar --no-recursion -T /tmp/files
    tar cf /tmp/libraries.tar --dereference -T /tmp/libraries'
  for part in libraries cross; do
    tar xf "build-$release-root/tmp/$part.tar" --keep-directory-symlink -C "$root"
  done
  touch "$root/cross"
fi
in_root "$commands"
[ "$1" = counts ] || exit 0
root=$(cd "$root" && pwd)

apt-get install -q -y --no-install-recommends qemu-user gcc libc6-dev
gcc -O2 -shared -fPIC -o "$root/build/count.so" tests/kernels/count_instructions.c
# count PRECISION TIMES WORK...
count() {
  qemu-aarch64 -L "$root" -E OPENBLAS_NUM_THREADS=1 -E LD_LIBRARY_PATH="$root/build/lib:$root/usr/lib/aarch64-linux-gnu" \
    -cpu cortex-a76 -plugin "$root/build/count.so" "$root/build/bin/kernels_work" "$@" 2>&1
}
# bound OPERATIONS MAXIMUM PRECISION WORK...: the difference of two runs has no instructions of the start
bound() {
  operations=$1 maximum=$2 precision=$3
  shift 3
  once=$(count "$precision" 1 "$@") twice=$(count "$precision" 2 "$@")
  echo "$once $twice" | awk -v n="$operations" -v max="$maximum" -v what="$precision $*" '
    { each = ($2 - $1) / n; printf "%s: %.4f instructions per operation, at most %s\n", what, each, max; exit !(each > 0 && each <= max) }'
}
for layer in '192 768' '768 192'; do
  for limit in 'fp32 0.162' 'fp16 0.090' 'int8 0.051'; do
    # shellcheck disable=SC2086
    bound 18874368 ${limit#* } ${limit% *} 64 $layer
  done
done
bound 1713734400 0.195 fp32 1025 3
bound 1713734400 0.095 int8 1025 3
bound 278102784 0.120 fp16 257 3  # qemu takes minutes for fp16 at 1025 rows
