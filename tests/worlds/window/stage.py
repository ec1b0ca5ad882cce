# SPDX-License-Identifier: Apache-2.0
"""What the walks can open: sources that each number and each pixel gives away, and databases of other programs.

Every source has a word of its own in its path and in its names, a size, a brightness and, if its pictures have times, a year.
"""
import collections
import datetime
import itertools
import json
import os
import pathlib
import subprocess

import cv2
import numpy as np

DATA = pathlib.Path(__file__).resolve().parent.parent.parent / "data"
MODELS = {"mask": DATA / "segmenter_mask_ts17.onnx", "linear": DATA / "segmenter_linear_ts12.onnx"}
REDUCTIONS = ("mpm:blocks=1", "mpm:blocks=2", "none")

GREY = np.array([0.114, 0.587, 0.299])

Source = collections.namedtuple("Source", "tag kind number year count")
SOURCES = {s.tag: s for s in (
    Source("alder", "archive", 0, 2011, 3),
    Source("birch", "archive", 1, 2012, 4),
    Source("cedar", "folder", 2, None, 3),
    Source("maple", "live", 3, None, 3),
    Source("olive", "archive", 4, 2015, 3),   # of a watch file, with a database
    Source("rowan", "archive", 5, 2016, 4),   # of a database
    Source("sorbus", "live", 6, None, 3),     # of a watch file, without one
)}
STORED = {"olive": ("mask", "mpm:blocks=2"), "rowan": ("mask", "mpm:blocks=1")}  # what other programs measured, and how


def size_of(tag):
    return 96 + 16 * SOURCES[tag].number, 48 + 8 * SOURCES[tag].number


def brightness_of(tag, index):
    return 56 + 20 * SOURCES[tag].number + 4 * index


def part_of(region):
    """Which half of the picture a region is, by its name."""
    return "right" if "-right" in region else "left"


def tags_in(text):
    return {tag for tag in SOURCES if tag in text}


class Stage:
    """A folder with all of it, made once for many walks, and what must be seen of it."""

    def __init__(self, build, folder):
        self.folder, self.mpm = pathlib.Path(folder).resolve(), str(pathlib.Path(build).resolve() / "bin" / "mpm")
        self.environment = {**os.environ, "TZ": "UTC", "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "1"}
        self.areas = {}  # (tag, index, model, reduction) -> {part of the picture: {class: share}}
        self.draw()
        self.measure()
        for tag, (model, reduction) in STORED.items():
            self.store(tag, model, reduction)
        net = f"model = '{MODELS['mask']}'\nreduce = '{REDUCTIONS[0]}'\n"
        (self.folder / "two.toml").write_text(
            f"[[camera]]\nname = 'olive'\nsource = '{self.path('olive')}'\ndb = '{self.database('olive')}'\ntimes = 'auto'\n{net}"
            f"[[camera]]\nname = 'sorbus'\nsource = 'rtsp://sorbus/1'\ndb = 'none-yet.db'\n{net}")

    def path(self, tag):
        return str(self.folder / tag)

    def address(self, tag):
        """As the source is stored."""
        return f"rtsp://{tag}/1" if SOURCES[tag].kind == "live" else self.path(tag)

    def database(self, tag):
        return str(self.folder / f"{tag}.db")

    def file(self, tag, index):
        source = SOURCES[tag]
        time = f"_{source.year}0601_1{index}0000" if source.year else f"_{index}"
        return str(self.folder / tag / f"{tag}{time}.png")

    @staticmethod
    def time(tag, index):
        """ms since 1970; None: the pictures have none."""
        year = SOURCES[tag].year
        return year and int(datetime.datetime(year, 6, 1, 10 + index, tzinfo=datetime.timezone.utc).timestamp() * 1000)

    def index(self, tag, file):
        return next((i for i in range(SOURCES[tag].count) if pathlib.Path(self.file(tag, i)).name == pathlib.Path(file).name), None)

    def draw(self):
        """Of many random pictures those whose classes differ most: most of them are of one class."""
        drafts = self.folder / "drafts"
        drafts.mkdir(parents=True)
        for source in SOURCES.values():
            for draft in range(16):
                cv2.imwrite(str(drafts / f"{source.number}_{draft}.png"), self.picture(source, draft, brightness_of(source.tag, 0)))
        mixes = collections.defaultdict(list)
        for line in self.run("run", drafts, "--model", MODELS["mask"], "--reduce", REDUCTIONS[0], "--threads", 1, "--json", "--out", self.folder / "labels", "--only", "labels").splitlines():
            frame = json.loads(line)
            number, draft = map(int, frame["name"].split("_"))
            shares = sorted(frame["classes"].values())
            mixes[number].append((shares[-1], draft))
        for source in SOURCES.values():
            (self.folder / source.tag).mkdir()
            for index, (_, draft) in enumerate(sorted(mixes[source.number])[:source.count]):
                cv2.imwrite(self.file(source.tag, index), self.picture(source, draft, brightness_of(source.tag, index)))

    @staticmethod
    def picture(source, draft, brightness):
        width, height = size_of(source.tag)
        random_ = np.random.default_rng([source.number, draft])
        fields = random_.uniform(0, 255, (4, 6, 3))
        image = np.repeat(np.repeat(fields, -(-height // 4), 0), -(-width // 6), 1)[:height, :width] + random_.uniform(-40, 40, (height, width, 3))
        image = np.clip(image - (image @ GREY - brightness)[..., None], 0, 255)
        for _ in range(20):
            for half in np.split(image, 2, axis=1):  # one of them may be ignored
                half[:] = np.clip(half - ((half @ GREY).mean() - brightness), 0, 255)
        return np.rint(image).astype(np.uint8)

    def run(self, *arguments):
        return subprocess.run([self.mpm, *map(str, arguments)], env=self.environment, check=True, capture_output=True, text=True).stdout

    def measure(self):
        """Shares of the classes of each picture by their names, of the whole and of each half. `mpm run` is trusted."""
        everything, out = self.folder / "all", self.folder / "labels"
        everything.mkdir()
        for tag in SOURCES:
            for file in (self.folder / tag).iterdir():
                os.link(file, everything / file.name)
        for model, reduction in itertools.product(MODELS, REDUCTIONS):
            text = self.run("run", everything, "--model", MODELS[model], "--reduce", reduction, "--threads", 1, "--json", "--out", out, "--only", "labels")
            for line in text.splitlines():
                frame = json.loads(line)
                tag, = tags_in(frame["name"])
                labels = cv2.imread(str(out / f"{frame['name']}_labels.png"), cv2.IMREAD_UNCHANGED)
                middle = labels.shape[1] // 2
                self.areas[tag, self.index(tag, frame["source"]), model, reduction] = {
                    name: {label: share for c, label in enumerate(frame["classes"]) if (share := float((part == c).mean())) > 0}
                    for name, part in (("whole", labels), ("left", labels[:, :middle]), ("right", labels[:, middle:]))}

    def measured(self, tag, index, model, reduction):
        return self.areas[tag, index, model, reduction]

    def store(self, tag, model, reduction):
        width, height = size_of(tag)
        regions = self.folder / f"regions{SOURCES[tag].number}.json"
        half = [[0, 0], [width // 2 - 1, 0], [width // 2 - 1, height - 1], [0, height - 1]]
        regions.write_text(json.dumps({"regions": [{"name": f"{tag}-gate", "width": width, "height": height, "polygons": [half]}]}))
        self.run("monitor", self.path(tag), "--db", self.database(tag), "--model", MODELS[model], "--reduce", reduction, "--regions", regions, "--threads", 1)
