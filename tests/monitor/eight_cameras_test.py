# SPDX-License-Identifier: Apache-2.0
"""Eight cameras in one process: eight_cameras_test.py MPM MODEL FOLDER [MINUTES].

Five are streams of this program, of which one floods, one hangs, one dies, and both return; two are scenes, one is a
video. Without MINUTES one round of this. Exit status 77: skipped."""
import json
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request

import mjpeg

try:
    import cv2
    import numpy
except ImportError as error:
    print("skipped:", error)
    sys.exit(77)

MPM, MODEL, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
END = time.monotonic() + 60 * float(sys.argv[4] if len(sys.argv) > 4 else 0)
PATIENCE, TURNS, SHARE, STRETCHES = 1800, 30, 0.1, 20
STREAMS = {"yard": 100, "gate": 100, "floods": 400, "hangs": 100, "dies": 100}  # frames a second, more than the model takes
SCENES = {"rain": "demo:street?weather=rain&size=224x320", "snow": "demo:street?seed=2&weather=snow&size=224x320"}
away = set()  # of "hangs" and "dies"


def wait(what, done):
    end = time.monotonic() + PATIENCE
    while not (result := done()):
        assert time.monotonic() < end, "waited in vain: " + what
        time.sleep(0.05)
    return result


def pictures():
    """A street of noise, in which a bright block moves."""
    street = cv2.resize(numpy.random.default_rng(1).integers(0, 256, (28, 40, 3), numpy.uint8), (320, 224))
    for x in range(0, 280, 8):
        picture = street.copy()
        picture[150:180, x:x + 40] = 230
        yield picture


def stream(name):
    if name == "dies" and name in away:
        return None
    return frames(name)


def frames(name):
    while True:
        for jpeg in JPEGS:
            while name == "hangs" and name in away:
                time.sleep(0.1)
            if name in away:
                return
            yield jpeg
            time.sleep(1 / STREAMS[name])


