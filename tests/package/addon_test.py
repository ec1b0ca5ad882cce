# SPDX-License-Identifier: Apache-2.0
"""The add-on of Home Assistant: its folder by the rules of the Supervisor, and its options by what mpm reads.

addon_test.py MPM SOURCE VERSION: SOURCE is the project, VERSION its version. Exit status 77: skipped.
Rules: https://developers.home-assistant.io/docs/apps/configuration and the schema of the Supervisor, as of November 2026.
"""
import copy
import http.server
import io
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading

try:
    import yaml
except ImportError:
    print("skipped: python3-yaml is not installed")
    sys.exit(77)
for program in "jq", "curl":
    if not shutil.which(program):
        print(f"skipped: {program} is not installed")
        sys.exit(77)

MPM, SOURCE, VERSION = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
FOLDER = SOURCE / "packaging/home-assistant"


def text(value):
    return isinstance(value, str) and value != ""


def flag(value):
    return isinstance(value, bool)


def matches(pattern):
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


def one_of(*values):
    return lambda value: value in values


def list_of(rule):
    return lambda value: isinstance(value, list) and value != [] and all(rule(one) for one in value)


def number(low, high):
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def folder_map(value):
    kinds = one_of("data", "ssl", "addons", "backup", "share", "media", "homeassistant_config", "all_addon_configs", "addon_config")
    return (isinstance(value, dict) and set(value) <= {"type", "read_only", "path"} and kinds(value.get("type"))
            and flag(value.get("read_only", True)) and text(value.get("path", "/x")))


# Of a schema: "float(0,10)?", "match(^a$)", "list(a|b)".
ELEMENT = re.compile(r"(?P<kind>bool|email|url|port|device|str|password|int|float|match|list)(?:\((?P<argument>.*)\))?(?P<optional>\?)?")
RANGE = re.compile(r"(-?[0-9.]+)?,(-?[0-9.]+)?")


def element(value):
    found = ELEMENT.fullmatch(value) if isinstance(value, str) else None
    if not found:
        return None
    kind, argument = found["kind"], found["argument"]
    if kind in ("match", "list"):
        return found if argument else None
    if kind in ("str", "password", "int", "float"):
        return found if argument is None or RANGE.fullmatch(argument) else None
    return found if argument is None or kind == "device" else None


def is_schema(value):
    if isinstance(value, dict):
        return all(isinstance(key, str) and is_schema(one) for key, one in value.items())
    if isinstance(value, list):
        return len(value) == 1 and not isinstance(value[0], list) and is_schema(value[0])
    return element(value) is not None


# What was taken out of the Supervisor, or is ignored, is no key here: advanced, codenotary, auto_uart, snapshot...
KEYS = {
    "name": text, "version": text, "slug": matches(r"[-_.A-Za-z0-9]+"), "description": text, "arch": list_of(one_of("amd64", "aarch64")),
    "url": matches(r"https?://[^ /]+\S*"), "startup": one_of("initialize", "system", "services", "application", "once"),
    "boot": one_of("auto", "manual", "manual_only"), "init": flag, "stage": one_of("stable", "experimental", "deprecated"),
    "ports": lambda value: all(matches(r"[0-9]+/(tcp|udp)")(key) for key in value), "webui": matches(r"https?://\[HOST\]:\[PORT:[0-9]+\].*"),
    "watchdog": matches(r"(https?|tcp)://\[HOST\]:(\[PORT:[0-9]+\]|[0-9]+).*"), "ingress": flag, "ingress_port": number(0, 65535),
    "ingress_entry": text, "ingress_stream": flag, "panel_icon": matches(r"mdi:[-a-z0-9]+"), "panel_title": text, "panel_admin": flag,
    "homeassistant": text, "devices": list_of(text), "map": list_of(folder_map), "environment": lambda value: all(map(text, value.values())),
    "apparmor": flag, "audio": flag, "video": flag, "usb": flag, "udev": flag, "tmpfs": flag,
    "services": list_of(matches(r"(mqtt|mysql):(provide|want|need)")), "backup": one_of("hot", "cold"), "backup_exclude": list_of(text),
    "timeout": number(10, 300), "image": text, "options": lambda value: isinstance(value, dict),
    "schema": lambda value: isinstance(value, dict) and is_schema(value),
}
REQUIRED = {"name", "version", "slug", "description", "arch"}


