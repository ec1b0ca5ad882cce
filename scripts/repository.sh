#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes DIR, which holds Debian packages, a signed apt repository. mpm-layer.asc in it is the key that apt trusts.
#   scripts/repository.sh DIR
# GPG_KEY: the key of your key ring that signs; without it a new key signs, which proves nothing to others.
set -eu
cd "${1:?usage: scripts/repository.sh DIR}"
if [ -z "${GPG_KEY-}" ]; then
  GNUPGHOME=$(mktemp -d) GPG_KEY=mpm-layer
  export GNUPGHOME
  trap 'rm -rf "$GNUPGHOME"' EXIT
  gpg --batch --passphrase '' --quick-generate-key "$GPG_KEY"
fi
rm -f Release InRelease
apt-ftparchive packages . >Packages; apt-ftparchive sources . >Sources
apt-ftparchive -o APT::FTPArchive::Release::Origin=mpm-layer release . >new; mv new Release
gpg --export --armor "$GPG_KEY" >mpm-layer.asc
gpg --local-user "$GPG_KEY" --clearsign --output InRelease Release
