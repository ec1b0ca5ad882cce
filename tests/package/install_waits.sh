#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# packaging/install.sh waits where another apt has a lock, and for nothing else. Programs of ours stand in for apt's.
#   install_waits.sh SOURCE_DIR FOLDER
set -eu
source=$1 folder=$2
ID=''
# shellcheck disable=SC1091
[ ! -r /etc/os-release ] || . /etc/os-release
[ "$ID" = debian ] || exit 77  # install.sh has no list of packages
rm -rf "$folder"
mkdir -p "$folder/bin"

# stand_in NAME: a program whose text is read from stdin
stand_in() {
  { echo '#!/bin/sh'; cat; } >"$folder/bin/$1"
  chmod +x "$folder/bin/$1"
}
echo 'exec "$@"' | stand_in sudo
echo 'exit 0' | stand_in apt-cache
stand_in sleep <<'EOF'
echo slept >>"$LOG"
EOF
# Fails as often as the file says, with the words in the environment.
stand_in apt-get <<'EOF'
echo "$*" >>"$LOG"
left=$(cat "$LEFT")
[ "$left" -gt 0 ] || exit 0
echo $((left - 1)) >"$LEFT"
echo "E: $WORDS" >&2
exit 100
EOF

# run TIMES WORDS: the exit status of install.sh
run() {
  : >"$folder/log"
  echo "$1" >"$folder/left"
  LOG=$folder/log LEFT=$folder/left WORDS=$2 PATH="$folder/bin:$PATH" sh "$source/packaging/install.sh" --minimal \
    >"$folder/out" 2>&1 && status=0 || status=$?
}
fail() {
  echo "install_waits.sh: $1" >&2
  cat "$folder/out" "$folder/log" >&2
  exit 1
}
held='Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)'
run 3 "$held"
[ "$status" = 0 ] || fail "a lock that is free later is no failure"
[ "$(grep -c slept "$folder/log")" = 3 ] || fail "it pauses before each try"
grep -q 'DPkg::Lock::Timeout=300 install -y' "$folder/log" || fail "nothing was installed"
run 1000 "$held"
[ "$status" = 1 ] || fail "it does not wait for ever"
grep -q 'apt-get update failed' "$folder/out" || fail "it says what failed"
run 1 'Unable to locate package x'
[ "$status" = 1 ] || fail "another failure is one"
! grep -q slept "$folder/log" || fail "nothing to wait for"
