#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds Debian packages of the latest commit for this release of Debian, with libmpm-cuda if nvcc is on the PATH, and makes DIR a
# signed apt repository of them. Root or sudo.
#   scripts/package.sh [--minimal] [DIR]      default build-packages/; --minimal: without the trainer
# GPG_KEY: the key of your key ring that signs; without it a new key signs, which proves nothing to others.
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
tree=$dir/mpm-layer-$version original=$dir/mpm-layer_$version.orig.tar
rm -rf "$tree"; mkdir -p "$dir"
git archive --prefix="mpm-layer-$version/" HEAD | tee "$original" | tar x -C "$dir"
xz --force -T0 -1 "$original"
cp -r packaging/debian "$tree/debian"
# 0.1.0-1~deb12 is older than 0.1.0-1~deb13: an upgrade of Debian then installs the packages of its release.
sed -i "s|@MAINTAINER@|$maintainer|; /^mpm-layer/s/)/~deb$release)/" "$tree/debian/control" "$tree/debian/changelog"
(cd "$tree" && dpkg-buildpackage --no-sign -J ${profiles:+"-P$profiles"})
rm -rf "$tree"; cd "$dir"
if [ -z "${GPG_KEY-}" ]; then
  GNUPGHOME=$(mktemp -d) GPG_KEY=mpm-layer
  export GNUPGHOME
  trap 'rm -rf "$GNUPGHOME"' EXIT
  gpg --batch --passphrase '' --quick-generate-key "$GPG_KEY"
fi
rm -f Release InRelease SHA256SUMS
apt-ftparchive packages . >Packages; apt-ftparchive sources . >Sources
apt-ftparchive -o APT::FTPArchive::Release::Origin=mpm-layer release . >new; mv new Release
gpg --export --armor "$GPG_KEY" >mpm-layer.asc
gpg --local-user "$GPG_KEY" --clearsign --output InRelease Release
sha256sum ./*.deb ./*.dsc ./*.buildinfo ./*.tar.xz | gpg --local-user "$GPG_KEY" --clearsign --output SHA256SUMS
