# SPDX-License-Identifier: Apache-2.0
"""What is told arrives, at real mosquitto, real Prometheus (each may be missing) and a receiver of POSTs.

tell_test.py VICTIM FOLDER MPM MODEL AWAY [TESTS...]: so many seconds of load while broker and receiver are away, too."""
import base64
import http.server
import json
import os
import pathlib
import queue
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import unittest
import urllib.parse
import urllib.request

VICTIM, FOLDER, MPM, MODEL, AWAY = sys.argv[1], pathlib.Path(sys.argv[2]), *sys.argv[3:5], float(sys.argv[5])
SCENE = "demo:street?size=96x128"
RULES = os.environ.get("MPM_RULES")  # for Prometheus; none: this build has no page or no scene
PATIENCE = 120
NEEDED = ["mosquitto", "mosquitto_sub", "mosquitto_pub", "mosquitto_passwd", "openssl"]
LENGTHS = "mpm/+/picture", "%r %t %l"  # of pictures: whether it was retained, and its size
os.environ["PATH"] += ":/usr/sbin"


def wait(what, done, progress=lambda: None):
    """Patience begins anew with each progress: thousands of messages take their time on a busy machine."""
    end, before = time.monotonic() + PATIENCE, None
    while not (result := done()):
        if (now := progress()) != before:
            end, before = time.monotonic() + PATIENCE, now
        if time.monotonic() > end:
            raise AssertionError("waited in vain: " + what)
        time.sleep(0.05)
    return result


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


def scene_of_now():
    return SCENE + "&start=" + time.strftime("%Y-%m-%dT%H:%M", time.gmtime())


def once(messages):
    """The messages without those whose id came before."""
    by_id = {m["id"]: m for m in messages}
    print(f"{len(by_id)} messages, {len(messages) - len(by_id)} a second time", file=sys.stderr)
    return list(by_id.values())


class Lines:
    """The output of a process, line by line."""

    def __init__(self, stream):
        self.lines, self.all = queue.Queue(), []
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream):
        for line in stream:
            self.all.append(line.rstrip("\n"))
            self.lines.put(self.all[-1])

    def until(self, part):
        while part not in (line := self.lines.get(timeout=PATIENCE)):
            pass
        return line


class Receiver:
    """A server that takes POSTs; `answer`: its HTTP status."""

    def __init__(self, there=True):
        self.port, self.got, self.headers, self.answer, self.server = free_port(), [], [], 200, None
        self.refuses = None  # messages with this text
        if there:
            self.start()

    def start(self):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                refused = receiver.refuses is not None and receiver.refuses in body["message"]
                if receiver.answer == 200 and not refused:
                    receiver.got.append(body)
                receiver.headers.append(self.headers)
                self.send_response(400 if refused else receiver.answer)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = FOLDER / self._testMethodName
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.running = []
        self.addCleanup(lambda: [(p.kill(), p.wait()) for p in self.running])

    def file(self, name, text, mode=0o600):
        path = self.folder / name
        path.write_text(text)
        path.chmod(mode)
        return path

    def process(self, command, **more):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **more)
        self.running.append(process)
        return process, Lines(process.stdout)

    def victim(self, tables):
        watch = self.file("yard.toml", "[[camera]]\nsource = '0'\n" + tables)
        return self.process([VICTIM, watch, self.folder / "a.db"], stdin=subprocess.PIPE)

    def say(self, victim, lines):
        victim.stdin.write("".join(f"{line}\n" for line in lines))
        victim.stdin.flush()

    def load(self, victim, first):
        """Events with these numbers, for as long as nobody is to listen; the number after the last one."""
        end = time.monotonic() + AWAY
        while time.monotonic() < end:
            self.say(victim, [first])
            first += 1
            time.sleep(0.02)
        return first

    def end(self, victim):
        victim.stdin.close()
        self.assertEqual(victim.wait(PATIENCE), 0)


