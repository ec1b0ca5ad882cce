#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The start of the add-on: writes a watch file from its options and the broker of Home Assistant, and watches as the user mpm.
# ROOT and SUPERVISOR: another place for the folders and another address, for tests.
set -eu
root=${ROOT-} supervisor=${SUPERVISOR-http://supervisor}
state=$root/data/mpm
say() { echo "mpm add-on: $1" >&2; }

mkdir -p "$state" "$root/media/mpm"
answer=$state/mqtt.json
umask 077
status=$(curl --silent --show-error --retry 3 --retry-all-errors --header "Authorization: Bearer ${SUPERVISOR_TOKEN-}" \
  --output "$answer" --write-out '%{http_code}' "$supervisor/services/mqtt")
case $status in
  200)
    broker=$(jq .data "$answer")
    jq --raw-output '.data.password // ""' "$answer" >"$state/broker.password" ;;
  400) broker=null; say "Home Assistant has no MQTT broker: nothing is sent. Install the add-on Mosquitto broker, then restart this one." ;;
  *) say "the Supervisor does not say which MQTT broker there is (status $status)"; exit 1 ;;
esac
rm -f "$answer"

watch=$state/watch.toml own=$root/config/cameras.toml
{
  echo '# Written by the add-on whenever it starts: changes are lost.'
  if [ -e "$own" ]; then cat "$own"; fi
  jq --raw-output --argjson broker "$broker" --from-file "$(dirname "$0")/watch.jq" "$root/data/options.json"
} >"$watch.new"
mv "$watch.new" "$watch"

# Of cameras at USB: the groups that may read them on this machine.
groups=$(for device in "$root"/dev/video*; do [ ! -e "$device" ] || stat --format %g "$device"; done | sort -u | paste -s -d ,)
if [ -n "$groups" ]; then set -- --groups "$groups"; else set -- --clear-groups; fi
chown -R mpm:mpm "$state"
chown mpm:mpm "$root/media/mpm"
umask 027
cd "$state"
exec setpriv --reuid mpm --regid mpm "$@" --no-new-privs --inh-caps=-all \
  mpm monitor --watch "$watch"
