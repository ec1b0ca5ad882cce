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
$sudo apt-get update -q

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
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $packages
