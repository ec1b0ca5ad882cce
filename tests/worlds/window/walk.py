# SPDX-License-Identifier: Apache-2.0
"""A walk: random actions, each done in the real window and in the model."""
import json
import pathlib
import random
import re
import shutil
import subprocess
import time

from . import judge
from .model import CAMERAS, Model, Regions
from .stage import MODELS, REDUCTIONS, SOURCES, STORED, part_of

END = "end"  # closes the window
PATIENCE = 20  # s, for what the window must show in the end; the machine may be slow
HELD = ("History", "PictureStore", "FolderBrowser", "LiveMonitor", "TimesDialog")


class Runner:
    """The process with the window (runner.cpp)."""

    def __init__(self, build):
        self.program = str(pathlib.Path(build) / "bin" / "window_runner")
        self.start()

    def start(self):
        self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def stop(self):
        self.process.kill()
        self.process.wait()

    def ask(self, **what):
        try:
            self.process.stdin.write(json.dumps(what) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            status = self.process.wait()
            self.start()
            raise judge.Wrong("a crash", f"status {status}")
        return json.loads(line)


def choose(random_, model, seen):
    """A step that makes sense now."""
    settle = random_.random() < 0.55
    if seen["dialogs"]:
        return {"do": random_.choice(["accept", "accept", "reject"]), "settle": settle}
    steps = [{"do": "drop", "of": what} for what in ("alder", "alder", "birch", "birch", "cedar", "maple", "maple", "rowan.db", "rowan.db", "two")]
    steps += [{"do": "open", "of": random_.choice(["alder", "birch", "cedar", "maple"])}] * 2
    steps += [{"do": do} for do in ("close", "unpin", "pause", "previous_picture", "next_picture", "again", "snapshot", "merge_map", "event", "compare")]
    steps += [{"do": do, "end": random_.choice(["accept", "accept", "reject", "leave"])} for do in ("alarms", "keep")]
    # Often: a fault shows only where they change more than once, and a sample comes after that.
    steps += [{"do": "regions", "act": act, "end": random_.choice(["accept", "accept", "accept", "reject", "leave"])}
              for act in ("left", "left", "right", "rename", "rename", "ignore", "ignore", "remove")]
    steps += [{"do": "night", "index": random_.randrange(3), "end": random_.choice(["accept", "accept", "reject", "leave"])}] * 2
    steps += [{"do": "reduce", "of": random_.choice(REDUCTIONS)}, {"do": "model", "of": random_.choice(sorted(MODELS))}, {"do": "teach"}]
    steps += [{"do": "label", "class": random_.randrange(2), "region": random_.random() < 0.6, "state": random_.choice(["open", "shut"])}] * 2
    steps += [{"do": "chart", "index": random_.randrange(3)}] * 2
    steps += [{"do": "chart_source", "of": random_.choice(["alder", "birch"])}] * 2
    steps += [{"do": "legend_region"}]
    steps += [{"do": "hold", "of": random_.choice(HELD)}, {"do": "release"}, {"do": "release"}]
    if model.has_watch_file:
        steps += [{"do": "cameras"}]
    if model.camera == "all":
        steps += [{"do": "camera", "row": random_.randrange(2)}] * 6
    if model.live and SOURCES[model.live].kind == "live":
        steps += [{"do": "plug", "in": model.live in model.dead}] * 2
    for at, other in enumerate(model.others):
        acts = ["unpin", "unpin", "close", "cameras", "event", "main", *["chart"] * 4] + ["next_camera", "previous_camera"] * (2 * (len(other.cameras) > 1))
        steps += [{"do": "other", "at": at, "act": act, "index": random_.randrange(3)} for act in random_.sample(acts, 6)]
    steps += [{"do": "restart"}]
    return {**random_.choice(steps), "settle": settle}


class Player:
    def __init__(self, build, stage):
        self.runner, self.stage = Runner(build), stage
        self.reached = {}

    def play(self, folder, steps):
        """Does the steps, which may be a generator that is sent what is seen and the model. Returns the steps that were
        done and None or a Wrong."""
        self.folder, self.model, self.written, self.drawn, done = folder, Model(), {}, 0, []
        self.held = False
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            self.start()
            self.settle()
            for step in steps(self):
                done.append(step)
                self.step(step)
            self.close()
        except judge.Wrong as wrong:
            try:
                self.runner.ask(do=END)
            except judge.Wrong:
                pass
            return done, wrong
        return done, None

    def start(self):
        cameras = {f"rtsp://{s.tag}/1": [self.stage.file(s.tag, i) for i in range(s.count)] for s in SOURCES.values() if s.kind == "live"}
        self.take(self.runner.ask(do="start", folder=str(self.folder), model=str(MODELS["mask"]), reduce="mpm:blocks=1", cameras=cameras))

    def close(self):
        if self.runner.ask(do=END)["gave_up"]:
            self.model.give_up_judging()
        judge.stored(self.stage, self.folder, self.model, self.written)

    def take(self, reply):
        """Judges what is seen. True: the action was done."""
        model, seen = self.model, reply["seen"]
        # A folder whose pictures have no time is opened without a question; one with times is asked for.
        if model.asking == "cedar" and "cedar" in seen["title"]:
            model.begin("cedar")
        for window, looking in [(seen, model), *zip(seen["others"], model.others)]:
            if window["picture"] and judge.is_stored(window):
                looking.take(judge.picture_of(window["picture"]))
        self.seen = seen
        judge.at_once(self.stage, model, seen)
        stored = re.search(r"(\d+) of \d+ pictures are stored", seen["source"])
        if stored and model.live and SOURCES[model.live].year:
            self.written[model.live] = max(self.written.get(model.live, 0), int(stored[1]))
        return reply["done"] is True

    def settle(self):
        """Waits until what must be on show is on show."""
        if self.held:
            return
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return judge.in_the_end(self.stage, self.model, self.seen)
            except judge.Wrong:
                if time.monotonic() > end:
                    raise
            self.take(self.runner.ask(do="wait"))

    def ask(self, **what):
        """Does it, and judges only after `then` has changed the model."""
        self.reply = self.runner.ask(**what)
        return self.reply["done"] is True

    def step(self, step):
        self.reply = {"done": False, "seen": self.seen}  # of an action that makes no sense now
        done = self.act(step, self.model)
        self.take(self.reply)
        name = step["do"] + (" " + step["act"] if "act" in step else "") + (" " + str(step["of"]) if step["do"] in ("drop", "open", "hold") else "") + (" " + step["end"] if "end" in step else "")
        self.reached[name, done] = self.reached.get((name, done), 0) + 1
        if step["settle"]:
            self.settle()
        else:
            self.take(self.runner.ask(do="look"))

    def act(self, step, model):
        do, of = step["do"], step.get("of")
        if do == "restart":
            self.close()
            model.forget()
            self.held = False
            self.start()
            self.reply = self.runner.ask(do="look")
            return True
        if self.seen["dialogs"] and do not in ("accept", "reject", "hold", "release", "plug"):
            return False
        if do == "open":  # by the dialog; it may stand at any kind of source
            self.ask(do="open")
            for field in "Video file", "Folder", "Address":
                self.ask(do="fill", of=field, text=self.stage.address(of))
            self.ask(do="accept")
            model.drop(of)
            return True
        if do == "drop":
            paths = {"two": str(self.stage.folder / "two.toml")}.get(of) or (self.stage.database(of[:-3]) if of.endswith(".db") else self.stage.address(of))
            self.ask(do="drop", paths=[paths])
            model.drop(of)
            return True
        if do in ("accept", "reject"):
            asked = self.seen["dialogs"][-1] if self.seen["dialogs"] else None
            if not self.ask(do=do):
                return False
            if asked["class"] == "TimesDialog":
                tag, model.asking = model.asking, None
                if do == "accept":
                    model.begin(tag)
            elif do == "accept" and asked["class"] in ("RegionsDialog", "CameraFieldsDialog"):
                self.accepted(model)
            elif do == "accept" and asked["title"] == "Measure again":
                model.begin(model.live)
            return True
        if do in ("regions", "alarms", "night", "keep"):
            return self.dialog(step, model)
        if do == "label":
            return self.label(step, model)
        if do == "model":  # the pictures of an archive may be asked for, to be measured again
            return self.ask(do="drop", paths=[str(MODELS[of])])
        if do == "teach":  # there and back
            if not self.ask(do="teach"):
                return False
            model.teaching = True
            self.take(self.reply)
            self.ask(do="teach")
            model.teaching = False
            return True
        if do == "chart":
            tag = model.charted()
            moment = tag and self.stage.time(tag, step["index"])
            if not moment or self.seen["chart"]["source"] != self.stage.address(tag) or self.written.get(tag, 0) < SOURCES[tag].count:
                return False
            if not self.ask(do="chart", time=moment / 1000):
                return False
            model.wanted = tag, step["index"]
            return True
        if do == "chart_source":  # its last picture must be known
            if not model.live or self.written.get(of, 0) < SOURCES[of].count or not self.ask(do=do, of=self.stage.address(of)):
                return False
            model.pick(of)
            return True
        if do == "legend_region":
            names = self.seen["legend_regions"]
            return self.ask(do="legend_region", of="" if self.seen["legend_region"] else names[0] if names else "none")
        if do == "other":
            return self.in_other(step, model)
        if do in ("previous_picture", "next_picture"):
            if not self.seen.get("folder") or not self.ask(do=do):
                return False
            model.step_picture(self.stage.index(model.live, self.reply["seen"]["folder"].split("  ·  ")[1]))
            model.paused = self.reply["seen"]["pause"]
            return True
        what = {key: value for key, value in step.items() if key != "settle"}
        if do == "plug":
            what["of"] = self.stage.address(model.live or "maple")
        done = self.ask(**what)
        if not done:
            return False
        if do == "close":
            model.close()
        elif do == "unpin":
            model.unpin()
        elif do == "again" and model.live:
            model.begin(model.live)
        elif do == "pause":
            model.paused = self.reply["seen"]["pause"]
            if not model.paused and "Ended" not in self.seen["connection"]:
                model.index = None
        elif do == "cameras":
            model.camera = "all"
        elif do == "camera":
            model.choose_camera(CAMERAS[step["row"]])
        elif do == "plug":
            (model.dead.discard if step["in"] else model.dead.add)(model.live or "maple")
        elif do == "event":
            model.look_at_event(next(iter(judge.tags_in(self.seen["chart"]["source"])), None))
        elif do in ("hold", "release"):
            self.held = do == "hold"
        return True

    def in_other(self, step, model):
        """In the window of another database."""
        at, act = step["at"], step["act"]
        if at >= len(model.others):
            return False
        other = model.others[at]
        moment = other.of in STORED and self.stage.time(other.of, step["index"]) / 1000
        if act == "chart" and not (moment and self.seen["others"][at]["chart"]["source"]):
            return False
        if not self.ask(do=act, window=at, **({"time": moment} if act == "chart" else {})):
            return False
        if act == "close":
            del model.others[at]
        elif act == "unpin":
            other.show(other.of)
        elif act in ("next_camera", "previous_camera"):
            other.step(1 if act == "next_camera" else -1)
        elif act == "cameras":
            model.camera = "all"
        elif act == "chart":
            other.wanted = other.of, step["index"]
        elif act == "event":
            other.wanted = None
            other.hinted = other.of
        return True

    def dialog(self, step, model):
        do, end = step["do"], step["end"]
        tag = model.shown() or next(iter(judge.tags_in(self.seen["chart"]["source"])), None) or model.live
        if tag is None or not self.ask(do=do) or not self.reply["seen"]["dialogs"]:
            return False
        model.dialog = tag
        if do == "regions":
            self.draft = do, tag, self.change_regions(tag, model.regions_of(tag), step["act"])
        elif do == "keep":  # accepted as it is: changes nothing
            self.draft = do, tag, None
        elif do == "night":
            self.draft = do, tag, judge.night_limit(tag, step["index"])
            for field in "Night below the brightness", "Day above the brightness":
                if not self.ask(do="number", of=field, number=self.draft[2]):
                    raise judge.Wrong("no field", self.reply)
        else:
            self.draft = do, tag, f"no-frame>{judge.LIMIT + SOURCES[tag].number}"
            if not self.ask(do="fill", of="Alarms, one a line", text=self.draft[2]):
                raise judge.Wrong("no field", self.reply)
        if end == "leave":
            return True
        if not self.ask(do=end):
            return False
        if end == "reject" and do == "regions":
            return self.ask(do="accept")  # drop what was changed
        if end == "accept":
            self.accepted(model)
        return True

    def change_regions(self, tag, regions, act):
        """Draws one more half of the picture, or changes a region that is there, in the dialog that is open. Returns the regions then."""
        of = next((name for name in regions if act != "ignore" or part_of(name) == "left"), None)
        self.drawn += 1
        if of is None or act in ("left", "right"):
            half = "right" if act == "right" else "left"
            new = {**regions, f"{tag}-{half}{self.drawn}": False}
            done = self.ask(do="draw", of=f"{tag}-{half}{self.drawn}", right=half == "right")
        else:
            name = f"{tag}-{part_of(of)}{self.drawn}"
            new = {"rename": {name if one == of else one: ignored for one, ignored in regions.items()},
                   "ignore": {**regions, of: not regions[of]},
                   "remove": {one: ignored for one, ignored in regions.items() if one != of}}[act]
            done = self.ask(do="region", of=of, act=act, name=name)
        if not done:
            raise judge.Wrong("no region to change", f"{act} {of}: {self.reply['done']}")
        return new

    def accepted(self, model):
        do, tag, what = self.draft
        if do == "regions":
            model.regions.setdefault(tag, []).append(Regions(what, time.time() * 1000))
        elif do == "alarms":
            model.alarms[tag] = what
        elif do == "night":
            model.judge(tag, what)

    def label(self, step, model):
        """Takes the picture on show, draws a stroke in it, and says which state it, or a region of it, shows."""
        if self.held or model.wanted or model.teaching or not self.seen["picture"] or not self.ask(do="take"):
            return False
        self.take(self.reply)  # Teach is made by the first picture
        on_show = judge.picture_of(self.seen["picture"])
        self.until("the picture is not taken", lambda seen: set(seen["teach"]["pictures"]) - set(model.taken))
        name, = set(self.seen["teach"]["pictures"]) - set(model.taken)
        model.taken[name] = on_show
        self.ask(do="teach")
        model.teaching = True
        self.take(self.reply)
        self.until("the picture that was taken is not on show", lambda seen: seen["teach"]["name"] == name and seen["teach"]["picture"])
        if step["class"] >= len(model.classes):
            model.classes.append(f"class {len(model.classes)}")
            self.ask(do="class", of=model.classes[-1])
        self.until("the classes", lambda seen: seen["teach"]["classes"] == model.classes)
        label = min(step["class"], len(model.classes) - 1)
        self.until("no stroke", lambda seen: self.ask(do="stroke", label=label))
        model.labels.setdefault(name, set()).add(label)
        self.until("the stroke is not kept", lambda seen: name in seen["teach"]["labelled"])
        regions = self.seen["teach"]["regions"] if step["region"] else []
        self.until("the region of the states", lambda seen: self.ask(do="state_region", of=regions[0] if regions else ""))
        of_set = model.states.setdefault(regions[0] if regions else "picture", {})
        of_set[name] = step["state"]
        self.until("the states of the pictures", lambda seen: seen["teach"]["states"] == of_set or
                   self.ask(do="state", of=name, state=step["state"]) and False)
        self.ask(do="teach")
        model.teaching = False
        return True

    def until(self, what, holds):
        """Waits until it holds of what is seen."""
        end = time.monotonic() + PATIENCE
        while not holds(self.seen):
            if time.monotonic() > end:
                raise judge.Wrong(what, self.seen.get("teach"))
            self.take(self.runner.ask(do="wait"))


def random_steps(seed, count):
    def steps(player):
        random_ = random.Random(seed)
        for _ in range(count):
            yield choose(random_, player.model, player.seen)
    return steps
