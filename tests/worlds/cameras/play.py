# SPDX-License-Identifier: Apache-2.0
"""Runs the programs through the script of a world and keeps what they print."""
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import cv2

from . import app
from . import pictures
from . import world

MODELS = {"mask": "segmenter_mask_ts17.onnx", "linear": "segmenter_linear_ts12.onnx"}
DATA = pathlib.Path(__file__).resolve().parent.parent.parent / "data"


class Failed(Exception):
    """A program ended as it must not. `kind` is the same for failures that look alike."""

    def __init__(self, line, verb, message):
        super().__init__(f"{line}\n  {message}")
        self.kind = verb, re.sub(r"'[^']*'|\d+", "#", message)[:60]


def faketime():
    """The library that gives a program another clock (Debian: faketime), or None."""
    return next(iter(sorted(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))), None)


def playable(script):
    """Leaves out cameras with a clock of their own where there is no library that gives one."""
    cameras = {s for s, source in enumerate(script["sources"]) if source.get("camera")}
    if not cameras or faketime():
        return script
    return {**script, "steps": [step for step in script["steps"] if step["source"] not in cameras]}


def without_app(script):
    """Plays with `mpm monitor` what the app would measure: it was not built."""
    return {**script, "steps": [{**step, "app": False} if step.get("app") else step for step in script["steps"]]}


