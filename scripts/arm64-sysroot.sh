#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Downloads Debian 12's arm64 libraries and unpacks them into FOLDER for the cross compiler.
#   scripts/arm64-sysroot.sh FOLDER
set -eu
[ $# -eq 1 ] || { echo "usage: scripts/arm64-sysroot.sh FOLDER" >&2; exit 2; }
mkdir -p "$1"
root=$(cd "$1" && pwd)
[ ! -e "$root/complete" ] || exit 0

packages="libc6-dev linux-libc-dev libstdc++-12-dev libopencv-dev libopenblas-dev libhwy-dev libonnx-dev libprotobuf-dev
  nlohmann-json3-dev libcli11-dev libsqlite3-dev libboost-dev libgtest-dev libgmock-dev"
mkdir -p "$root/apt/lists/partial" "$root/apt/archives/partial" "$root/sysroot"
: >"$root/apt/status"
echo "deb http://deb.debian.org/debian bookworm main" >"$root/apt/sources.list"
# This machine's apt with separate lists and a separate package database.
apt() {
  apt-get -q -y -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::Etc::sourcelist="$root/apt/sources.list" \
    -o Dir::Etc::sourceparts=- -o Dir::State::lists="$root/apt/lists" -o Dir::State::status="$root/apt/status" \
    -o Dir::Cache="$root/apt" -o Dir::Cache::archives="$root/apt/archives" -o APT::Sandbox::User=root \
    -o Debug::NoLocking=1 -o APT::Install-Recommends=false "$@"
}
apt update
# shellcheck disable=SC2086
apt install --download-only $packages
for package in "$root"/apt/archives/*.deb; do dpkg -x "$package" "$root/sysroot"; done
# Absolute links would point into this machine's files.
find "$root/sysroot" -type l -lname '/*' | while read -r link; do
  ln -snf "$root/sysroot$(readlink "$link")" "$link"
done
# The links that update-alternatives makes on a real system.
lib=$root/sysroot/usr/lib/aarch64-linux-gnu
for folder in "$lib"/openblas-pthread "$lib"/blas "$lib"/lapack; do
  [ -d "$folder" ] || continue
  for library in "$folder"/*.so* "$folder"/*.a; do
    [ -e "$library" ] && [ ! -e "$lib/$(basename "$library")" ] && ln -s "$library" "$lib/"
  done
done
ln -snf "$lib/openblas-pthread/pkgconfig/openblas.pc" "$lib/pkgconfig/openblas.pc"
rm -rf "$root/apt/archives"
touch "$root/complete"
