#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command in a root of another Debian release, with this project in /src/mpm_layer and ../shared, if there is one, beside it.
# The first call makes ROOT. Needs root for chroot and mount; installs debootstrap.
#   scripts/in-root.sh RELEASE ROOT COMMAND      scripts/in-root.sh trixie build-trixie-root 'sh scripts/test.sh'
# ARCH=arm64 makes a root for 64-bit Arm, whose programs run under qemu.
set -eu
cd "$(dirname "$0")/.."
[ $# -eq 3 ] || { echo "usage: scripts/in-root.sh RELEASE ROOT COMMAND" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || { echo "scripts/in-root.sh: run this as root: it uses chroot and mount" >&2; exit 1; }
mkdir -p "$2"
root=$(cd "$2" && pwd)
if [ ! -e "$root/complete" ]; then
  command -v debootstrap >/dev/null || { apt-get update -q && apt-get install -q -y --no-install-recommends debootstrap; }
  debootstrap ${ARCH:+"--arch=$ARCH"} --variant=minbase --include=ca-certificates "$1" "$root" "$(sh scripts/mirror.sh)"
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
  # A mirror may be older than the two weeks for which the lists of sid and experimental are valid.
  echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/20mirror"
  cp -r /usr/local/share/ca-certificates "$root/usr/local/share"  # certificates that this machine trusts besides Debian's
  chroot "$root" update-ca-certificates
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
chroot "$root" sh -euc "export LC_ALL=C.UTF-8; cd /src/mpm_layer; $3"
