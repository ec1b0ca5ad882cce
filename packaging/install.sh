#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the packages that building and testing this project needs, from the list of this Debian release. Root or sudo.
#   packaging/install.sh [--minimal] [PACKAGE...]      --minimal: no packages for the tests; PACKAGE: this one too
set -eu
fail() {
  echo "packaging/install.sh: $1" >&2
  exit "${2:-1}"
}

minimal=
[ "${1-}" != --minimal ] || { minimal=--minimal; shift; }
case ${1-} in -*) fail "unknown option '$1'; usage: packaging/install.sh [--minimal] [PACKAGE...]" 2 ;; esac

ID='' VERSION_ID=''
# shellcheck disable=SC1091
[ ! -r /etc/os-release ] || . /etc/os-release
list=$(dirname "$0")/$ID-${VERSION_ID:-13}.txt  # Debian testing and unstable have no VERSION_ID: use the newest list
[ -r "$list" ] || fail "no package list for ${PRETTY_NAME:-this system}: install the packages in packaging/debian-13.txt by hand"

sudo=
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || fail "run this as root, or install sudo"
  sudo=sudo
fi

errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
# apt ARGUMENT...: apt-get, which waits up to five minutes where another one runs, as at the first boot of a machine. The
# option of apt-get waits for the lock of dpkg only; those of the package lists and of the downloads are tried again.
apt() {
  tries=60
  until $sudo env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -o DPkg::Lock::Timeout=300 "$@" 2>"$errors"; do
    cat "$errors" >&2
    tries=$((tries - 1))
    if [ "$tries" -eq 0 ] || ! grep -q 'Could not get lock' "$errors"; then fail "apt-get $1 failed"; fi
    sleep 5
  done
  cat "$errors" >&2
}
apt update

packages=$*
while read -r name mark; do
  [ "$minimal$mark" != '--minimal[tests]' ] || break
  case $name in '' | '#'*) continue ;; esac
  if [ "$mark" = optional ] && ! apt-cache show "$name" >/dev/null 2>&1; then
    echo "packaging/install.sh: this release has no package $name, which is optional" >&2
  else
    packages="$packages $name"
  fi
done <"$list"

# --no-install-recommends: nothing here uses the several hundred packages that OpenCV and LibTorch recommend.
# shellcheck disable=SC2086
apt install -y --no-install-recommends $packages
