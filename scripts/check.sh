#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the sources: format, shell scripts, SPDX lines, include rules and clang-tidy.
#   scripts/check.sh [--quick]      --quick: without clang-tidy, which takes about ten minutes on 2 cores
# Needs the versions of Debian 12: clang-format 14, clang-tidy 14.
set -eu
cd "$(dirname "$0")/.."
case $* in
  '' | --quick) ;;
  *) echo "usage: scripts/check.sh [--quick]" >&2; exit 2 ;;
esac

# sources PATTERN...: files of the project by name
sources() {
  for pattern; do find . \( -path './build*' -o -path ./dist -o -path './.git' \) -prune -o -type f -name "$pattern" -print; done
}
if clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
  sources '*.cpp' '*.h' '*.hpp' '*.cu' '*.cuh' | xargs clang-format --dry-run -Werror
else
  echo "scripts/check.sh: format not checked: clang-format 14 is not installed" >&2
fi
sources '*.sh' | xargs shellcheck .ci/run packaging/debian/mpm.postinst packaging/debian/tests/app packaging/debian/tests/command packaging/debian/tests/program
cmake -DSOURCE_DIR="$PWD" -P tests/package/licence_lines.cmake
cmake -DSOURCE_DIR="$PWD" -P tests/package/includes_point_one_way.cmake
[ "$*" != --quick ] || exit 0

# A unity build: most of the time goes into headers. Without train and hardening: clang 14 cannot compile LibTorch's headers and refuses a flag.
modules='(bench|cli|gui|mpm_layer|toolkit)/'
cmake -S . -B build-tidy -DMPM_WITH_CUDA=OFF -DMPM_HARDENING=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_UNITY_BUILD=ON >/dev/null
# Unity files include what is written when the project is built. Nothing is built here, and an empty file will do.
grep -rhoE '[^"]*/(mocs_compilation|page/assets).cpp' --include='unity_*' build-tidy | while read -r file; do
  mkdir -p "$(dirname "$file")"
  touch "$file"
done
# Unity files include .cpp files.
run-clang-tidy -quiet -p build-tidy -checks=-bugprone-suspicious-include -header-filter "^$PWD/$modules" \
  "^$PWD/$modules" "^$PWD/build-tidy/$modules.*/Unity/"
