#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what this distribution needs to build and test the project: the list beside this script named after it.
set -eu

usage() {
  echo "usage: packages/install.sh [--minimal] [--print]"
  echo "  --minimal  only what building and running needs, nothing for the tests"
  echo "  --print    print the package names and install nothing"
}

fail() {
  echo "packages/install.sh: $1" >&2
  exit "${2:-1}"
}

minimal=no
print=no
for argument in "$@"; do
  case $argument in
    --minimal) minimal=yes ;;
    --print) print=yes ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; fail "unknown option '$argument'" 2 ;;
  esac
done

folder=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
known=$(cd "$folder" && for list in *.txt; do printf ' %s' "${list%.txt}"; done)

[ -r /etc/os-release ] || fail "no /etc/os-release: cannot tell which distribution this is; install the packages of one of:$known"
ID='' VERSION_ID='' PRETTY_NAME=''
# shellcheck disable=SC1091
. /etc/os-release
list=$folder/$ID-$VERSION_ID.txt
[ -n "$VERSION_ID" ] || list=$folder/$ID-13.txt  # Debian testing and unstable carry no version: the newest list is the nearest
[ -r "$list" ] || fail "no package list for ${PRETTY_NAME:-$ID}; there is one for:$known. Install the like of $folder/debian-12.txt by hand"

if [ "$print" = no ]; then
  command -v apt-get >/dev/null || fail "apt-get not found, although this is ${PRETTY_NAME:-$ID}"
  sudo=
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "run this as root, or install sudo"
    sudo='sudo'
  fi
  $sudo apt-get update -q
fi

packages=
section=
while read -r name mark; do
  case $name in
    '#')
      case $mark in \[*\]) section=$mark ;; esac
      continue ;;
    '' | '#'*) continue ;;
  esac
  [ "$minimal" = no ] || [ "$section" = '[build]' ] || continue
  if [ "$mark" = optional ] && ! apt-cache show "$name" >/dev/null 2>&1; then
    echo "packages/install.sh: $name is not in ${PRETTY_NAME:-$ID}, going on without it" >&2
    continue
  fi
  packages="$packages $name"
done <"$list"

if [ "$print" = yes ]; then
  # shellcheck disable=SC2086
  printf '%s\n' $packages
  exit 0
fi
# --no-install-recommends: OpenCV's and LibTorch's recommendations are some hundred packages that nothing here uses.
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $packages