def config_problems(config):
    problems = [f"{key} is missing" for key in sorted(REQUIRED - set(config))]
    for key, value in config.items():
        if key not in KEYS:
            problems.append(f"{key} is no key")
        elif not KEYS[key](value):
            problems.append(f"{key}: {value!r} is not allowed")
    return problems


def option_problems(value, schema, where="options"):
    """As the Supervisor checks what somebody has entered."""
    if isinstance(schema, list):
        if not isinstance(value, list):
            return [f"{where} is no list"]
        return [problem for i, one in enumerate(value) for problem in option_problems(one, schema[0], f"{where}[{i}]")]
    if isinstance(schema, dict):
        if not isinstance(value, dict):
            return [f"{where} is no table"]
        problems = [f"{where}.{key} is unknown" for key in value if key not in schema]
        for key, rule in schema.items():
            if key in value:
                problems += option_problems(value[key], rule, f"{where}.{key}")
                continue
            inner = rule[0] if isinstance(rule, list) else rule
            if not (isinstance(inner, str) and inner.endswith("?")):
                problems.append(f"{where}.{key} is missing")
        return problems
    rule = element(schema)
    kind, argument = rule["kind"], rule["argument"]
    if kind == "bool":
        good = isinstance(value, bool)
    elif kind in ("int", "float"):
        low, high = RANGE.fullmatch(argument).groups() if argument else (None, None)
        good = (isinstance(value, int if kind == "int" else (int, float)) and not isinstance(value, bool)
                and (low is None or value >= float(low)) and (high is None or value <= float(high)))
    elif kind == "match":
        good = isinstance(value, str) and re.match(argument, value) is not None
    elif kind == "list":
        good = value in argument.split("|")
    else:
        good = isinstance(value, str)
    return [] if good else [f"{where}: {value!r} is not {schema}"]


def translation_problems(translation, schema):
    problems = []
    if set(translation) - {"configuration", "network"}:
        problems.append(f"sections {set(translation)}")

    def compare(words, rules, where):
        if set(words) != set(rules):
            problems.append(f"{where}: words for {sorted(set(words) ^ set(rules))} are missing or too many")
        for key in set(words) & set(rules):
            if not (set(words[key]) <= {"name", "description", "fields"} and text(words[key].get("name")) and text(words[key].get("description"))):
                problems.append(f"{where}.{key} has no name or no description")
            rule = rules[key][0] if isinstance(rules[key], list) else rules[key]
            compare(words[key].get("fields", {}), rule if isinstance(rule, dict) else {}, f"{where}.{key}")
    compare(translation["configuration"], schema, "configuration")
    return problems


def run(*command, expect=0, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300, **more)
    assert done.returncode == expect, (command, done.returncode, done.stdout, done.stderr)
    return done