class Hook(Case):
    def test_webhook(self):
        receiver = Receiver()
        self.file("token", "geheim\n")
        tables = f"[webhook]\nurl = 'http://127.0.0.1:{receiver.port}/geheim'\ntoken-file = 'token'\n"
        victim, said = self.victim(tables)
        self.say(victim, range(300))
        wait("some", lambda: len(receiver.got) > 20)
        receiver.stop()
        self.say(victim, range(300, 400))
        said.until("cannot send to webhook, messages wait: ")
        count = self.load(victim, 400)
        receiver.answer = 503
        receiver.start()
        wait("a refusal", lambda: len(receiver.headers) > len(receiver.got))
        receiver.answer = 200
        said.until("sends to webhook again")
        wait("all", lambda: [m for m in receiver.got if m["message"] == str(count - 1)], lambda: len(receiver.got))
        self.assertEqual(len([line for line in said.all if "cannot send" in line]), 1, "one outage is one event")
        receiver.stop()
        self.say(victim, [*range(count, count + 20), "flush"])
        said.until("flushed")
        victim.send_signal(signal.SIGKILL)  # between storing and sending
        victim.wait()
        receiver.start()
        self.end(self.victim(tables)[0])
        messages = [m["message"] for m in once(receiver.got) if m["event"] == "alarm"]
        self.assertEqual(messages, [str(n) for n in range(count + 20)])
        self.assertEqual({h["Authorization"] for h in receiver.headers}, {"Bearer geheim"})
        self.assertEqual(receiver.got[0]["camera"], "yard")
        self.assertNotIn(b"geheim", (self.folder / "a.db").read_bytes())
        self.assertNotIn("geheim", str(said.all))
        self.assertEqual(sqlite3.connect(self.folder / "a.db").execute("SELECT number FROM outbox").fetchall(), [])

    def test_pictures_are_small_and_a_minute_apart(self):
        receiver = Receiver()
        victim, _ = self.victim(f"[webhook]\nurl = 'http://127.0.0.1:{receiver.port}/'\npicture = true\n")
        for time_ms in [0, 59_999, 60_000]:
            self.say(victim, [f"picture {time_ms}", f"at {time_ms}"])
            wait("a picture", lambda message=f"at {time_ms}": any(m["message"] == message for m in receiver.got))
        self.say(victim, ["summary"])
        wait("the summary", lambda: any(m["event"] == "summary" for m in receiver.got))
        self.say(victim, ["drop", "of before"])
        self.end(victim)
        self.assertNotIn("picture", [m for m in receiver.got if m["message"] == "of before"][0], "it was taken back")
        self.assertEqual([(m["summary"]["samples"], "picture" in m) for m in receiver.got if m["event"] == "summary"], [(1, True)])
        first, same, other = [base64.b64decode(m["picture"], validate=True) for m in receiver.got if m["message"].startswith("at ")]
        self.assertEqual(first, same)
        for one in [first, other]:
            self.assertEqual((one[:2], one[-2:]), (b"\xff\xd8", b"\xff\xd9"), "a whole JPEG")
            self.assertLess(len(one), 1_900_001)
        self.assertNotEqual(first, other)

    def test_a_picture_is_no_younger_than_its_event(self):
        receiver = Receiver()
        receiver.answer = 503
        victim, said = self.victim(f"[webhook]\nurl = 'http://127.0.0.1:{receiver.port}/'\npicture = true\n")
        self.say(victim, ["waits", "flush"])
        said.until("cannot send to webhook")
        self.say(victim, ["picture 0", "comes later"])
        receiver.answer = 200
        self.end(victim)
        self.assertEqual([(m["message"], "picture" in m) for m in receiver.got if m["event"] == "alarm"], [("waits", False), ("comes later", True)])

    def test_a_server_that_is_away_is_reported_once_by_all_connections(self):
        receiver, table = Receiver(), "[webhook]\nurl = 'http://127.0.0.1:%d/'\n"
        receiver.answer = 503
        victim, said = self.victim(table % receiver.port)
        self.say(victim, [0])
        said.until("cannot send to webhook, messages wait: ")
        other = self.file("o", "[[camera]]\nsource = '0'\n" + table % receiver.port + "picture = true\n")  # as by SIGHUP
        self.say(victim, [f"set {other}", 1, "flush"])
        said.until("flushed")
        before = len(receiver.headers)
        wait("two more tries", lambda: len(receiver.headers) >= before + 2)
        before, end = len(receiver.headers), time.monotonic() + 1
        while time.monotonic() < end:
            self.say(victim, ["waits"])
            time.sleep(0.02)
        self.assertLess(len(receiver.headers), before + 4, "it is tried by the clock, not with each event")
        receiver.answer = 200
        said.until("sends to webhook again")
        self.end(victim)
        self.assertEqual(len([line for line in said.all if "cannot send" in line]), 1, said.all)

    def test_a_message_that_is_refused_again_and_again_is_given_up(self):
        receiver = Receiver()
        receiver.refuses = "bad"
        victim, said = self.victim(f"[webhook]\nurl = 'http://127.0.0.1:{receiver.port}/'\n")
        self.say(victim, [1, "bad", 2])
        self.assertIn("HTTP status 400, 5 times", said.until("webhook refuses a message"))
        database = sqlite3.connect(self.folder / "a.db")
        # Also the report of it, which holds the same text.
        wait("that nothing waits", lambda: database.execute("SELECT count(*) FROM outbox").fetchone() == (0,) and receiver.got[-1]["message"] == "2")
        self.end(victim)
        self.assertEqual([m["message"] for m in once(receiver.got) if m["event"] == "alarm"], ["1", "2"])
        self.assertEqual([line for line in said.all if "cannot send" in line or "again" in line], [])
        self.assertEqual(len([line for line in said.all if "webhook refuses a message" in line]), 1, "reports that are refused are not reported")

    def test_another_receiver(self):
        away, receiver, table = Receiver(there=False), Receiver(), "[webhook]\nurl = 'http://127.0.0.1:%d/'\n"
        victim, said = self.victim(table % away.port)
        self.say(victim, range(5))
        said.until("cannot send to webhook")
        other, nobody = (self.file(name, "[[camera]]\nsource = '0'\n" + more) for name, more in [("o", table % receiver.port), ("n", "")])
        self.say(victim, [f"set {other}", *range(5, 10)])
        wait("all", lambda: [m for m in receiver.got if m["message"] == "9"])
        self.say(victim, [f"set {nobody}", "alone"])
        self.end(victim)
        self.assertEqual([m["message"] for m in once(receiver.got) if m["event"] == "alarm"], [str(n) for n in range(10)])

    def test_refusals(self):
        self.file("open", "x\n", 0o644)
        self.file("empty", "\n")
        for tables, why in [("[webhook]\npicture = true\n", "needs either 'url' or 'url-file'"),
                            ("[webhook]\nurl-file = 'open'\n", "can be read by every user"),
                            ("[webhook]\nurl-file = 'empty'\n", "has no first line"),
                            ("[mqtt]\nprefix = 'x'\n", "has no 'address'"),
                            ("[mqtt]\naddress = 'x'\nca-file = 'none'\n", "none'"),
                            ("[mqtt]\naddress = 'x'\nuser = 'me'\npassword-file = 'none'\n", "none'"),
                            ("[mqtt]\naddress = 'x'\nuser = 'me'\npassword-file = 'open'\n", "can be read by every user"),
                            ("[mqtt]\naddress = 'x'\nuser = 'me'\npassword-file = 'empty'\n", "has no first line")]:
            self.victim(tables)[1].until(why)


