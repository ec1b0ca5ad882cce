#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds Debian packages of the latest commit for this release of Debian, with libmpm-cuda if nvcc is on the PATH, and makes DIR a
# signed apt repository of them (scripts/repository.sh). Root or sudo.
#   scripts/package.sh [--minimal] [DIR]      default build-packages/; --minimal: without the trainer
# MAINTAINER='NAME <ADDRESS>': who answers for the packages; the default is the author of the commit.
set -eu
cd "$(dirname "$0")/.."
minimal=
[ "${1-}" != --minimal ] || { minimal=--minimal; shift; }
dir=${1:-build-packages}
case $dir in -*) echo "usage: scripts/package.sh [--minimal] [DIR]" >&2; exit 2 ;; esac
sh packaging/install.sh $minimal
profiles=${minimal:+pkg.mpm-layer.notrain}
! command -v nvcc >/dev/null || profiles=${profiles:+$profiles,}pkg.mpm-layer.cuda
maintainer=${MAINTAINER:-$(git log -1 --format='%an <%ae>')}
version=$(sed -n '1s/.*(\(.*\)-.*/\1/p' packaging/debian/changelog)
release=$(sed -n 's/^VERSION_ID="\(.*\)"/\1/p' /etc/os-release)
tree=$dir/mpm-layer-$version original=$dir/mpm-layer_$version.orig.tar log=$dir/mpm-layer_$version.build
rm -rf "$tree" "$log.failed"; mkdir -p "$dir"
git archive --prefix="mpm-layer-$version/" HEAD | tee "$original" | tar x -C "$dir"
xz --force -T0 -1 "$original"
cp -r packaging/debian "$tree/debian"
# 0.1.0-1~deb12 is older than 0.1.0-1~deb13: an upgrade of Debian then installs the packages of its release.
sed -i "s|@MAINTAINER@|$maintainer|; /^mpm-layer/s/)/~deb$release)/" "$tree/debian/control" "$tree/debian/changelog"
{ (cd "$tree" && dpkg-buildpackage --no-sign ${profiles:+"-P$profiles"}) 2>&1 || touch "$log.failed"; } | tee "$log"
[ ! -e "$log.failed" ] || exit 1
rm -rf "$tree"
sh scripts/repository.sh "$dir"