class Supervisor(http.server.BaseHTTPRequestHandler):
    """Says which broker there is, to those who have the token."""
    status, data = 200, None

    def log_message(self, *_):
        pass

    def do_GET(self):
        allowed = self.path == "/services/mqtt" and self.headers["Authorization"] == "Bearer of the add-on"
        body = json.dumps({"result": "ok", "data": self.data} if allowed and self.status == 200 else {"result": "error", "message": "no"}).encode()
        self.send_response(self.status if allowed else 403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Addon:
    """A root with the folders of Home Assistant, where run.sh starts mpm --check in place of watching for ever."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        for folder in "data", "config", "media", "bin":
            (self.root / folder).mkdir()
        programs = {
            "chown": "exit 0",
            "setpriv": 'while [ "$1" != mpm ] || [ "$2" != monitor ]; do shift; done; exec "$@"',
            "mpm": f'[ "$1 $2" = "monitor --watch" ] || exit 99; [ "$PWD" = "{self.root}/data/mpm" ] || exit 98; exec "{MPM}" monitor --check "$3"'}
        for name, body in programs.items():
            (self.root / "bin" / name).write_text("#!/bin/sh\n" + body + "\n")
            (self.root / "bin" / name).chmod(0o755)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Supervisor)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.watch = self.root / "data/mpm/watch.toml"

    def start(self, options, expect=0, token="of the add-on"):
        (self.root / "data/options.json").write_text(json.dumps(options))
        return run("sh", FOLDER / "run.sh", expect=expect, cwd="/", env={
            **os.environ, "PATH": f"{self.root}/bin:{os.environ['PATH']}", "ROOT": str(self.root), "SUPERVISOR_TOKEN": token,
            "SUPERVISOR": f"http://127.0.0.1:{self.server.server_port}", "no_proxy": "127.0.0.1"})

    def read(self):
        """The watch file as mpm reads it."""
        return run(MPM, "monitor", "--watch", self.watch, "--print-watch").stdout


def keys_of_watch():
    """{table: keys} of a watch file, as mpm lists them."""
    keys, table = {}, ""
    for line in run(MPM, "monitor", "demo:", "--print-watch").stdout.splitlines():
        if found := re.fullmatch(r"#? ?\[\[?([a-z]+)\]?\]", line):
            table = found[1]
        elif found := re.match(r"(?:# )?([a-z][-a-z]*) = ", line):
            keys.setdefault(table, set()).add(found[1])
    return keys


def check_folder(config):
    assert config_problems(config) == [], config_problems(config)
    assert config["version"] == VERSION, "scripts/set-version.sh writes it"
    assert option_problems(config["options"], config["schema"]) == [], option_problems(config["options"], config["schema"])
    for file in (FOLDER / "translations").iterdir():
        problems = translation_problems(yaml.safe_load(file.read_text()), config["schema"])
        assert problems == [], (file, problems)
    for name in "DOCS.md", "README.md", "Dockerfile", "run.sh", "watch.jq", "translations/en.yaml":
        assert (FOLDER / name).stat().st_size > 0, name
    dockerfile = (FOLDER / "Dockerfile").read_text()
    assert "FROM scratch\n" in dockerfile, "nothing is downloaded"
    entry = json.loads(re.search(r"^ENTRYPOINT (.*)$", dockerfile, re.M)[1])
    copied = re.search(r"^COPY (.*) (\S+)/$", dockerfile, re.M)
    assert entry == [f"{copied[2]}/run.sh"] and set(copied[1].split()) == {"run.sh", "watch.jq"}, "run.sh finds watch.jq beside it"
    assert os.access(FOLDER / "run.sh", os.X_OK)


def check_rules(config):
    """The rules above find what is wrong."""
    for change in ({"slug": "a b"}, {"arch": ["i386"]}, {"arch": []}, {"services": ["mqtt:use"]}, {"map": [{"type": "config"}]}, {"ingress_port": 70000},
                   {"watchdog": "http://localhost:8099"}, {"advanced": True}, {"timeout": 5}, {"schema": {"a": "text"}}, {"schema": {"a": [["str"]]}},
                   {"schema": {"a": "int(x)"}}, {"backup": "warm"}):
        assert len(config_problems({**config, **change})) == 1, change
    assert config_problems({key: value for key, value in config.items() if key != "slug"}) == ["slug is missing"]
    schema = {"cameras": [{"name": "match(^[a-z]+$)", "every": "float(0,5)?", "tags": ["str?"]}], "more": {"n": "int?"}}
    assert option_problems({"cameras": [{"name": "a", "every": 5}], "more": {}}, schema) == []
    for wrong in ({"cameras": []}, {"cameras": [{}], "more": {}}, {"cameras": [{"name": "A"}], "more": {}}, {"cameras": [{"name": "a", "every": 6}], "more": {}},
                  {"cameras": [{"name": "a", "tags": "x"}], "more": {}}, {"cameras": [], "more": {"n": 1.5}}, {"cameras": [], "more": {}, "x": 1}):
        assert len(option_problems(wrong, schema)) == 1, wrong
    words = yaml.safe_load((FOLDER / "translations/en.yaml").read_text())
    del words["configuration"]["cameras"]["fields"]["every"]
    assert len(translation_problems(words, config["schema"])) == 1


# A value for each option; tests have them all at once, then each bound of a number.
VALUES = {
    "name": "yard", "source": "demo:", "title": 'Höhe "2" \\ \n#', "every": 2.5, "lat": 48.1, "lon": 11.6, "model": "MODEL", "regions": "REGIONS", "states": [],
    "hide": "REGIONS", "blur": ["person"], "alarm": ["car>20", "no-frame>60"], "summary": 7, "snapshots": "SHOTS", "snapshot-every": 15, "keep": 365}


def check_options(config, addon):
    known, camera_schema, mqtt_schema = keys_of_watch(), config["schema"]["cameras"][0], config["schema"]["mqtt"]
    assert set(camera_schema) <= known["camera"], set(camera_schema) - known["camera"]
    assert set(mqtt_schema) <= known["mqtt"], set(mqtt_schema) - known["mqtt"]
    assert set(VALUES) == set(camera_schema), "a value for each option"

    regions = addon.root / "config/yard.json"
    regions.write_text(json.dumps({"regions": [{"name": "tree", "width": 640, "height": 480, "polygons": [[[10, 20], [200, 20], [120, 300]]]}]}))
    files = {"MODEL": SOURCE / "models/street_vit_t16.onnx", "REGIONS": regions, "SHOTS": addon.root / "media/mpm/yard"}
    camera = {key: str(files[value]) if isinstance(value, str) and value in files else value for key, value in VALUES.items()}
    options = {"cameras": [camera], "mqtt": {"picture": True, "every": 5}}
    assert option_problems(options, config["schema"]) == []
    Supervisor.data = {"addon": "core_mosquitto", "host": "core-mosquitto", "port": 1883, "ssl": False, "username": "addons", "password": 'p"\\ ü', "protocol": "3.1.1"}
    checked = addon.start(options).stdout
    assert f"1 camera\nyard  demo:  {addon.root}/data/mpm/yard.db" in checked, checked
    read = addon.read()
    for line in ("name = 'yard'", "every = 2.5", "lat = 48.1", "summary = 7", "snapshot-every = 15", "keep = 365", f"hide = '{regions}'", "blur = [ 'person' ]",
                 "address = 'core-mosquitto:1883'", "user = 'addons'", "picture = true", f"password-file = '{addon.root}/data/mpm/broker.password'",
                 "address = '0.0.0.0:8099'", "proxy = '172.30.32.2'"):
        assert f"\n{line}\n" in read, (line, read)
    assert 'Höhe "2"' in read and "token-file = '" not in read
    assert (addon.root / "data/mpm/broker.password").read_text() == 'p"\\ ü\n'
    for file in addon.watch, addon.root / "data/mpm/broker.password":
        assert file.stat().st_mode & 0o077 == 0, "a source may hold a password"
    assert 'p"' not in addon.watch.read_text() and "p\\" not in addon.watch.read_text()

    for end in 0, 1:  # mpm takes the least number that the form takes, and the largest
        changed = copy.deepcopy(options)
        for values, schema in (changed["cameras"][0], camera_schema), (changed["mqtt"], mqtt_schema):
            for key, rule in schema.items():
                found = element(rule) if isinstance(rule, str) else None
                if found and found["kind"] in ("int", "float"):
                    values[key] = int(RANGE.fullmatch(found["argument"])[end + 1])
        addon.start(changed)

    # What is left empty in the form counts as not set; what mpm refuses is one line that says so.
    emptied = {"cameras": [{"name": "yard", "source": "demo:", "title": "", "alarm": [], "states": [], "hide": ""}], "mqtt": {}}
    addon.start(emptied)
    assert "'yard'" in addon.read() and "\nhide" not in addon.read() and "\nalarm" not in addon.read()
    wrong = addon.start({"cameras": [{"name": "yard", "source": "demo:", "bogus": 1}], "mqtt": {}}, expect=2)
    assert "bogus" in wrong.stderr, wrong.stderr
    assert "has no camera" in addon.start({"cameras": [], "mqtt": {}}, expect=2).stderr


def check_start(config, addon):
    """The broker, a file of one's own, and the default options."""
    root, options = addon.root, copy.deepcopy(config["options"])
    for camera in options["cameras"]:
        camera["snapshots"] = str(root) + camera["snapshots"]
    Supervisor.data = {"host": "broker", "port": 8883, "ssl": True, "username": "", "password": ""}
    addon.start(options)
    read = addon.read()
    assert "\naddress = 'broker:8883'\n" in read and "\ntls = true\n" in read and "\nuser = " not in read and "\npassword-file = " not in read, read
    Supervisor.status = 400
    assert "no MQTT broker" in addon.start(options).stderr
    assert "\naddress = 'broker" not in addon.read()
    assert "does not say which MQTT broker there is (status 403)" in addon.start(options, expect=1, token="another").stderr
    own = root / "config/cameras.toml"
    own.write_text("[[camera]]\nname = 'gate'\nsource = 'demo:'\ndb = 'gate.db'\nreduce = 'none'\n[webhook]\nurl = 'http://receiver/'")  # no end of line
    checked = addon.start(options).stdout
    assert "2 cameras\n" in checked and f"\ngate  demo:  {root}/data/mpm/gate.db" in checked and "\nurl = 'http://receiver/'\n" in addon.read(), checked
    own.write_text("[[camera]]\nsorce = 'demo:'\n")
    assert "line 3" in addon.start(options, expect=2).stderr, "one line later than in the file of one's own"
    own.unlink()


def fake_image(file, arch):
    """An OCI archive of one layer."""
    blobs = {}

    def blob(content):
        import hashlib
        digest = hashlib.sha256(content).hexdigest()
        blobs[f"./blobs/sha256/{digest}"] = content
        return {"digest": f"sha256:{digest}", "size": len(content)}
    layer = os.urandom(1000)
    manifest = blob(json.dumps({"config": blob(json.dumps({"architecture": arch}).encode()), "layers": [blob(layer)]}).encode())
    with tarfile.open(file, "w") as archive:
        for name, content in {"./index.json": json.dumps({"manifests": [manifest]}).encode(), **blobs}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return layer


def check_made(config, scratch):
    """scripts/addon.sh makes the folder for one processor, with pictures of the sizes that Home Assistant shows."""
    if not shutil.which("convert"):
        print("not checked: scripts/addon.sh, because imagemagick is not installed")
        return
    image, made = scratch / "image.oci.tar", scratch / "made/mpm"
    for arch, name in ("arm64", "aarch64"), ("amd64", "amd64"):  # the second one in place of the first
        layer = fake_image(image, arch)
        run("sh", SOURCE / "scripts/addon.sh", image, made)
        assert yaml.safe_load((made / "config.yaml").read_text()) == {**config, "arch": [name]}
        assert (made / "root.tar.gz").read_bytes() == layer and "ADD root.tar.gz /\n" in (made / "Dockerfile").read_text()
    for file, size in ("icon.png", (128, 128)), ("logo.png", (250, 100)):
        assert struct.unpack(">II", (made / file).read_bytes()[16:24]) == size, file
    assert (made / "CHANGELOG.md").read_bytes() == (SOURCE / "CHANGELOG.md").read_bytes()
    fake_image(image, "riscv64")
    assert "Home Assistant does not have" in run("sh", SOURCE / "scripts/addon.sh", image, scratch / "none", expect=1).stderr
    precious = scratch / "precious"
    precious.mkdir()
    assert "name another folder" in run("sh", SOURCE / "scripts/addon.sh", image, precious, expect=1).stderr and precious.is_dir()
    assert [one.name for one in made.parent.iterdir()] == ["mpm"], "nothing is left over"


def main():
    config = yaml.safe_load((FOLDER / "config.yaml").read_text())
    check_folder(config)
    check_rules(config)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "root").mkdir()
        addon = Addon(scratch / "root")
        check_options(config, addon)
        check_start(config, addon)
        check_made(config, scratch)


main()