@unittest.skipIf(any(shutil.which(one) is None for one in NEEDED), "no mosquitto or openssl")
class Mqtt(Case):
    @classmethod
    def setUpClass(cls):
        """Keys and users are the same for all tests: a key takes long to make."""
        cls.keys = FOLDER / "keys"
        shutil.rmtree(cls.keys, ignore_errors=True)
        cls.keys.mkdir(parents=True)
        for name in ["own", "other"]:
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                            f"/CN={name}", "-addext", "subjectAltName=DNS:localhost", "-keyout",
                            cls.keys / f"{name}.key", "-out", cls.keys / f"{name}.pem"],
                           check=True, capture_output=True)
        subprocess.run(["mosquitto_passwd", "-b", "-c", cls.keys / "users", "me", "geheim"], check=True)

    def setUp(self):
        super().setUp()
        self.port = free_port()
        self.file("password", "geheim\n")
        for path in self.keys.iterdir():
            shutil.copy(path, self.folder)
        self.conf = self.file("conf", f"""listener {self.port} 127.0.0.1
certfile {self.folder}/own.pem
keyfile {self.folder}/own.key
allow_anonymous false
password_file {self.folder}/users
persistence true
persistence_location {self.folder}/
max_queued_messages 0
user root
""")
        self.tables = f"[mqtt]\naddress = 'localhost:{self.port}'\nuser = 'me'\npassword-file = 'password'\nprefix = 'mpm'\nevery = 0\n"
        self.client = ["-h", "localhost", "-p", str(self.port), "-u", "me", "-P", "geheim", "--cafile",
                       self.folder / "own.pem", "-q", "1"]

    def broker(self):
        broker, log = self.process(["mosquitto", "-v", "-c", self.conf])
        log.until("running")
        return broker, log

    def subscriber(self, name, topic="#", shown="%r %t %p"):
        _, got = self.process(["mosquitto_sub", *self.client, "-c", "-i", name, "-t", topic, "-F", shown])
        return got

    def listening(self, log, *topic, name="all"):
        """A subscriber that the broker with this log knows already."""
        got = self.subscriber(name, *topic)
        log.until("Sending SUBACK to " + name)
        return got

    def test_home_assistant(self):
        broker, log = self.broker()
        got = self.listening(log)
        others = f"[webhook]\nurl = 'http://127.0.0.1:{free_port()}/'\npicture = true\n[page]\naddress = '127.0.0.1:8080'\n"
        victim, said = self.victim(self.tables + "ca-file = 'own.pem'\n" + others)
        self.say(victim, ["picture 0", "sample"])
        config = json.loads(got.until("homeassistant/device/mpm_yard/config").split(" ", 2)[2])
        self.check(config)
        self.assertEqual(json.loads(got.until(" mpm/yard/state").split(" ", 2)[2])["tokens"], 64)
        retained = self.subscriber("late")
        for topic in ["homeassistant/device/mpm_yard/config", "mpm/yard/status online", "mpm/yard/state"]:
            wait(topic, lambda part="1 " + topic: any(line.startswith(part) for line in retained.all))
        before = len([line for line in got.all if "/config " in line])
        subprocess.run(["mosquitto_pub", *self.client, "-t", "homeassistant/status", "-m", "online"], check=True)
        wait("again", lambda: len([line for line in got.all if "/config " in line]) > before)
        self.say(victim, ["summary", *range(200)])
        summary = json.loads(got.until(" mpm/yard/event ").split(" ", 2)[2])
        self.assertEqual((summary["event"], summary["summary"]["samples"]), ("summary", 1))
        broker.terminate()  # under load; it saves what it has confirmed
        broker.wait()
        self.say(victim, ["sample", *range(200, 250)])
        said.until("cannot send to mqtt, messages wait: ")
        count = self.load(victim, 250)
        self.broker()
        said.until("sends to mqtt again")
        wait("the last", lambda: any(f'"{count - 1}"' in line for line in got.all), lambda: len(got.all))
        events = [json.loads(line.split(" ", 2)[2]) for line in got.all if " mpm/yard/event " in line]
        messages = [m["message"] for m in once(events) if m["event"] == "alarm"]
        self.assertEqual(messages, [str(n) for n in range(count)])
        self.assertFalse([line for line in got.all if "/picture " in line and not line.endswith("/picture ")], "it is for the webhook alone")
        victim.kill()
        got.until("mpm/yard/status offline")  # the last will

    def test_a_camera_that_the_file_names_no_more(self):
        _, log = self.broker()
        got = self.listening(log, "mpm/+/status")
        away = f"http://127.0.0.1:{free_port()}/{{}}"
        watch = self.cameras("watch.toml", ["stays", "goes"], source=away)
        monitor, said = self.process([MPM, "monitor", "--watch", watch])
        wait("both", lambda: all(any(f"/{name}/status lost" in line for line in got.all) for name in ["stays", "goes"]))
        self.cameras("watch.toml", ["stays"], source=away)
        monitor.send_signal(signal.SIGHUP)
        wait("nothing is kept of it", lambda: "0 mpm/goes/status " in got.all)
        self.assertFalse([line for line in got.all if "stays/status ended" in line])
        monitor.terminate()
        self.assertEqual(monitor.wait(PATIENCE), 0, said.all)
        got.until("mpm/stays/status ended")

    def test_a_camera_is_online_from_its_first_frame_on(self):
        _, log = self.broker()
        got = self.listening(log, "mpm/yard/status")
        with socket.create_server(("127.0.0.1", 0)) as silent:
            watch = self.cameras("watch.toml", ["yard"], source=f"http://127.0.0.1:{silent.getsockname()[1]}/", fields="timeout = 3\n")
            monitor, said = self.process([MPM, "monitor", "--watch", watch])
            got.until("lost")
            monitor.terminate()
            self.assertEqual(monitor.wait(PATIENCE), 0, said.all)
        got.until("ended")
        self.assertEqual(got.all, [f"0 mpm/yard/status {word}" for word in ["opening", "lost", "ended"]])

    def test_a_camera_that_cannot_be_watched_is_lost(self):
        _, log = self.broker()
        got = self.listening(log, "mpm/+/status")
        yard = lambda: [line.split()[-1] for line in got.all if " mpm/yard/status " in line]
        other, others = self.process([MPM, "monitor", SCENE, "--model", MODEL, "--db", self.folder / "yard.db"])
        wait("its database", lambda: any("source: Live" in line for line in others.all))
        watch = self.cameras("watch.toml", ["yard", "gate"])
        monitor, said = self.process([MPM, "monitor", "--watch", watch])
        said.until("not watched: ")
        wait("yard is lost", lambda: yard() == ["lost"])
        wait("gate is online", lambda: any("/gate/status online" in line for line in got.all))
        self.cameras("watch.toml", ["yard", "gate"], "picture = true\n")
        monitor.send_signal(signal.SIGHUP)
        said.until("was read again")
        wait("yard is still lost", lambda: yard()[-1] == "lost" and len(yard()) > 1)
        other.terminate()
        other.wait(PATIENCE)
        monitor.send_signal(signal.SIGHUP)
        wait("yard is online", lambda: yard()[-1] == "online")
        monitor.terminate()
        self.assertEqual(monitor.wait(PATIENCE), 0, said.all)
        wait("both have ended", lambda: len([line for line in got.all if line.endswith(" ended")]) >= 2)

    def test_a_source_that_failed_is_lost_until_the_end(self):
        _, log = self.broker()
        got = self.listening(log, "mpm/none/status")
        none = f"[[camera]]\nname = 'none'\nsource = 'none.avi'\nmodel = '{MODEL}'\ndb = 'none.db'\n"
        monitor, said = self.process([MPM, "monitor", "--watch", self.cameras("watch.toml", ["stays"], fields=none)])
        said.until("none  source: Ended")
        got.until("lost")
        said.until("stays  source: Live")
        monitor.terminate()
        self.assertEqual(monitor.wait(PATIENCE), 1, said.all)
        got.until("ended")
        self.assertEqual(got.all[-2:], ["0 mpm/none/status lost", "0 mpm/none/status ended"])

    def test_a_camera_that_changes_does_not_end(self):
        _, log = self.broker()
        got = self.listening(log, "mpm/yard/status")
        monitor, said = self.process([MPM, "monitor", "--watch", self.cameras("watch.toml", ["yard"])])
        got.until("yard/status online")
        said.until("source: Live")
        self.cameras("watch.toml", ["yard"], fields="every = 2\n")
        monitor.send_signal(signal.SIGHUP)
        said.until("1 restarted")
        wait("both have been watched", lambda: len([line for line in said.all if "source: Live" in line]) == 2)
        monitor.terminate()
        self.assertEqual(monitor.wait(PATIENCE), 0, said.all)
        got.until("ended")
        self.assertNotIn("0 mpm/yard/status ended", got.all[:-1])

    def cameras(self, name, cameras, more="", source=SCENE, fields=""):
        """A watch file of cameras with these names; {} in their source is the name. `fields`: more of each, `more`: of [mqtt]."""
        text = "".join(f"[[camera]]\nname = '{one}'\nsource = '{source.format(one)}'\nmodel = '{MODEL}'\ndb = '{one}.db'\n{fields}"
                       for one in cameras)
        return self.file(name, text + self.tables + "ca-file = 'own.pem'\n" + more)

    def yard(self, source, fields=""):
        """The watch file of one camera whose pictures are sent."""
        return self.cameras("watch.toml", ["yard"], "picture = true\n", source, fields)

    def watched(self, watch, *more):
        """Runs `mpm monitor --once` of it."""
        monitor, said = self.process([MPM, "monitor", "--watch", watch, "--once", *more])
        self.assertEqual(monitor.wait(PATIENCE), 0, said.all)

    def retained(self, name):
        """All that the broker keeps, by topic."""
        subprocess.run(["mosquitto_pub", *self.client, "-r", "-t", "~", "-m", name], check=True)
        late = self.subscriber(name)
        late.until("1 ~ " + name)
        subprocess.run(["mosquitto_pub", *self.client, "-t", f"~/{name}", "-m", "end"], check=True)
        late.until(f"0 ~/{name} end")
        kept = dict(line.split(" ", 2)[1:] for line in late.all if line.startswith("1 "))
        return {topic: payload for topic, payload in kept.items() if not topic.startswith("~")}

    @staticmethod
    def of(camera, kept):
        return {topic for topic in kept if f"/{camera}/" in topic or topic.endswith(f"_{camera}/config")}

    def test_a_camera_that_was_removed_while_nothing_ran(self):
        _, log = self.broker()
        watch = self.cameras("watch.toml", ["stays", "goes"], "picture = true\n")
        self.watched(watch)
        self.watched(self.cameras("neighbour.toml", ["neighbour"]))
        kept = self.retained("before")
        for camera in ["stays", "goes"]:
            self.assertLessEqual({f"mpm/{camera}/status", f"mpm/{camera}/state", f"homeassistant/device/mpm_{camera}/config"}, self.of(camera, kept))
        subprocess.run(["mosquitto_pub", *self.client, "-r", "-t", "mpm/goes/picture", "-m", "of a kill"], check=True)
        self.watched(self.cameras("watch.toml", ["stays"]))
        after = self.retained("after")
        self.assertEqual(self.of("goes", after), set())
        for camera in ["stays", "neighbour"]:
            self.assertEqual(self.of(camera, after) - {f"mpm/{camera}/picture"}, self.of(camera, kept) - {f"mpm/{camera}/picture"})

    def test_topics_of_another_prefix_go(self):
        _, log = self.broker()
        for discovery in ["", "discovery = 'none'\n"]:
            self.watched(self.cameras("watch.toml", ["yard"], discovery))
            self.assertIn("mpm/yard/status", self.retained("before" + discovery[:4]))
            tables, self.tables = self.tables, self.tables.replace("'mpm'", "'other'")
            self.watched(self.cameras("watch.toml", ["yard"], discovery))
            after = self.retained("after" + discovery[:4])
            self.assertEqual(([one for one in after if one.startswith("mpm/yard/")], after["other/yard/status"]), ([], "online"))
            self.assertNotIn("homeassistant/device/mpm_yard/config", after)
            self.tables = tables
            (self.folder / "yard.db").unlink()

    def test_topics_of_another_prefix_go_where_the_broker_is_away(self):
        """Also after a restart without it, and what waits for it does not bring them back."""
        broker, _ = self.broker()
        more = "ca-file = 'own.pem'\n"
        before, after = self.tables + more, self.tables.replace("'mpm'", "'other'") + more
        victim, _ = self.victim(before)
        self.say(victim, ["sample"])
        self.end(victim)
        self.assertIn("mpm/yard/state", self.retained("before"))
        broker.terminate()
        broker.wait()
        for tables, lines in [(before, ["sample"]), (after, ["flush"])]:
            victim, said = self.victim(tables)
            self.say(victim, lines)
            said.until("cannot send to mqtt")
            self.end(victim)
        self.broker()
        victim, _ = self.victim(after)
        self.say(victim, ["sample"])
        self.end(victim)
        self.assertEqual(set(self.retained("after")), {"other/yard/state", "other/yard/status", "homeassistant/device/other_yard/config"})

    def test_between_runs_of_once_a_camera_is_there(self):
        _, log = self.broker()
        got = self.listening(log, "mpm/#")
        watch = self.cameras("watch.toml", ["yard"], "picture = true\n", SCENE + "&start=2020-06-01T12:00")
        for _ in range(2):
            self.watched(watch)
            got.until("mpm/yard/state {")
        self.assertTrue(self.kept("pictures"), "until the next run")
        late = self.subscriber("late", "mpm/#")
        late.until("mpm/yard/status online")
        self.assertFalse([line for line in got.all if "offline" in line or "ended" in line])

    def test_an_alarm_that_goes_on_rings_once(self):
        _, log = self.broker()
        got = self.listening(log, "mpm/yard/alarms")
        noon = SCENE + "&start=2020-06-01T12:00"
        watch = self.cameras("watch.toml", ["yard"], source=noon, fields="alarm = ['tokens>1']\nalarm-minutes = 0\n")
        for run in range(3):
            monitor, said = self.process([MPM, "monitor", "--watch", watch, *(["--once"] if run < 2 else [])])
            got.until('{"tokens>1":true}')
            if run == 2:
                monitor.send_signal(signal.SIGTERM)
            self.assertEqual(monitor.wait(PATIENCE), 0, said.all)
            if run == 0:
                before = len(got.all)
        self.assertFalse([line for line in got.all[before:] if "false" in line])
        config = json.loads(self.retained("described")["homeassistant/device/mpm_yard/config"])
        self.assertEqual(config["components"]["alarm_tokens_1"]["name"], "Alarm tokens>1")
        events = self.listening(log, "mpm/yard/event", name="events")
        self.watched(self.cameras("watch.toml", ["yard"], source=noon, fields="alarm-minutes = 0\n"))
        self.assertEqual(json.loads(events.until("alarm ended").split(" ", 2)[2])["message"], "tokens no longer watched for")
        self.assertNotIn("mpm/yard/alarms", self.retained("taken out"))

    def kept(self, name):
        """The picture that the broker keeps, if any."""
        subprocess.run(["mosquitto_pub", *self.client, "-r", "-t", "mpm/marker/picture", "-m", "x"], check=True)
        late = self.subscriber(name, *LENGTHS)
        late.until("1 mpm/marker/picture 1")
        subprocess.run(["mosquitto_pub", *self.client, "-t", f"mpm/{name}/picture", "-m", "end"], check=True)
        late.until(f"0 mpm/{name}/picture 3")
        return [line for line in late.all if line.startswith("1 mpm/yard/picture ")]

    def test_no_picture_stays_where_none_is_meant(self):
        _, log = self.broker()
        got = self.listening(log, *LENGTHS)
        tables = self.tables + "ca-file = 'own.pem'\n"
        pictures = lambda: [line for line in got.all if line.startswith("0 mpm/yard/picture ") and not line.endswith(" 0")]
        victim, _ = self.victim(tables + "picture = true\n")
        self.say(victim, ["picture 0"])
        wait("a picture", pictures)
        self.assertTrue(self.kept("late1"))
        count = len(got.all)
        self.say(victim, ["drop"])
        wait("it goes", lambda: "0 mpm/yard/picture 0" in got.all[count:])
        self.assertFalse(self.kept("late2"))
        self.say(victim, ["picture 1"])
        wait("another", lambda: len(pictures()) == 2)
        self.assertTrue(self.kept("late3"))
        victim.kill()
        victim.wait()
        self.assertTrue(self.kept("late4"))
        count = len(got.all)
        victim, _ = self.victim(tables + "picture = false\n")
        self.say(victim, ["picture 0"])
        wait("it goes", lambda: "0 mpm/yard/picture 0" in got.all[count:])
        self.assertFalse(self.kept("late5"))
        self.end(victim)

    def test_a_camera_that_begins_to_hide_takes_its_picture_back(self):
        _, log = self.broker()
        got = self.listening(log, *LENGTHS)
        now = scene_of_now()
        monitor, said = self.process([MPM, "monitor", "--watch", self.yard(now, "every = 1\n")])
        pictures = lambda: [line.rsplit(" ", 1)[1] != "0" for line in got.all if line.startswith("0 mpm/yard/picture ")]
        wait("a picture", lambda: True in pictures())
        count = len(pictures())
        self.yard(now, "every = 1\nblur = ['person']\n")
        monitor.send_signal(signal.SIGHUP)
        wait("another one", lambda: True in pictures()[count:])
        self.assertFalse(pictures()[count], "first the one of before goes")
        monitor.terminate()
        self.assertEqual(monitor.wait(PATIENCE), 0, said.all)
        wait("the end", lambda: not pictures()[-1])
        self.assertFalse(self.kept("late"), "a camera that is not watched has no picture")

    def test_the_picture_of_before_does_not_wait_for_what_ends(self):
        """The camera that did not hide ends once the command of its last event has ended, or was killed."""
        _, log = self.broker()
        got = self.listening(log, *LENGTHS)
        pid = self.folder / "pid"
        command = self.file("command.sh", f"echo $$ > '{pid}'\nexec sleep 1000\n")
        fields = f"every = 1\non-event = \"sh '{command}'\"\n"
        now = scene_of_now()
        monitor, _ = self.process([MPM, "monitor", "--watch", self.yard(now, fields)])
        wait("a picture", lambda: any(line.startswith("0 mpm/yard/picture ") and not line.endswith(" 0") for line in got.all))
        waits = int(wait("an event", lambda: pid.exists() and pid.read_text()))
        count = len(got.all)
        self.yard(now, fields + "blur = ['person']\n")
        monitor.send_signal(signal.SIGHUP)
        wait("it goes", lambda: "0 mpm/yard/picture 0" in got.all[count:])
        os.kill(waits, signal.SIGKILL)  # it is still there

    def test_a_start_takes_back_the_picture_of_a_run_that_was_killed(self):
        """Also where no other picture comes: the camera is away."""
        _, log = self.broker()
        got = self.listening(log, *LENGTHS)
        watch = self.yard(scene_of_now())
        monitor, _ = self.process([MPM, "monitor", "--watch", watch])
        wait("a picture", lambda: any(line.startswith("0 mpm/yard/picture ") and not line.endswith(" 0") for line in got.all))
        monitor.kill()
        monitor.wait()
        self.assertTrue(self.kept("late1"))
        self.yard(f"http://127.0.0.1:{free_port()}/", "blur = ['person']\n")
        count = len(got.all)
        monitor, said = self.process([MPM, "monitor", "--watch", watch])
        wait("it goes", lambda: "0 mpm/yard/picture 0" in got.all[count:])
        self.assertFalse(self.kept("late2"))
        monitor.terminate()
        self.assertEqual(monitor.wait(PATIENCE), 0, said.all)

    def test_each_camera_has_a_will_of_its_own(self):
        _, log = self.broker()
        got = self.listening(log, "mpm/+/status")
        cameras = {name: self.process([MPM, "monitor", "--watch", self.cameras(f"{name}.toml", [name])])
                   for name in ["killed", "stopped", "stays"]}
        wait("all", lambda: all(any(f"/{name}/status online" in line for line in got.all) for name in cameras))
        cameras["killed"][0].kill()
        got.until("mpm/killed/status offline")
        cameras["stopped"][0].terminate()
        got.until("mpm/stopped/status ended")
        self.assertEqual(cameras["stopped"][0].wait(PATIENCE), 0)
        late = self.subscriber("late", "mpm/+/status")
        wait("what is kept", lambda: len(late.all) >= 3)
        self.assertEqual(sorted(late.all), ["1 mpm/killed/status offline", "1 mpm/stays/status online", "1 mpm/stopped/status ended"])

    def test_a_restart_keeps_what_home_assistant_knows(self):
        _, log = self.broker()
        got = self.listening(log, "homeassistant/#")
        victim, _ = self.victim(self.tables + "ca-file = 'own.pem'\n")
        self.say(victim, ["sample"])
        first = json.loads(got.until("/config {").split(" ", 2)[2])["components"]
        self.assertGreater(len(first["area_a_car_s"]), 1)
        self.end(victim)
        victim, _ = self.victim(self.tables + "ca-file = 'own.pem'\ndiscovery = 'other'\n")  # and another place for it
        self.say(victim, ["night"])
        other = self.subscriber("other", "other/#")
        again = json.loads(other.until("/config {").split(" ", 2)[2])["components"]
        self.assertEqual(again["area_a_car_s"], first["area_a_car_s"], "no car occurs now")
        wait("the former description goes", lambda: got.all[-1].endswith("/config "))

    def test_a_camera_that_was_renamed_is_a_device_before_its_next_picture(self):
        _, log = self.broker()
        got = self.listening(log, "homeassistant/#")
        self.watched(self.cameras("watch.toml", ["yard"]))
        (self.folder / "yard.db").rename(self.folder / "gate.db")
        away = f"http://127.0.0.1:{free_port()}/"
        monitor, said = self.process([MPM, "monitor", "--watch", self.cameras("watch.toml", ["gate"], source=away, fields="title = 'Tor'\n")])
        config = json.loads(got.until("homeassistant/device/mpm_gate/config {").split(" ", 2)[2])
        self.assertEqual((config["device"]["name"], config["state_topic"]), ("Tor", "mpm/gate/state"))
        monitor.terminate()
        self.assertEqual(monitor.wait(PATIENCE), 0, said.all)

    def test_what_the_broker_keeps_of_a_camera_goes_with_it(self):
        _, log = self.broker()
        got = self.listening(log)
        victim, _ = self.victim(self.tables + "ca-file = 'own.pem'\npicture = true\n")
        self.say(victim, ["picture 0", "sample"])
        kept = ["homeassistant/device/mpm_yard/config", "mpm/yard/status", "mpm/yard/state", "mpm/yard/picture"]
        for topic in kept:
            wait(topic, lambda part=f" {topic} ": any(part in line for line in got.all))
        self.say(victim, ["gone"])
        self.end(victim)
        for topic in kept:
            wait(topic, lambda part=f"0 {topic} ": part in got.all)
        subprocess.run(["mosquitto_pub", *self.client, "-r", "-t", "marker", "-m", "x"], check=True)
        late = self.subscriber("late")
        late.until("1 marker x")
        self.assertEqual(late.all, ["1 marker x"])

    def check(self, config):
        """What a program knows of its device; EveryKeyOfEveryEntity of teller_test.cpp has the entities."""
        self.assertEqual(set(config), {"device", "origin", "availability", "state_topic", "qos", "components"})
        self.assertEqual(config["device"]["name"], "Front yard")
        self.assertEqual(set(config["device"]), {"identifiers", "name", "manufacturer", "model", "sw_version", "configuration_url"})
        self.assertEqual(config["device"]["configuration_url"], "http://127.0.0.1:8080/")
        self.assertEqual(set(config["origin"]), {"name", "sw_version", "support_url"})
        self.assertEqual(config["availability"], [{"topic": "mpm/yard/status", "payload_available": "online",
                                                   "value_template": "{{ 'offline' if value in ['offline', 'ended'] else 'online' }}",
                                                   "payload_not_available": "offline"}])
        self.assertEqual((config["state_topic"], config["qos"]), ("mpm/yard/state", 1))
        parts = config["components"]
        self.assertIn("area_fraction[\"a car's\"]", parts["area_a_car_s"]["value_template"])
        self.assertNotIn("picture", parts)

    def test_a_wrong_secret_is_one_event(self):
        _, log = self.broker()
        self.file("password", "falsch\n")
        _, said = self.victim(self.tables + "ca-file = 'own.pem'\n")
        self.assertIn("authori", said.until("cannot send to mqtt"))
        log.until("not authorised")
        log.until("not authorised")
        self.assertEqual(len(said.all), 1)

    def test_another_authority_is_refused(self):
        self.broker()
        _, said = self.victim(self.tables + "ca-file = 'other.pem'\n")
        self.assertIn("certificate", said.until("cannot send to mqtt").lower())


