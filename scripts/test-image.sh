#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests an image of scripts/image.sh without a daemon: unpacks it, and runs its programs as its configuration says, in namespaces of their
# own without a network, where only the volume can be written. Then the same for the add-on of Home Assistant that scripts/addon.sh makes
# of it, with a stand-in for the Supervisor and a real MQTT broker. Root; minutes.
#   scripts/test-image.sh [IMAGE]      default: the image in build-image/
set -eu
fail() {
  echo "scripts/test-image.sh: $1" >&2
  exit 1
}
if [ -z "${MPM_INSIDE-}" ]; then
  [ "$(id -u)" -eq 0 ] || fail "run this as root: it mounts and changes users"
  for program in convert curl ip jq mosquitto umoci; do
    command -v $program >/dev/null || [ -x /usr/sbin/$program ] || fail "install the packages of packaging/install.sh: there is no $program"
  done
  if [ $# -eq 0 ]; then
    set -- "$(dirname "$0")"/../build-image/*.oci.tar
    if [ $# -ne 1 ] || [ ! -e "$1" ]; then fail "name the image: there is none or more than one in build-image/"; fi
  fi
  MPM_INSIDE=1 exec unshare --mount --pid --net --ipc --uts --fork --kill-child --mount-proc sh "$0" "$(realpath "$1")"
fi
image=$1
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin
work=$(mktemp -d "$(dirname "$image")/test.XXXXXX")
chmod 755 "$work"
finish() {
  for root in "$work/bundle/rootfs" "$work/addon"; do ! mountpoint -q "$root" || umount -R "$root"; done
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM
# The page listens at .3; .2 is where Home Assistant comes from.
ip link set lo up
for address in 172.30.32.2/32 172.30.32.3/32; do ip address add $address dev lo; done

# furnish ROOT FOLDER=WRITABLE...: what a container has of its machine; all but the named folders is read-only
furnish() {
  root=$1
  shift
  mount --bind "$root" "$root"
  mount -t proc proc "$root/proc"
  mount -t tmpfs tmpfs "$root/tmp"
  mount -t tmpfs tmpfs "$root/dev"
  for device in null zero random urandom; do
    : >"$root/dev/$device"
    mount --bind /dev/$device "$root/dev/$device"
  done
  for pair; do mount --bind "${pair#*=}" "$root${pair%%=*}"; done
  mount -o remount,bind,ro "$root"
}
# until_so SECONDS COMMAND...
until_so() {
  left=$1
  shift
  until "$@"; do
    left=$((left - 1))
    [ $left -gt 0 ] || fail "in vain: $*"
    kill -0 "$program" 2>/dev/null || { cat "$work/log" >&2; fail "the program has ended"; }
    sleep 1
  done
}
# ended: tells the program to stop, and waits until it has
ended() {
  kill "$program"
  wait "$program" || { cat "$work/log" >&2; fail "the program ended with $?"; }
}
# unprivileged: the program is not root, and cannot become it
unprivileged() {
  grep -qx "Uid:	$1	$1	$1	$1" "/proc/$program/status" || fail "it does not run as user $1"
  grep -qx "CapEff:	0*" "/proc/$program/status" || fail "it has rights of root"
}

echo "== the image"
mkdir "$work/layout" "$work/volume"
tar -xf "$image" -C "$work/layout"
umoci unpack --image "$work/layout:$(umoci ls --layout "$work/layout")" "$work/bundle"
root=$work/bundle/rootfs spec=$work/bundle/config.json
uid=$(jq .process.user.uid "$spec") gid=$(jq .process.user.gid "$spec")
[ "$uid" -ne 0 ] || fail "its user is root"
jq -e '.process.args == ["/usr/bin/mpm", "monitor", "--watch", "/var/lib/mpm/watch.toml"] and .process.cwd == "/var/lib/mpm"' "$spec" >/dev/null
jq -e '.mounts | any(.destination == "/var/lib/mpm")' "$spec" >/dev/null || fail "it has no volume"
version=$(jq -r '.annotations["org.opencontainers.image.version"]' "$spec")
[ "$(sed -n 's/^project(mpm_layer VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)" = "$version" ] || fail "its version is $version"
for file in usr/share/doc/mpm/copyright usr/share/doc/libc6/copyright usr/share/doc/mpm/bom-*.json; do
  [ -s "$(find "$root" -path "$root/$file")" ] || fail "$file is missing"
done
[ -s "$root/etc/ssl/certs/ca-certificates.crt" ] || fail "there are no certificates for TLS"
# A new volume has the owner of the folder in the image.
chown --reference="$root/var/lib/mpm" "$work/volume"
[ "$(stat -c %u:%g "$work/volume")" = "$uid:$gid" ] || fail "the volume belongs to another user"
furnish "$root" "/var/lib/mpm=$work/volume"
# image COMMAND...: becomes it, as the image says
image() {
  # shellcheck disable=SC2046
  exec chroot --userspec="$uid:$gid" --groups= "$root" env -i -C "$(jq -r .process.cwd "$spec")" $(jq -r '.process.env[]' "$spec") "$@"
}
entry=$(jq -r '.process.args | join(" ")' "$spec")
[ "$(image mpm --version)" = "mpm $version" ] || fail "its program has another version"
(image mpm info)
if (image touch /usr/bin/x /x /var/x) 2>/dev/null; then fail "more than the volume can be written"; fi
# shellcheck disable=SC2086
if (image $entry) 2>"$work/log"; then fail "it watches nothing"; fi
grep /var/lib/mpm/watch.toml "$work/log"

echo "== a street is watched, and its page answers"
cat >"$work/volume/watch.toml" <<'END'
[[camera]]
name = "street"
source = "demo:"
db = "street.db"
snapshots = "pictures"
[page]
address = "0.0.0.0:8080"
token-file = "token"
END
echo 0123456789abcdef >"$work/volume/token"
chown "$uid:$gid" "$work/volume/token"
chmod 600 "$work/volume/token"
# samples QUANTITY ARGUMENT...: asks the page with curl whether the camera street has so many samples
samples() {
  least=$1
  shift
  [ "$(curl --silent "$@" | jq '.cameras[] | select(.name == "street") | .samples' 2>/dev/null || echo 0)" -ge "$least" ] 2>/dev/null
}
page=http://172.30.32.3:8080
# shellcheck disable=SC2086
image $entry >"$work/log" 2>&1 &
program=$!
until_so 120 samples 3 --header "Authorization: Bearer 0123456789abcdef" $page/api/cameras
unprivileged "$uid"
[ "$(curl --silent --output /dev/null --write-out '%{http_code}' $page/api/cameras)" = 401 ] || fail "the page needs no token"
curl --silent --fail $page/ | grep -q '<title>Cameras</title>'
ended

echo "== what the volume has is there the next time"
before=$(image mpm report street.db --json | jq .samples)
[ "$before" -ge 3 ]
[ "$(stat -c %u "$work/volume/street.db")" = "$uid" ]
ls "$work/volume/pictures"/*.png >/dev/null
# shellcheck disable=SC2086
image $entry >"$work/log" 2>&1 &
program=$!
until_so 120 samples $((before + 1)) --header "Authorization: Bearer 0123456789abcdef" $page/api/cameras
ended

echo "== the add-on of Home Assistant"
sh scripts/addon.sh "$image" "$work/folder"
mkdir "$work/addon" "$work/data" "$work/config" "$work/media"
tar -xzf "$work/folder/root.tar.gz" -C "$work/addon"
mkdir -p "$work/addon/usr/libexec/mpm" "$work/addon/data" "$work/addon/config"
cp "$work/folder/run.sh" "$work/folder/watch.jq" "$work/addon/usr/libexec/mpm"
furnish "$work/addon" "/data=$work/data" "/media=$work/media"
python3 -c 'import json, sys, yaml; json.dump(yaml.safe_load(open(sys.argv[1]))["options"], sys.stdout)' "$work/folder/config.yaml" \
  >"$work/data/options.json"
chmod 600 "$work/data/options.json"

cat >"$work/mosquitto.conf" <<END
listener 1883 172.30.32.3
allow_anonymous false
password_file $work/passwords
user root
END
touch "$work/passwords"
chmod 600 "$work/passwords"
mosquitto_passwd -b "$work/passwords" addons "secret word"
mosquitto -c "$work/mosquitto.conf" >"$work/broker.log" 2>&1 &
mkdir "$work/supervisor"
cat >"$work/supervisor/mqtt" <<'END'
{"result": "ok", "data": {"host": "172.30.32.3", "port": 1883, "ssl": false, "username": "addons", "password": "secret word", "protocol": "3.1.1"}}
END
mkdir "$work/supervisor/services"
mv "$work/supervisor/mqtt" "$work/supervisor/services/mqtt"
python3 -m http.server --bind 172.30.32.2 --directory "$work/supervisor" 80 >"$work/supervisor.log" 2>&1 &
until curl --silent --output /dev/null http://172.30.32.2/services/mqtt; do sleep 0.2; done

chroot "$work/addon" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin TZ=Europe/Paris SUPERVISOR=http://172.30.32.2 SUPERVISOR_TOKEN=x \
  "$(sed -n 's/^ENTRYPOINT \["\(.*\)"\]/\1/p' "$work/folder/Dockerfile")" >"$work/log" 2>&1 &
program=$!
page=http://172.30.32.3:8099
until_so 120 samples 2 --interface 172.30.32.2 $page/api/cameras
[ "$(curl --silent --interface 172.30.32.3 --output /dev/null --write-out '%{http_code}' $page/api/cameras)" = 403 ] ||
  fail "the page is open to others than Home Assistant"
curl --silent --fail --interface 172.30.32.2 --dump-header - $page/ | grep -q "frame-ancestors 'self'"
unprivileged "$(sed -n 's/^mpm:x:\([0-9]*\):.*/\1/p' "$work/addon/etc/passwd")"
grep -qx 'NoNewPrivs:	1' "/proc/$program/status"
mosquitto_sub -h 172.30.32.3 -u addons -P "secret word" -t 'homeassistant/device/+/config' -C 1 -W 60 | jq -e .device.name
ended
ls "$work/data/mpm/street.db" "$work/media/mpm/street"/*.png
echo "all is well"
