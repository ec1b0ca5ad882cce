#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the version of the next release into every file that holds it. The Debian packages of the library bear the first two numbers,
# as its file does: their files are renamed.
#   scripts/set-version.sh MAJOR.MINOR.PATCH
set -eu
cd "$(dirname "$0")/.."
new=${1-} old=$(sed -n 's/^project(mpm_layer VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
echo "$new" | grep -qx '[0-9]*\.[0-9]*\.[0-9]*' || { echo "usage: scripts/set-version.sh MAJOR.MINOR.PATCH; it is $old" >&2; exit 2; }
header=mpm_layer/include/mpm/version.hpp minor=${new#*.}
sed -i "s/${old}/$new/" CITATION.cff CMakeLists.txt $header
sed -i "s/_MAJOR .*/_MAJOR ${new%%.*}/; s/_MINOR .*/_MINOR ${minor%.*}/; s/_PATCH .*/_PATCH ${new##*.}/" $header
sed -i "s/^version: .*/version: \"$new\"/" packaging/home-assistant/config.yaml
sed -i "s|<releases>|&\n    <release version=\"$new\" date=\"$(date +%F)\"/>|" assets/desktop/*.metainfo.xml
printf 'mpm-layer (%s-1) unstable; urgency=medium\n\n  * CHANGELOG.md lists what changed.\n\n -- @MAINTAINER@  %s\n\n' \
  "$new" "$(LC_ALL=C date -R)" | cat - packaging/debian/changelog >packaging/debian/new
mv packaging/debian/new packaging/debian/changelog
[ "${old%.*}" != "${new%.*}" ] || exit 0
for file in packaging/debian/lib*"${old%.*}".*; do
  git mv "$file" "$(echo "$file" | sed "s/${old%.*}\./${new%.*}./")"
done
grep -rlE "libmpm-(layer|cuda)${old%.*}" docs packaging tests/package |
  xargs sed -i -E "s/(libmpm[-_](layer|cuda)(\.so\.)?)${old%.*}/\1${new%.*}/g"
sed -i -E "/@Base/s/ [0-9.]+$/ $new/" packaging/debian/*.symbols  # a new library: all that it exports is new