@unittest.skipIf(RULES is None or shutil.which("prometheus") is None, "no prometheus, page or scene")
class Metrics(Case):
    def test_prometheus(self):
        cameras = "".join(f"[[camera]]\nname = '{name}'\nsource = '{source}'\nmodel = '{MODEL}'\ndb = '{name}.db'\ninput-size = '112x160'\n"
                          for name, source in [("street", "demo:street?size=112x160"), ("gone", f"http://127.0.0.1:{free_port()}/")])
        monitor, said = self.process([MPM, "monitor", "--watch", self.file("watch.toml", cameras + "[page]\naddress = '127.0.0.1:0'\n")])
        page = urllib.parse.urlsplit(said.until("page: ").split()[-1]).netloc
        config = self.file("prometheus.yml", json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [RULES],
            "scrape_configs": [{"job_name": "mpm", "static_configs": [{"targets": [page]}]}]}))
        api = f"127.0.0.1:{free_port()}"
        prometheus, log = self.process(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.folder}/data",
                                        f"--web.listen-address={api}"])
        log.until("Server is ready to receive web requests")

        def ask(path, **arguments):
            return json.load(urllib.request.urlopen(f"http://{api}/api/v1/{path}?" + urllib.parse.urlencode(arguments)))["data"]

        for query in ['up{job="mpm"} == 1', 'mpm_frames_total{camera="street"} > 0', 'mpm_tokens{camera="street"} > 0',
                      'mpm_camera_up{camera="gone"} == 0', 'ALERTS{alertname="MpmCameraDown",camera="gone"}']:
            wait(query, lambda asked=query: ask("query", query=asked)["result"])
        wait("all rules", lambda: {rule["health"] for group in ask("rules")["groups"] for rule in group["rules"]} == {"ok"})
        for process in prometheus, monitor:
            process.terminate()
            self.assertEqual(process.wait(PATIENCE), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[6:], verbosity=2, warnings="ignore")
