#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds and tests with OpenCV 5 of Debian experimental and the compilers of Debian sid, in a root made by debootstrap.
# Needs root for chroot and mount. Installs debootstrap. Another run continues in the same ROOT, and builds in ROOT/src/build.
#   scripts/test-opencv5.sh [ROOT [TARGETS [TESTS]]]
# TARGETS, separated by spaces, and TESTS, a regular expression for names of tests, select a part:
#   scripts/test-opencv5.sh build-opencv5-root 'onnx_test net_test' '^(onnx|net)\.'
set -eu
cd "$(dirname "$0")/.."
[ "$(id -u)" -eq 0 ] || { echo "scripts/test-opencv5.sh: run this as root: it uses chroot and mount" >&2; exit 1; }
root=${1:-build-opencv5-root} targets=${2:-all} tests=${3:-.}
export LC_ALL=C.UTF-8

mkdir -p "$root"
root=$(cd "$root" && pwd)
if [ ! -e "$root/complete" ]; then
  command -v debootstrap >/dev/null || { apt-get update -q && apt-get install -q -y --no-install-recommends debootstrap; }
  mirror=$(sh scripts/mirror.sh)
  debootstrap --variant=minbase sid "$root" "$mirror"
  echo "deb $mirror experimental main" >"$root/etc/apt/sources.list.d/experimental.list"
  printf 'Package: src:opencv\nPin: release a=experimental\nPin-Priority: 900\n' >"$root/etc/apt/preferences.d/opencv"
  # A mirror may be older than the two weeks for which the lists of sid and experimental are valid.
  echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/20mirror"
  touch "$root/complete"
fi

mkdir -p "$root/src/mpm_layer" "$root/src/shared" "$root/dev/shm"
mounted=
# shellcheck disable=SC2154
trap 'for folder in $mounted; do umount "$root$folder"; done' EXIT
trap 'exit 1' HUP INT TERM
bind() {
  mount --bind "$1" "$root$2"
  mounted="$2 $mounted"
}
bind /proc /proc
bind /dev/pts /dev/pts
bind /dev/shm /dev/shm
bind "$PWD" /src/mpm_layer
[ ! -d ../shared ] || bind "$(cd ../shared && pwd -P)" /src/shared  # models and images of some tests

# shellcheck disable=SC2016
chroot "$root" sh -euc '
  cd /src/mpm_layer
  sh packaging/install.sh
  cmake -S . -B ../build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DMPM_BUILD_TESTS=ON \
    -DMPM_WARNINGS_AS_ERRORS=ON
  # shellcheck disable=SC2086
  cmake --build ../build --target $1
  ctest --test-dir ../build --output-on-failure --label-exclude long --parallel "$(nproc)" --tests-regex "$2"
' sh "$targets" "$tests"