class Watching:
    """`mpm monitor` of some cameras: counts the samples that it prints, and looks at its memory each second."""

    def __init__(self, name, cameras):
        folder = FOLDER / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        text = "".join(f"[[camera]]\nname = '{one}'\nsource = '{source}'\ndb = '{one}.db'\nmodel = '{MODEL}'\nevery = 0\ninput-size = '112x160'\ntimeout = 2\n"
                       for one, source in cameras.items())
        (folder / "watch.toml").write_text(text + "[page]\naddress = '127.0.0.1:0'\n")
        self.folder, self.samples, self.events, self.memory = folder, {one: [] for one in cameras}, [], []
        self.process = subprocess.Popen([MPM, "monitor", "--watch", folder / "watch.toml", "--json"], text=True,
                                        stdout=subprocess.PIPE, stderr=(folder / "log").open("w"))
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        threading.Thread(target=self.look, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            one = json.loads(line) if line.endswith("\n") else {"event": "cut"}
            if "event" in one:
                self.events.append(one)
            else:
                self.samples[one["camera"]].append((one["unix_ms"], time.monotonic()))

    def resident(self):
        """MiB of memory that the process has now."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024

    def look(self):
        while True:
            try:
                self.memory.append(self.resident())
            except (OSError, TypeError):
                return
            time.sleep(1)

    def counts(self):
        assert self.process.poll() is None, (self.folder / "log").read_text()
        return {name: len(all) for name, all in self.samples.items()}

    def give(self, names, number):
        """Waits until each of them has given so many samples more."""
        before = self.counts()
        wait(f"{number} samples of {names}", lambda: all(self.counts()[name] - before[name] >= number for name in names))
        after = self.counts()
        return {name: after[name] - before[name] for name in names}

    def metrics(self):
        url = wait("the page", lambda: re.search(r"page: (\S+)", (self.folder / "log").read_text()))[1]
        return urllib.request.urlopen(url + "metrics", timeout=PATIENCE).read().decode()


def is_fair(shares):
    """Nobody has more turns than the others. A scene is drawn between its turns, so on a busy machine it misses some."""
    usual = sorted(shares.values())[len(shares) // 2]
    return all(share <= (1 + SHARE) * usual and (name in SCENES or share >= (1 - SHARE) * usual) for name, share in shares.items())


def check_fairness(watching, names):
    """A busy machine keeps this program from sending, and who sends nothing misses turns; so one fair stretch is asked for.
    Where turns are given unfairly no stretch is fair."""
    stretches = []
    while not stretches or not is_fair(stretches[-1]):
        assert len(stretches) < STRETCHES, f"no stretch is fair: {stretches}"
        stretches.append(watching.give(names, TURNS))


def growth(memory):
    quarter = len(memory) // 4
    return 100 * (sum(memory[-quarter:]) / sum(memory[quarter:2 * quarter]) - 1)


def check_kill(watching):
    """A killed process has lost at most the end of what it printed."""
    killed = time.monotonic()
    watching.process.kill()
    watching.process.wait()
    watching.reader.join()
    longest = 0
    for name, printed in watching.samples.items():
        stored = {row[0] for row in sqlite3.connect(watching.folder / f"{name}.db").execute("SELECT time_ms FROM sample")}
        lost = [i for i, (time_ms, _) in enumerate(printed) if time_ms not in stored]
        assert lost == list(range(len(printed) - len(lost), len(printed))), f"{name} lost {lost} of {len(printed)}"
        longest = max([longest, *(killed - printed[i][1] for i in lost)])
    print(f"kill -9 lost {1000 * longest:.0f} ms")
    assert longest < 3  # a second, and what a busy machine takes to commit


FOLDER.mkdir(parents=True, exist_ok=True)
video = cv2.VideoWriter(str(FOLDER / "film.avi"), cv2.VideoWriter_fourcc(*"MJPG"), 25, (160, 112))
JPEGS = [cv2.imencode(".jpg", one)[1].tobytes() for one in pictures()]
port = mjpeg.serve(stream)
for one in [*pictures()] * (40 + int(max(0, END - time.monotonic()) / 4)):  # more than the model takes
    video.write(cv2.resize(one, (160, 112)))
video.release()
cameras = {name: f"http://127.0.0.1:{port}/{name}" for name in STREAMS} | SCENES | {"film": str(FOLDER / "film.avi")}

alone = Watching("alone", {"yard": cameras["yard"]})
alone.give(["yard"], TURNS)
memory_alone = alone.resident()
alone.process.terminate()
assert alone.process.wait(PATIENCE) == 0

eight = Watching("eight", cameras)
wait("all", lambda: all(eight.counts().values()))
others = sorted(set(cameras) - {"hangs", "dies"})
rounds = 0
try:
    while rounds == 0 or time.monotonic() < END:
        check_fairness(eight, cameras)
        away |= {"hangs", "dies"}
        check_fairness(eight, others)
        wait("both are missed", lambda: all(f'mpm_camera_up{{camera="{name}"}} 0' in eight.metrics() for name in ["hangs", "dies"]))
        away.clear()
        eight.give(["hangs", "dies"], 1)
        rounds += 1
    check_fairness(eight, cameras)
    for name in ["hangs", "dies"]:
        assert int(re.search(f'mpm_reconnects_total{{camera="{name}"}} (\\d+)', eight.metrics())[1]) >= rounds, eight.metrics()
    memory, grown = eight.resident(), growth(eight.memory)
    print(f"{rounds} rounds, {eight.counts()}\nMiB: {memory_alone:.0f} of one, {memory:.0f} of eight ({memory / memory_alone:.2f}), "
          f"{grown:+.2f} % from the second quarter to the last of {len(eight.memory)} s")
    assert memory <= 1.6 * memory_alone
    assert grown < (3 if rounds > 9 else 10)
    check_kill(eight)
finally:
    eight.process.kill()