class Player:
    """A world in a folder of its own. `lines` has each command line, for the report of a disagreement."""

    def __init__(self, build, folder, script):
        self.mpm = pathlib.Path(build).resolve() / "bin" / "mpm"
        self.app = app.program(build)
        self.folder, self.script = pathlib.Path(folder), script
        self.lines = []
        self.in_app = []  # (step, what the app said at its end) of the steps that the app measured
        zone = script["machine_zone"]
        self.environment = {**os.environ, "TZ": zone, "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.environment.pop("MPM_MODEL", None)

    def run(self, *arguments, clock=None, kill_after=None, damaged=False, room=None):
        """Standard output of `mpm ARGUMENTS`. With `kill_after`, it is killed once it has printed that many samples. `clock` is the Unix
        time at which it starts, on a clock that runs world.SPEED times as fast. `damaged`: it may end with the status of damaged pictures.
        `room`: no file gets more than that many KiB longer than the longest of today, as on a full disk; then it may fail."""
        command = [str(self.mpm), *(str(argument) for argument in arguments)]
        self.lines.append(" ".join(self.quoted(part) for part in ["mpm", *command[1:]]) + (f"    # kill -9 after {kill_after} samples" if kill_after else ""))
        environment = self.environment
        if clock is not None:
            # The steady clock stays as it is.
            fake = {"LD_PRELOAD": str(faketime()), "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_FMT": "%s", "FAKETIME": f"@{clock} x{world.SPEED}"}
            environment = {**environment, **fake}
            self.lines[-1] = f"LD_PRELOAD=libfaketimeMT.so.1 FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_FMT=%s FAKETIME='{fake['FAKETIME']}' {self.lines[-1]}"
        if room is not None:
            limit = 1024 * room + max((path.stat().st_size for path in self.folder.glob("*.db")), default=0)
            self.lines[-1] = f"(ulimit -f {limit // 1024}; {self.lines[-1]})"
            done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, timeout=120,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
            if done.returncode not in (0, 1):
                raise Failed(self.lines[-1], arguments[0], f"status {done.returncode}: {done.stderr.decode(errors='replace').strip()[-600:]}")
            return ""
        if kill_after is None:
            done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, timeout=120)
            if done.returncode and not (damaged and done.returncode == 1 and b"could not be read" in done.stderr):
                raise Failed(self.lines[-1], arguments[0], f"status {done.returncode}: {done.stderr.decode(errors='replace').strip()[-600:]}")
            return done.stdout.decode()
        with subprocess.Popen(command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            samples = 0
            for line in process.stdout:
                samples += b'"unix_ms"' in line
                if samples >= kill_after:
                    process.kill()
                    break
        return ""

    def ask_app(self, verb, questions):
        """Answers of the app to some questions (app/main.cpp). `verb` names them where it fails."""
        lines = "".join(json.dumps(question) + "\n" for question in questions)
        environment = {**self.environment, "XDG_RUNTIME_DIR": str(self.folder)}
        done = subprocess.run([self.app], input=lines, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=180)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        problem = next((answer["error"] for answer in answers if "error" in answer), None)
        if done.returncode or problem or len(answers) != len(questions):
            raise Failed(f"app_runner <<< '{lines.strip()}'", verb, problem or f"status {done.returncode}: {done.stderr.strip()[-600:]}")
        return answers

    @staticmethod
    def quoted(text):
        return text if text.replace("/", "").replace(".", "").replace("-", "").replace("_", "").isalnum() else f"'{text}'"

    def stored_picture(self, s, p):
        """From where a step takes a picture."""
        picture = self.script["sources"][s]["pictures"][p]
        return self.folder / ("cut" if picture.get("cut") else "all") / str(s) / f"{p:03d}{pathlib.Path(picture['name']).suffix or '.png'}"

    def path_of(self, source, picture):
        return self.folder / source["folder"] / picture["name"]

    def names(self, sources):
        """{name of a source in databases: its index}."""
        return {str((self.folder / self.script["sources"][s]["folder"]).resolve()): s for s in sources}

    def draw(self):
        """Draws all pictures into the folder `all`, from which steps take them, and reads them back as the programs see them."""
        mirrored = self.script.get("mirrored", False)
        self.pixels = {}
        for s, source in enumerate(self.script["sources"]):
            store = self.folder / "all" / str(s)
            store.mkdir(parents=True)
            if source.get("camera"):
                self.film(s, range(len(source["pictures"])), self.folder / "all" / f"{s}.avi")
                for p, frame in enumerate(self.frames(self.folder / "all" / f"{s}.avi")):
                    cv2.imwrite(str(store / f"{p:03d}.png"), frame)
                    self.pixels[s, p] = frame
                continue
            (self.folder / source["folder"]).mkdir(parents=True, exist_ok=True)
            for p, picture in enumerate(source["pictures"]):
                # A mirrored JPEG has other artefacts: mirrored worlds are PNG.
                path = store / f"{p:03d}{pathlib.Path(picture['name']).suffix}"
                quality = [cv2.IMWRITE_JPEG_QUALITY, 95]
                cv2.imwrite(str(path), pictures.draw(self.script["size"], source["scene"], picture, mirrored), quality)
                if picture.get("cut"):
                    whole = path.read_bytes()
                    path.unlink()  # `mpm run` reads all others
                    self.stored_picture(s, p).parent.mkdir(parents=True, exist_ok=True)
                    self.stored_picture(s, p).write_bytes(whole[:len(whole) // 2])
                    continue
                self.pixels[s, p] = cv2.imread(str(path))
        for r, regions in enumerate(self.script["regions"]):
            pictures.write_regions(self.folder / f"regions{r}.json", self.script["size"], regions)

    def film(self, s, numbers, path):
        """Writes these frames of a camera as a lossless film."""
        source = self.script["sources"][s]
        writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"FFV1"), 10, tuple(self.script["size"]))
        for p in numbers:
            writer.write(pictures.draw(self.script["size"], source["scene"], source["pictures"][p], self.script.get("mirrored", False)))
        writer.release()

    @staticmethod
    def frames(path):
        film = cv2.VideoCapture(str(path))
        while True:
            there, frame = film.read()
            if not there:
                return
            yield frame

    def labels(self):
        """(source, picture, model, reduce, settings) -> (labels of the pixels, clusters of the tokens or None, token counts, class names).

        `mpm run` is trusted here: the worlds check what becomes of its labels, not the net.
        """
        wanted = {(step["source"], step["model"], step["reduce"], world.settings_text(step["settings"])): step for step in self.script["steps"] if step["do"] == "watch"}
        result = {}
        for number, ((s, *how), step) in enumerate(sorted(wanted.items(), key=lambda one: one[0])):
            out = self.folder / f"labels{number}"
            text = self.run("run", f"all/{s}", *self.model_options(step), "--threads", 1, "--json", "--out", out, "--only", "labels", "--maps")
            self.lines.pop()
            for line in text.splitlines():
                frame = json.loads(line)
                maps = sorted(name for name in frame["outputs"] if "_map" in name)
                clusters = cv2.imread(str(out / maps[-1]), cv2.IMREAD_UNCHANGED) if maps else None
                labels = cv2.imread(str(out / f"{frame['name']}_labels.png"), cv2.IMREAD_UNCHANGED)
                result[s, int(frame["name"]), *how] = labels, clusters, frame["tokens"], list(frame["classes"])
        return result

    def teach(self, s):
        """Teaches the states of a source with its own pictures."""
        source = self.script["sources"][s]
        for p, picture in enumerate(source["pictures"]):
            if picture["kind"] == "scene" and not picture.get("cut"):
                folder = self.folder / f"taught{s}" / ("bright" if world.is_bright(picture) else "dim")
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copy(self.stored_picture(s, p), folder)
        model = next(step["model"] for step in self.script["steps"] if step["do"] == "watch" and step["source"] == s)
        self.run("teach", "--states", f"taught{s}", "--model", DATA / MODELS[model], "-o", f"light{s}.json", "--threads", 1)

    @staticmethod
    def model_options(step):
        """The arguments of a step about its model."""
        settings = [part for key, value in step["settings"].items() for part in (f"--{key}", value)]
        return ["--model", DATA / MODELS[step["model"]], "--reduce", step["reduce"], *settings]

    def options(self, step):
        """The arguments of `mpm monitor` of one step."""
        source = self.script["sources"][step["source"]]
        arguments = ["--threads", 1]
        implicit, night = step.get("implicit"), step["night"]
        if not implicit:
            arguments += self.model_options(step)
        if source.get("camera"):
            arguments += ["--every", 0, "--reuse", "off"]  # what is computed again depends on how long a frame takes
        else:
            arguments += [*([] if implicit else ["--time-zone", step.get("zone", source["zone"])]), *(["--every", step["every"]] if step["every"] else [])]
        # Without a word about day and night, an archive goes on with its place and the sun.
        by_place = implicit and night["rule"] == "sun" and not source.get("camera")
        if source["place"] and not by_place:
            arguments += [f"--lat={source['place'][0]}", f"--lon={source['place'][1]}"]
        arguments += [] if by_place else ["--night", night["rule"]]
        if night["rule"] == "hours":
            arguments += ["--night-hours", "-".join(f"{minutes // 60:02d}:{minutes % 60:02d}" for minutes in (night["from"], night["to"]))]
        elif night["rule"] == "brightness":
            arguments += ["--night-brightness", night["night"], "--day-brightness", night["day"]]
        arguments += [] if implicit else ["--regions", "none" if step["regions"] is None else f"regions{step['regions']}.json"]
        if source["states"] and not step.get("blind"):
            arguments += ["--states", f"light{step['source']}.json", "--state-after", source["states"]]
        for alarm in source["alarms"]:
            if not (step.get("blind") and alarm.startswith(f"light{step['source']}=")):
                arguments += ["--alarm", alarm]
        arguments += ["--alarm-minutes", source["alarm_minutes"], "--quality", f"pictures={source['bad_in_a_row']}"]
        if step.get("recompute"):
            arguments += ["--recompute", "all"]
        if step.get("shard"):
            arguments += ["--shard", step["shard"]]
        if step.get("hide"):
            arguments += ["--hide", step["hide"]]
        return arguments

    def judge(self, db, s, rule):
        """Judges all samples of a source in a database by another rule of brightness."""
        self.run("monitor", self.script["sources"][s]["folder"], "--db", db, "--judge", "--night-brightness", rule["night"], "--day-brightness", rule["day"])

    def play(self):
        """Runs all steps. Returns what `mpm monitor --json` printed in each, None where it was killed, where the app
        measured, and in steps of other kinds."""
        for s, source in enumerate(self.script["sources"]):
            if source["states"] and any(step["source"] == s for step in self.script["steps"]):
                self.teach(s)
        return [self.step(step) for step in self.script["steps"]]

    def step(self, step):
        s = step["source"]
        source = self.script["sources"][s]
        if step["do"] == "film":
            self.film(s, step["pictures"], self.folder / source["folder"])
            self.lines.append(f"# {source['folder']} gets frames {step['pictures']}")
            return None
        if step["do"] == "take":
            for p in step["pictures"]:
                picture = source["pictures"][p]
                shutil.copyfile(self.stored_picture(s, p), self.path_of(source, picture))
            self.lines.append(f"# {source['folder']}/ gets " + ", ".join(source["pictures"][p]["name"] for p in step["pictures"]))
            return None
        if step.get("app") and app.can_measure(step):
            question = app.question(self, step, DATA / MODELS[step["model"]])
            self.lines.append(f"# in the app: app_runner <<< '{json.dumps(question)}'")
            self.in_app.append((step, *self.ask_app("measure", [question])))
            return None
        text = self.run("monitor", source["folder"], "--db", step["db"], "--json", *self.options(step), clock=step.get("clock"), kill_after=step["kill"],
                        damaged=any(picture.get("cut") for picture in source["pictures"]), room=step.get("room"))
        return None if step["kill"] or "room" in step else [json.loads(line) for line in text.splitlines()]


class Server:
    """`mpm serve` of some databases, to be asked by HTTP."""

    def __init__(self, player, *databases):
        command = [str(player.mpm), "serve", *databases, "--address", "127.0.0.1:0"]
        player.lines.append(" ".join(["mpm", *command[1:]]))
        self.process = subprocess.Popen(command, cwd=player.folder, env=player.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.address = self.process.stdout.readline().decode().strip()
        if not self.address.startswith("http"):
            raise Failed(player.lines[-1], "serve", self.process.stderr.read().decode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate()

    def get(self, path, **arguments):
        """The text of an answer."""
        url = self.address + path + ("?" + urllib.parse.urlencode(arguments) if arguments else "")
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise Failed(f"GET {url}", path, error.read().decode()) from None
