# SPDX-License-Identifier: Apache-2.0
"""Computes what the programs must print, from the pictures, the labels and the script of a world.

Written from docs/ alone. A sample is what docs/regions.md and docs/monitor.md say about one picture; a report is about the samples of
one series of a source, the latest: those of one model, one reduction, the same settings and one time of measuring (docs/monitor.md, "Series").
"""
import collections
import copy
import dataclasses
import datetime
import math
import re
import time

import numpy as np

from . import difference
from . import events
from . import pictures
from . import world

COLOURS = ["gcc", "rcc", "exg", "brightness", "red", "green", "blue", "red_deviation", "green_deviation", "blue_deviation", "pixels"]
QUANTITIES = {*COLOURS, "tokens", "merged", "inference_ms", "rows", "agreement", "dropped", "sharpness", "contrast", "saturated", "flagged", "dark",
              "overexposed", "blurred", "fogged", "unchanged"}
FLAGS = {1: "dark", 2: "overexposed", 4: "blurred", 8: "fogged"}
# Numbers of the whole picture that are those of all pictures, flagged ones too (docs/monitor.md, "Quality of the pictures").
OF_ALL_PICTURES = {"brightness", "inference_ms", "dropped", "sharpness", "contrast", "saturated", "flagged", *FLAGS.values(), "unchanged"}
# What the programs measure: taken from the lines of `mpm monitor --json`. Sharpness and contrast are measured here, too, from grey levels
# that may be rounded otherwise, so lines are believed only where they are near that.
TRUSTED = ["inference_ms", "dropped", "sharpness", "contrast", "rows", "agreement"]
DAY_MS = 86400000
HOUR_MS = 3600000
CLOCK_SET_MS = 1577836800000  # 2020-01-01


@dataclasses.dataclass
class Sample:
    ms: int
    name: str
    source: int
    picture: int
    series: tuple  # model, reduce, settings, and how often the pictures were measured again with these before
    counts: list  # tokens: N, N after each insertion
    classes: list
    night: bool = None
    flag: int = None  # None: too small to be judged
    values: dict = dataclasses.field(default_factory=dict)  # of a region, "" is the whole picture: quantity -> number
    areas: dict = dataclasses.field(default_factory=dict)  # of a region: share by class name
    quality: dict = dataclasses.field(default_factory=dict)  # sharpness and contrast: the least and the largest number that is right

    run: int = 0  # of which run of the program it is
    night_then: bool = None  # what was decided when it was recorded
    uncertain: bool = False  # which sample was recorded before it is not known
    state: tuple = None  # what was read, and whether it is sure; None: no states
    counted_state: str = None

    @property
    def counted(self):
        return not self.flag


def colours(pixels, mask):
    """The numbers of docs/regions.md, "What is measured", of the pixels within `mask`."""
    blue, green, red = (pixels[:, :, channel][mask].astype(np.float64) for channel in range(3))
    mean = {"red": red.mean(), "green": green.mean(), "blue": blue.mean()}
    total = sum(mean.values())
    result = {"gcc": mean["green"] / total if total else None, "rcc": mean["red"] / total if total else None,
              "exg": 2 * mean["green"] - mean["red"] - mean["blue"],
              "brightness": 0.299 * mean["red"] + 0.587 * mean["green"] + 0.114 * mean["blue"], **mean,
              "red_deviation": red.std(), "green_deviation": green.std(), "blue_deviation": blue.std(), "pixels": float(mask.sum())}
    return result


def contrast_of(grey):
    """Of the standard deviations of the grey levels in squares of 16 px, averaged four by four, the smallest that fewer than a tenth exceed."""
    for axis in 0, 1:  # what remains at the end is averaged, too
        starts = 4 * np.arange(round(grey.shape[axis] / 4))
        ends = np.minimum(starts + 4, grey.shape[axis])
        sums = np.insert(np.cumsum(grey, axis=axis), 0, 0, axis=axis)
        lengths = (ends - starts).reshape(-1, 1) if axis == 0 else ends - starts
        grey = (sums.take(ends, axis) - sums.take(starts, axis)) / lengths
    squares = [grey[y:y + 4, x:x + 4] for y in range(0, grey.shape[0] - 3, 4) for x in range(0, grey.shape[1] - 3, 4)]
    return sorted(square.std() for square in squares)[len(squares) * 9 // 10]


def sharpness_of(grey):
    """The least and the largest variance of the Laplacian less that of the noise, by the median of its absolute value. Beyond its border a
    picture is mirrored. The absolute values are whole numbers: where the grey of a few pixels is rounded the other way, the median is the
    next number, and its square far from that of the other. So it may lie one hundredth of the pixels off the middle."""
    around = np.pad(np.rint(grey), 1, "reflect")
    laplacian = around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:] - 4 * around[1:-1, 1:-1]
    noises = (1.4826 * np.quantile(np.abs(laplacian), share, method=side) for share, side in ((0.51, "higher"), (0.49, "lower")))
    return tuple(max(0, laplacian.var() - noise ** 2) for noise in noises)


def quality_of(pixels):
    """(first flag of the table in docs/monitor.md that holds, of each number of the quality the least and the largest that is right). None: a
    side is smaller than 64 px."""
    height, width = pixels.shape[:2]
    assert width <= 320, "wider pictures are measured on reduced ones"
    if height < 64 or width < 64:
        return None
    grey = pixels.astype(np.float64) @ [0.114, 0.587, 0.299]
    white = (pixels.max(axis=2) >= 250).mean()
    numbers = {"sharpness": sharpness_of(grey), "contrast": (contrast_of(grey),) * 2, "saturated": (100 * float(white),) * 2}
    flag = 1 if (np.rint(grey) > 25).mean() < 0.01 else 2 if white > 0.5 else 8 if numbers["contrast"][0] < 3 else 0
    return flag, numbers


def grid_of(settings):
    """Rows and columns of the tokens of the models of worlds, whose patches are 8 px wide."""
    return tuple(int(side) // 8 for side in settings.get("input-size", "32x64").split("x"))


def overlap(cells, length):
    """{cells, length} share of each pixel that lies in each of `cells` equal parts of `length` pixels."""
    edges = np.arange(cells + 1) * length / cells
    pixel = np.arange(length)
    return np.clip(np.minimum(edges[1:, None], pixel + 1) - np.maximum(edges[:-1, None], pixel), 0, 1)


def tokens_in(mask, clusters, grid):
    """Tokens that are kept in a region: each patch counts one over the size of its cluster, with its part inside the region."""
    rows, columns = grid
    height, width = mask.shape
    part = overlap(rows, height) @ mask.astype(np.float64) @ overlap(columns, width).T / (height / rows * (width / columns))
    if clusters is None:
        return part.sum()
    sizes = np.bincount(clusters.ravel())[clusters]
    return (part / sizes).sum()


def elevation_of_sun(ms, latitude, longitude):
    """Degrees above the horizon, without refraction (the equations of NOAA's solar calculator)."""
    century = (ms / DAY_MS + 2440587.5 - 2451545) / 36525
    mean_longitude = math.radians((280.46646 + century * (36000.76983 + century * 0.0003032)) % 360)
    anomaly = math.radians(357.52911 + century * (35999.05029 - 0.0001537 * century))
    eccentricity = 0.016708634 - century * (0.000042037 + 0.0000001267 * century)
    centre = (math.sin(anomaly) * (1.914602 - century * (0.004817 + 0.000014 * century)) + math.sin(2 * anomaly) * (0.019993 - 0.000101 * century)
              + math.sin(3 * anomaly) * 0.000289)
    node = math.radians(125.04 - 1934.136 * century)
    apparent = mean_longitude + math.radians(centre - 0.00569 - 0.00478 * math.sin(node))
    obliquity = math.radians(23.439291 - 0.0130042 * century + 0.00256 * math.cos(node))
    declination = math.asin(math.sin(obliquity) * math.sin(apparent))
    y = math.tan(obliquity / 2) ** 2
    equation = 4 * math.degrees(y * math.sin(2 * mean_longitude) - 2 * eccentricity * math.sin(anomaly)
                                + 4 * eccentricity * y * math.sin(anomaly) * math.cos(2 * mean_longitude)
                                - 0.5 * y * y * math.sin(4 * mean_longitude) - 1.25 * eccentricity ** 2 * math.sin(2 * anomaly))
    minutes = ms % DAY_MS / 60000 + equation + 4 * longitude
    hour_angle = math.radians(minutes / 4 - 180)
    latitude = math.radians(latitude)
    return math.degrees(math.asin(math.sin(latitude) * math.sin(declination) + math.cos(latitude) * math.cos(declination) * math.cos(hour_angle)))


class Judge:
    """Decides day and night of samples in the order in which they are recorded."""

    def __init__(self):
        self.before = None

    def night(self, rule, source, ms, brightness):
        night = self.decide(rule, source, ms, brightness)
        self.before = self.before if night is None else night
        return night

    def decide(self, rule, source, ms, brightness):
        if rule["rule"] == "sun":
            return elevation_of_sun(ms, *source["place"]) < -6
        if rule["rule"] == "hours":
            clock = world.local_time(ms, zone_of(source))
            minute = clock.hour * 60 + clock.minute
            start, end = rule["from"], rule["to"]
            return start <= minute < end if start <= end else minute >= start or minute < end
        if rule["rule"] == "brightness":
            if rule["night"] <= brightness <= rule["day"] and self.before is not None:
                return self.before
            return bool(brightness < (rule["night"] + rule["day"]) / 2)
        return None


def thinned(order, times, taken, every):
    """The pictures that `--every` takes (docs/monitor.md, "Archives") beside the times `taken` before; all of `taken` itself. ms."""
    kept, due, before = [], None, []  # `before`: the times of taken ones so far

    def take(ms):
        nonlocal due
        on_time = due is not None and due - every / 10 <= ms <= due
        due = (due if on_time else ms) + every

    rest = list(taken)
    for p, ms in zip(order, times):
        while rest and rest[0] <= ms:
            before.append(rest[0])
            take(rest.pop(0))
        if ms in before:
            kept.append(p)
            continue
        if due is not None and ms < due - every / 10 or rest and rest[0] - ms < 0.9 * every:
            continue
        step = ms - max((other for other in times if other < ms), default=-math.inf)
        later = min((other for other in times if other > ms), default=ms + step)  # behind the last one another may come
        if due is not None and later <= due and not (rest and rest[0] - later < 0.9 * every):
            continue  # that one is nearer to the time that is due
        kept.append(p)
        take(ms)
    return kept


class Oracle:
    """`stored[db][source]` has the samples of each database, in the order in which they were recorded."""

    def __init__(self, script, pixels, labels, printed):
        self.script, self.pixels, self.labels = script, pixels, labels
        for source in script["sources"]:
            source["machine_zone"] = script["machine_zone"]
        self.stored, self.judges, self.latest, self.rounds = {}, {}, {}, {}
        self.rules = {}  # of a database and a source: the rules of night of its runs
        self.damaged = {}  # of a database and a source: the times of pictures that could not be read
        self.killed = {s: any(step.get("kill") is not None for step in script["steps"] if step["source"] == s) for s in range(len(script["sources"]))}
        present = {s: [] for s in range(len(script["sources"]))}
        killed = False
        for step, lines in zip(script["steps"], printed):
            if step["do"] == "film":
                present[step["source"]] = step["pictures"]
            elif script["sources"][step["source"]].get("camera"):
                self.record(step, present[step["source"]], [line["unix_ms"] for line in lines if "unix_ms" in line])
            elif step["do"] == "take":
                present[step["source"]] += step["pictures"]
            elif step["kill"] is None:  # the step after a kill does the rest
                self.watch(step, present[step["source"]], killed)
            killed = step.get("kill") is not None

    def watch(self, step, present, uncertain):
        """`mpm monitor` of a folder: pictures in the order of their times, each once. `uncertain`: a run that was killed measured some."""
        s = step["source"]
        source = self.script["sources"][s]
        samples = self.stored.setdefault(step["db"], {}).setdefault(s, [])
        how = step["model"], step["reduce"], world.settings_text(step["settings"])
        measured = step["db"], s, *how
        if step.get("recompute") and measured in self.rounds:
            self.rounds[measured] += 1
        series = *how, self.rounds.setdefault(measured, 0)
        judge = self.judges.setdefault((step["db"], s, series), Judge())
        order = sorted(present, key=lambda p: source["pictures"][p]["ms"])
        if step["every"]:
            taken = sorted(sample.ms for sample in samples if sample.series == series)
            order = thinned(order, [source["pictures"][p]["ms"] for p in order], taken, 1000 * step["every"])
        own = [sample for sample in samples if sample.series == series]
        known = {sample.picture for sample in own}
        self.damaged.setdefault((step["db"], s), set()).update(source["pictures"][p]["ms"] for p in order if source["pictures"][p].get("cut"))
        new = [p for p in order if p not in known and not source["pictures"][p].get("cut")]
        newest = max(own, key=lambda sample: sample.ms, default=None)
        chain, older = (judge, newest), False
        for p in new:
            if newest and source["pictures"][p]["ms"] < newest.ms:  # a chain of their own
                chain, older = chain if older else (Judge(), None), True
            elif older and chain[0] is not judge:
                chain = judge, newest
            samples.append(self.measure(step, p, series, chain[0]))
            self.compare_with(chain[1], samples[-1], uncertain)
            chain = chain[0], samples[-1]
        rules = self.rules.setdefault((step["db"], s), [])
        if new:
            rules.append(step["night"])
        if older:
            self.settle(samples, source, rules)
            judge.before = max((sample for sample in samples if sample.series == series), key=lambda sample: sample.ms).night
        if new:
            self.latest[step["db"], s] = series

    def settle(self, samples, source, rules):
        """Decides by the order of times what depends on the picture before: older pictures came later (docs/monitor.md, "Archives")."""
        judge = Judge() if rules[0]["rule"] == "brightness" and all(rule == rules[0] for rule in rules) else None
        before = {}
        for sample in sorted(samples, key=lambda sample: sample.ms):
            self.compare_with(before.get(sample.series), sample, sample.uncertain)
            before[sample.series] = sample
            if judge:
                sample.night = judge.night(rules[0], source, sample.ms, sample.values[""]["brightness"])

    def record(self, step, frames, times):
        """`mpm monitor` of a film without a start: a sample of each frame, at the time of the clock."""
        samples = self.stored.setdefault(step["db"], {}).setdefault(step["source"], [])
        series = step["model"], step["reduce"], world.settings_text(step["settings"]), 0
        judge = self.judges.setdefault((step["db"], step["source"]), Judge())  # goes on from one series to another
        if len(times) != len(frames):
            raise AssertionError(f"{len(times)} samples of {len(frames)} frames")
        before = None
        for p, ms in zip(frames, times):
            samples.append(self.measure(step, p, series, judge, ms))
            self.compare_with(before, samples[-1], before is None)  # by the clock another one may have been the last
            before = samples[-1]
        self.latest[step["db"], step["source"]] = series

    def compare_with(self, before, sample, uncertain):
        """Whether a sample shows what the one before showed, to the last pixel."""
        sample.uncertain = uncertain
        if before is not None:
            sample.values[""]["unchanged"] = float(np.array_equal(self.pixels[before.source, before.picture], self.pixels[sample.source, sample.picture]))

    def valid_regions(self, step, ms):
        regions = [] if step["regions"] is None else self.script["regions"][step["regions"]]
        return [region for region in regions if region.get("from", -math.inf) <= ms < region.get("to", math.inf)]

    def measure(self, step, p, series, judge, ms=None):
        s = step["source"]
        source, picture, pixels = self.script["sources"][s], self.script["sources"][s]["pictures"][p], self.pixels[s, p]
        labels, clusters, counts, classes = self.labels[s, p, *series[:3]]
        ms = picture["ms"] if ms is None else ms
        quality = quality_of(pixels)
        sample = Sample(ms, picture["name"], s, p, series, counts, classes, flag=quality and quality[0])
        size = self.script["size"]
        whole = np.ones(pixels.shape[:2], bool)
        valid = self.valid_regions(step, ms)
        for region in valid:
            if region.get("ignore"):
                whole &= ~pictures.mask_of(size, region)
        masks = {"": whole, **{region["name"]: pictures.mask_of(size, region) & whole for region in valid if not region.get("ignore")}}
        grid = clusters.shape if clusters is not None else grid_of(step["settings"])
        for name, mask in masks.items():
            if not mask.any():
                continue
            sample.values[name] = {"tokens": tokens_in(mask, clusters, grid) if name else float(counts[-1]), **colours(pixels, mask)}
            sample.areas[name] = {label: float((labels[mask] == index).mean()) for index, label in enumerate(classes)}
        own = sample.values[""]
        own["merged"] = 100 * (1 - counts[-1] / counts[0])
        if quality:
            sample.quality = {name: quality[1][name] for name in ("sharpness", "contrast")}
            own.update({name: sum(within) / 2 for name, within in quality[1].items()})
            own["flagged"] = float(bool(sample.flag))
            own.update({name: float(sample.flag == bit) for bit, name in FLAGS.items()})
        sample.night = sample.night_then = judge.night(step["night"], source, sample.ms, own["brightness"])
        sample.run = id(step)
        return sample

    def trust(self, db, s, exported, of=None):
        """Takes what is not computed here from exported rows of a series, the latest by default."""
        samples = [sample for sample in self.stored[db][s] if sample.series == (of or self.latest[db, s])]
        camera = self.script["sources"][s].get("camera")
        for sample in samples:
            if read := exported.get((sample.ms, sample.name), {}).get(("state", f"light{s}", "read")):
                sample.state = read.value, exported[sample.ms, sample.name]["state", f"light{s}", "sure"].value
        if not camera:
            samples.sort(key=lambda sample: sample.ms)
        count_states(self.stored[db][s] if camera else samples, self.script["sources"][s]["states"])
        for sample in samples:
            row = exported.get((sample.ms, sample.name), {})
            for name in TRUSTED + ["unchanged"] * sample.uncertain:
                printed = row.get(("value", "", name))
                if within := sample.quality.get(name):
                    least, largest = within[0] - 0.1 - 0.02 * within[0], within[1] + 0.1 + 0.02 * within[1]
                    if not printed or printed.value is None or not least <= printed.value <= largest:
                        continue
                sample.values[""].pop(name, None)
                if printed and printed.value is not None:
                    sample.values[""][name] = printed.value

    # What reports print.

    def believed(self, db, s):
        """The samples whose times are believed, by time. A camera's clock may be wrong: samples from before 2020 and of days to come are
        left out, unless all are such."""
        samples = sorted(self.stored[db][s], key=lambda sample: sample.ms)
        if not self.script["sources"][s].get("camera"):
            return samples
        good = [sample for sample in samples if CLOCK_SET_MS <= sample.ms <= time.time() * 1000]
        return good or samples

    def last(self, db, s, of=None):
        """When the last sample of a source was taken; with a series `of` that of this series, if any is believed."""
        samples = self.believed(db, s)
        return max((sample.ms for sample in samples if sample.series == of), default=samples[-1].ms)

    def span(self, db, s, days, of=None):
        """The samples of a source up to the last one of a series `of`, or all; with `days` those that are newer than it less these days."""
        last = self.last(db, s, of)
        return [sample for sample in self.believed(db, s) if sample.ms <= last and (days is None or sample.ms > last - days * DAY_MS)]

    def latest_series(self, db, s, samples):
        return [sample for sample in samples if sample.series == self.latest[db, s]]

    def all_series(self, db, s):
        """The series of a source in the order of their numbers, which count from 1."""
        return list(dict.fromkeys(sample.series for sample in self.stored[db][s]))

    def by_latest_session(self, db, s):
        """The series of a source, the one that was measured last first."""
        return list(dict.fromkeys(sample.series for sample in reversed(self.stored[db][s])))

    def latest_sample(self, db, s):
        """The last sample of a source: of its latest series that has one whose time is believed."""
        believed = self.believed(db, s)
        of = next(of for of in self.by_latest_session(db, s) if any(sample.series == of for sample in believed))
        return [sample for sample in believed if sample.series == of][-1]

    def states(self, db, s, of=None):
        """[(ms, state that counts in a series, whether it was read)] by time, if states are read: of a camera of all its samples, in another
        series none is read. Those of a camera count in the order in which they came: else []."""
        of, camera = of or self.latest[db, s], self.script["sources"][s].get("camera")
        samples = [sample for sample in self.stored[db][s] if camera or sample.series == of]
        read = [bool(sample.state) and sample.series == of for sample in samples]
        if not self.script["sources"][s]["states"] or not (any(read) if camera else all(read)):
            return []
        believed = {id(sample) for sample in self.believed(db, s)}
        if camera and (sorted(samples, key=lambda sample: sample.ms) != samples or not all(id(sample) in believed for sample in samples)):
            return []
        states = [(sample.ms, sample.counted_state if known else None, known) for sample, known in zip(samples, read)]
        return sorted(states, key=lambda state: state[0])

    def events(self, db, s):
        """What events.expected() says of a source, or None where it does not say all: alarms begin anew with another series, and the
        events of states go by the order in which pictures were measured."""
        watches = [step for step in self.script["steps"] if step["do"] == "watch" and step["source"] == s]
        samples, source = self.stored[db][s], self.script["sources"][s]
        plain = len({(step["db"], step["model"], step["reduce"], world.settings_text(step["settings"])) for step in watches}) == 1 and not any(step.get("recompute") for step in watches)
        in_order = samples == sorted(samples, key=lambda sample: sample.ms)
        if source.get("camera") or not plain or not in_order and (source["states"] or self.killed[s]):
            return None
        return events.expected(samples, source)


def outages(oracle, db, s, begin, end):
    """[(begin, end, cause)] of docs/monitor.md, "Outages", in [begin, end], of the sources of worlds: nothing moves, and no time was asked for."""
    archive = not oracle.script["sources"][s].get("camera")
    believed = {id(sample) for sample in oracle.believed(db, s)}
    of_time = {sample.ms: sample for sample in oracle.stored[db][s] if id(sample) in believed}  # that was measured last
    samples = [of_time[ms] for ms in sorted(of_time)]
    times = [sample.ms for sample in samples]
    gaps = events.gap_flags(times, archive)
    damaged = sorted(oracle.damaged.get((db, s), ()))
    causes = [FLAGS[sample.flag] if sample.flag and not (sample.flag == 1 and sample.night) else None for sample in samples]
    plain = [not sample.flag for sample in samples]
    first = 0
    for i in range(len(samples)):
        goes_on = i + 1 < len(samples) and not gaps[i] and plain[i] and plain[i + 1] and samples[i + 1].values[""].get("unchanged") == 1
        if not goes_on:
            if times[i] - times[first] >= HOUR_MS:
                causes[first:i + 1] = ["stuck"] * (i + 1 - first)
            first = i + 1
    pieces = []
    for i, (ms, cause) in enumerate(zip(times, causes)):
        following = times[i + 1] if i + 1 < len(times) else ms
        gap = i < len(gaps) and gaps[i]
        until = next((at for at in damaged if ms < at < following), following)
        if cause:
            pieces.append((ms, ms if gap else until, cause))
        if gap:
            pieces.append((ms, until, "gap"))
        if until < following:
            pieces.append((until, following, "damaged"))
    result = []
    for start, stop, cause in pieces:
        moment = start == stop
        start, stop = max(start, begin), min(stop, end)
        if stop < start or stop == start and not moment:
            continue
        if result and result[-1][1:] == (start, cause) and cause != "gap":
            start = result.pop()[0]
        result.append((start, stop, cause))
    return result


def count_states(samples, after):
    """Which state counts in each sample, by what was read (docs/states.md, "Watch")."""
    before, last, in_turn, counted = None, None, 0, None
    for sample in samples:
        if sample.state and sample.state[1]:
            in_turn = in_turn + 1 if sample.state[0] == last else 1
            last = sample.state[0]
            if in_turn >= after or before is None or abs(sample.ms - before) >= 60000:
                counted = last
        before = sample.ms
        sample.counted_state = counted if sample.state else None


def changes_of_states(states):
    """[(time, state that counts from then on)] of what Oracle.states() says, the first of the first sample with a state that was read."""
    first = next((number for number, (_, _, read) in enumerate(states) if read), len(states))
    states = states[first:]
    return [(ms, state) for before, (ms, state, _) in zip([None, *states], states) if before is None or before[1] != state]


def states_in(name, states, begin, end):
    """{key: value} of the states of a series in [begin, end): how many samples of each, and its changes, the first of which is what
    counted at `begin`."""
    changes = [(ms, state) for ms, state in changes_of_states(states) if ms < end]
    since = max((ms for ms, _ in changes if ms <= begin), default=begin)
    table = {("states", name, "changes"): [(max(ms, begin), state) for ms, state in changes if ms >= since]}
    inside = [state for ms, state, read in states if read and begin <= ms < end]
    return {**table, **{("states", name, "of", state): inside.count(state) for state in inside}}


def shares(oracle, db, s, of, wanted, begin, end):
    """{date: percent of the time of the day in [begin, end) in which any state counted in a series that it was this one} (docs/monitor.md,
    "A calendar")."""
    states, zone = oracle.states(db, s, of), zone_of(oracle.script["sources"][s])
    last = max(sample.ms for sample in oracle.stored[db][s] if sample.series == of)
    begin, end = max(begin, states[0][0]), min(end, last + 1)
    changes = [*changes_of_states(states), (end, None)]
    times = sorted({sample.ms for sample in oracle.believed(db, s)})
    steps = zip(times, times[1:], events.gap_flags(times, not oracle.script["sources"][s].get("camera")))
    gaps = [(before, after) for before, after, is_gap in steps if is_gap]
    known, counted = collections.Counter(), collections.Counter()
    for (changed, which), (until, _) in zip(changes, changes[1:]):
        edges = max(changed, begin), max(changed, begin, min(until, end))
        days = {end_of_row(start_of_row(ms, DAY_MS, zone), DAY_MS, zone) for ms in range(edges[0], edges[1], HOUR_MS)}
        cuts = sorted({*edges, *(at for at in [*days, *(at for gap in gaps for at in gap)] if edges[0] < at < edges[1])})
        for start, stop in zip(cuts, cuts[1:]):
            if which and not any(gap <= start < later for gap, later in gaps):
                date = str(world.local_time(start, zone).date())
                known[date] += stop - start
                counted[date] += (stop - start) * (which == wanted)
    shown = {str(world.local_time(sample.ms, zone).date()) for sample in oracle.stored[db][s] if sample.series == of and begin <= sample.ms < end}
    return {date: 100 * counted[date] / known[date] for date in known.keys() & shown}


def ms_of(text):
    """2026-03-01T10:00:00.000Z as milliseconds since 1970."""
    return round(datetime.datetime.fromisoformat(text).timestamp() * 1000)


def change_since_yesterday(oracle, db, s, series, last, night):
    """The mean tokens of the 24 hours up to the last sample of the span less that of the 24 hours before. An hour belongs to those in
    which it began."""
    sides = {True: [], False: []}
    for sample in oracle.believed(db, s):
        age = last + 1 - sample.ms // HOUR_MS * HOUR_MS
        if sample.series == series and sample.counted and sample.night is night and sample.ms <= last and age <= 2 * DAY_MS:
            sides[age <= DAY_MS].append(sample.counts[-1])
    return mean(sides[True]) - mean(sides[False]) if all(sides.values()) else None


def mean(numbers):
    numbers = [number for number in numbers if number is not None]
    return sum(numbers) / len(numbers) if numbers else None


def numbers_of(samples, region, quantity):
    """A quantity of samples, without flagged ones where it leaves them out."""
    numbers = [sample.values[region].get(quantity) for sample in samples
               if region in sample.values and (sample.counted or not region and quantity in OF_ALL_PICTURES)]
    return [number for number in numbers if number is not None]


def area_of(samples, region, label):
    return mean([sample.areas[region].get(label) for sample in samples if region in sample.areas and sample.counted])


def by_night(samples, night):
    return [sample for sample in samples if sample.night is night]


def judged(oracle, rule):
    """The same stored samples, judged by another rule from the start, in the order of their times."""
    result = copy.copy(oracle)
    result.stored = {}
    result.all_series = oracle.all_series  # in the order in which they were measured
    result.states = lambda db, s, of=None: Oracle.states(result, db, s, of) if oracle.states(db, s, of) else []
    for db, sources in oracle.stored.items():
        for s, samples in sources.items():
            judge = Judge()
            result.stored.setdefault(db, {})[s] = [
                dataclasses.replace(sample, night=judge.night(rule, oracle.script["sources"][s], sample.ms, sample.values[""]["brightness"]))
                for sample in sorted(samples, key=lambda sample: sample.ms)]
    return result


def zone_of(source):
    """The zone of the clock of a camera: of an archive as it was read, of a live camera that of the machine."""
    return source["machine_zone"] if source.get("camera") else source["zone"]


def name_of_zone(zone):
    return zone if zone[0] not in "+-" else "UTC" if zone == "+00:00" else f"UTC{zone}"


def years(first, last, zone):
    """The years of a calendar: (year, from, to) of what lies in first to last, by the clock of the zone."""
    clock = world.local_time(first, zone).tzinfo
    starts = {year: round(datetime.datetime(year, 1, 1, tzinfo=clock).timestamp() * 1000)
              for year in range(world.local_time(first, zone).year, world.local_time(last, zone).year + 2)}
    return [(year, max(first, starts[year]), min(last + 1, starts[year + 1])) for year in list(starts)[:-1]]


def start_of_row(ms, width, zone):
    """The start of the row of /api/series in which a time lies: rows of an hour or less begin at multiples of their width since 1970, others where
    the clock shows one, as with a day."""
    if width <= HOUR_MS:
        return ms // width * width
    local = world.local_time(ms, zone)
    since, row = local.replace(tzinfo=None) - datetime.datetime(1970, 1, 1), datetime.timedelta(milliseconds=width)
    return round((datetime.datetime(1970, 1, 1) + since // row * row).replace(tzinfo=local.tzinfo).timestamp() * 1000)


def gaps_of_rows(samples, width, zone):
    """{start of a row: whether there is a gap before it} of the rows of /api/series (docs/page.md)."""
    counts = collections.Counter(start_of_row(sample.ms, width, zone) for sample in samples)
    starts = sorted(counts)
    steps = [(after - end_of_row(before, width, zone) + width) / 1000 for before, after in zip(starts, starts[1:])]
    flags = events.flags_of_steps(steps, True, width / 1000, [counts[start] for start in starts])
    return dict(zip(starts, [False, *flags]))


def end_of_row(start, width, zone):
    """Rows that are wider than an hour end when the clock shows a multiple of their width; days have 23 to 25 hours."""
    if width <= 3600000:
        return start + width
    local = world.local_time(start, zone)
    moment = local.replace(tzinfo=None) + datetime.timedelta(milliseconds=width)
    return round(moment.replace(tzinfo=local.tzinfo).timestamp() * 1000)


def report(oracle, db, s, days, of=None, zone=None):
    """{key: value} of `mpm report` about one source and its series `of`, or the latest; mouths.py says where each key is printed.

    `zone` is that of --time-zone.
    """
    zone = zone or zone_of(oracle.script["sources"][s])
    span, last = oracle.span(db, s, days, of), oracle.last(db, s, of)
    shown = max((sample.ms for sample in oracle.latest_series(db, s, oracle.believed(db, s))), default=last) if of is None else last
    of = of or oracle.latest[db, s]
    series = [sample for sample in span if sample.series == of]
    table = {("samples",): len(series), ("to",): pictures.iso(last), ("clock",): name_of_zone(zone), ("reduce",): of[1], ("settings",): of[2],
             ("quality", "left_out"): sum(not sample.counted for sample in series),
             ("quality", "pictures"): sum(sample.flag is not None for sample in series)}
    first = oracle.believed(db, s)[0].ms
    begin = first if days is None else max(first, last - round(days * DAY_MS) + 1)
    table["from",] = pictures.iso(begin)
    table["from local",], table["to local",] = (world.local_time(ms, zone).isoformat() for ms in (begin, last))
    table["last",] = world.local_time(shown, zone).isoformat()
    table["outages",] = outages(oracle, db, s, begin, last)
    for _, _, cause in table["outages",]:
        table["outages of", cause, "times"] = table.get(("outages of", cause, "times"), 0) + 1
        table["outages of", cause, "hours"] = sum(stop - start for start, stop, of in table["outages",] if of == cause) / HOUR_MS
    for sample in span:
        how = "measured", *sample.series[1:3]
        table[how] = table.get(how, 0) + 1
    table["measured", "stretches"] = stretches(oracle.all_series(db, s), span)
    times = sorted({sample.ms for sample in oracle.believed(db, s)})
    flags = events.gap_flags(times, not oracle.script["sources"][s].get("camera"))
    table["gaps",] = sum(gap and before < last and after > begin for gap, before, after in zip(flags, times, times[1:]))
    if (expected := oracle.events(db, s)) is not None:
        since, until = -math.inf if days is None else last - days * DAY_MS, last if last < oracle.last(db, s) else math.inf
        table["alarms",] = sum(kind == "alarm" and since < ms <= until for ms, kind, _ in expected)
    for bit, name in FLAGS.items():
        table["quality", name] = sum(sample.flag == bit for sample in series)
    if table["quality", "pictures"]:
        table["bad",] = table["quality", "left_out"] / table["quality", "pictures"]
    if (states := oracle.states(db, s, of)) and series:
        name = f"light{s}"
        table.update(states_in(name, states, begin, last + 1))
        read = [sample for sample in series if sample.state]
        table["states", name, "all"], table["states", name, "sure"] = len(read), sum(sample.state[1] for sample in read)
        table["states", name, "sure, %"] = 100 * table["states", name, "sure"] / max(1, len(read))
        for state in {sample.counted_state for sample in read}:
            table["states", name, "%", state] = 100 * table["states", name, "of", state] / len(read)
        in_turn = [state for _, state in table["states", name, "changes"] if state is not None]
        table["states", name, "number of changes"] = sum(state != before for before, state in zip(in_turn, in_turn[1:]))
        table["state now",] = f"{name} {series[-1].counted_state}" if series[-1].counted_state else None
    regions = sorted({name for sample in series for name in sample.values})
    for region in regions:
        in_region = [sample for sample in series if region in sample.values]
        table["samples of", region] = sum(sample.counted for sample in in_region)
        for side, chosen in ("", series), ("day ", by_night(series, False)), ("night ", by_night(series, True)):
            if side:
                table[side + "samples of", region] = sum(sample.counted for sample in by_night(in_region, side == "night "))
            for quantity in sorted({quantity for sample in in_region for quantity in sample.values[region]}):
                if numbers := numbers_of(chosen, region, quantity):
                    for name, value in ("mean", mean(numbers)), ("min", min(numbers)), ("max", max(numbers)):
                        table[side + name, region, quantity] = value
        for label in sorted({label for sample in in_region for label in sample.areas[region]}):
            table["area", region, label, "all"] = area_of(series, region, label)
    table.update(areas_by_night(series))
    known = judged_samples(series)
    table["comparable", "samples"] = len(known)
    table["comparable", "days"] = len({world.local_time(sample.ms, zone).date() for sample in known})
    table.update(tokens_by_night(oracle, db, s, of, series, last))
    if series:
        table["darkest",], table["brightest",] = range_of_brightness(series)
    return table


def judged_samples(series):
    """Those that count and are of the day or of the night."""
    return [sample for sample in series if sample.counted and sample.night is not None]


def areas_by_night(series):
    """{key: value} of the areas of the whole picture in samples of one series: of all, by day and by night."""
    parts = ("all", series), ("day", by_night(series, False)), ("night", by_night(series, True))
    labels = sorted({label for sample in series for label in sample.classes})
    return {("area", "", label, part): area_of(samples, "", label) for label in labels for part, samples in parts}


def range_of_brightness(series):
    brightness = [sample.values[""]["brightness"] for sample in series]
    return min(brightness), max(brightness)


def tokens_by_night(oracle, db, s, of, series, last):
    """{key: value} of the tokens by day and by night in samples of a series, and of their difference. `last`: the end of their span."""
    table, known = {}, judged_samples(series)
    sides = {part: by_night(known, night) for part, night in (("day", False), ("night", True))}
    for part, samples in sides.items():
        tokens = [sample.counts[-1] for sample in samples]
        table["tokens", part, "samples"] = len(tokens)
        if tokens:
            table["tokens", part, "change_since_yesterday"] = change_since_yesterday(oracle, db, s, of, last, part == "night")
            table.update({("tokens", part, "mean"): float(np.mean(tokens)), ("tokens", part, "median"): float(np.median(tokens)),
                          ("tokens", part, "p90"): float(np.quantile(tokens, 0.9)), ("tokens", part, "min"): min(tokens), ("tokens", part, "max"): max(tokens)})
    if all(sides.values()):
        table["night - day",] = table["tokens", "night", "mean"] - table["tokens", "day", "mean"]
        compared = difference.compare(*([(sample.ms, sample.counts[-1]) for sample in samples] for samples in sides.values()))
        if compared is not None:
            table["blocks",], table["plus minus",] = compared
    return table


def stretches(all_series, samples):
    """[(first, last, number of the series, samples)]: a stretch ends where an hour only has samples of other series."""
    result = []
    for number, series in enumerate(all_series, 1):
        before = None
        hours = sorted({sample.ms // HOUR_MS for sample in samples})
        for position, hour in enumerate(hours):
            times = [sample.ms for sample in samples if sample.series == series and sample.ms // HOUR_MS == hour]
            if times and before is not None and before == position - 1:
                result[-1][1:] = [max(times), number, result[-1][3] + len(times)]
            elif times:
                result.append([min(times), max(times), number, len(times)])
            before = position if times else before
    return sorted((pictures.iso(first), pictures.iso(last), number, count) for first, last, number, count in result)


def rows(oracle, db, s, of=None):
    """{(ms, picture): {key: value}} of each sample of a series of a source, the latest by default, as exports print them."""
    result = {}
    for sample in (sample for sample in oracle.stored[db][s] if sample.series == (of or oracle.latest[db, s])):
        local = world.local_time(sample.ms, zone_of(oracle.script["sources"][s])).isoformat()
        table = {("time",): pictures.iso(sample.ms), ("time local",): local, ("night",): sample.night, ("reduce",): sample.series[1], ("token_counts",): [float(count) for count in sample.counts]}
        if sample.state:
            table["state", f"light{s}", "read"], table["state", f"light{s}", "sure"] = sample.state
            if oracle.states(db, s, of):
                table["state", f"light{s}", "counted"] = sample.counted_state
        for region, values in sample.values.items():
            table.update({("value", region, quantity): value for quantity, value in values.items()})
            table.update({("area", region, label, "all"): share for label, share in sample.areas[region].items()})
        result[sample.ms, sample.name] = table
    return result


def bucket(samples, quantity, label, region):
    """{column: value} of /api/series over some samples: of a quantity, or of the area of a class in percent."""
    def value(sample):
        if region not in sample.values:
            return None
        if label is not None:
            return 100 * sample.areas[region].get(label, 0) if sample.counted else None
        return sample.values[region].get(quantity) if sample.counted or not region and quantity in OF_ALL_PICTURES else None

    numbers = [(sample.night, value(sample)) for sample in samples]
    numbers = [(night, number) for night, number in numbers if number is not None]
    if not numbers:
        return None
    plain = [number for _, number in numbers]
    return {"samples": len(plain), "mean": mean(plain), "min": min(plain), "max": max(plain),
            "day": mean([number for night, number in numbers if night is False]), "night": mean([number for night, number in numbers if night is True])}


def codes(names):
    """{name of a region: TYPE_NUMBER of its files of PhenoCam}."""
    kept = {name for name in names if re.fullmatch(r"[A-Za-z]+_\d+", name)}
    free = (code for code in (f"XX_{number:04d}" for number in range(1, 99)) if code not in kept)
    return {name: name if name in kept else next(free) for name in sorted(names)}


def file_name(sample):
    return re.sub('[,"]', "_", sample.name)


def phenocam(oracle, db, s, region):
    """{(file, row): {key: value}} of PhenoCam's files of one region (docs/phenocam.md). None where the sun is too near to the limit of 10 degrees."""
    source = oracle.script["sources"][s]
    samples = sorted((sample for sample in oracle.latest_series(db, s, oracle.believed(db, s)) if region in sample.values), key=lambda sample: sample.ms)
    result, days = {}, {}
    drawn = next(step["regions"] for step in oracle.script["steps"] if step["do"] == "watch" and step["source"] == s)
    begins = sorted(one.get("from", 0) for one in oracle.script["regions"][drawn] if one["name"] == region)
    channels = {"r": "red", "g": "green", "b": "blue"}
    for sample in samples:
        elevation = elevation_of_sun(sample.ms, *source["place"])
        if abs(elevation - 10) < 0.2:
            return None
        values = sample.values[region]
        clock = camera_clock(source, sample.ms)
        result["roistats", file_name(sample), clock.strftime("%Y-%m-%d %H:%M:%S")] = {("phenocam", column): value for column, value in {
            "doy": clock.timetuple().tm_yday, "solar_elev": elevation, "exposure": None, "awbflag": None, "mask_index": sum(begin <= sample.ms for begin in begins),
            "gcc": values["gcc"], "rcc": values["rcc"], **{f"{channel}_mean": values[name] for channel, name in channels.items()},
            **{f"{channel}_std": values[f"{name}_deviation"] for channel, name in channels.items()}}.items()}
        if elevation >= 10 and 100 <= sum(values[name] for name in channels.values()) <= 665 and sample.counted:
            days.setdefault(clock.date(), []).append((clock, sample, elevation))
    for length in 1, 3:
        last, start, taken = max(days, default=datetime.date.min), min(days, default=datetime.date.max), set()
        start -= datetime.timedelta((start.timetuple().tm_yday - 1) % length)
        while start <= last:  # periods begin anew with each year, but a last one takes the first day of the next
            inside = {date for date in days if start <= date < start + datetime.timedelta(length)} - taken
            middle = start + datetime.timedelta(length // 2)
            result[f"{length}day", middle.isoformat()] = period(region, middle, [row for date in sorted(inside) for row in days[date]])
            taken |= inside
            start = min(start + datetime.timedelta(length), datetime.date(start.year + 1, 1, 1))
    return result


def period(region, date, counted):
    """A row of PhenoCam's files of days: of [(time of the clock, sample, elevation of the sun), ...]."""
    table = {"image_count": len(counted), "year": date.year, "doy": date.timetuple().tm_yday, "snow_flag": None, "outlierflag_gcc_mean": None}
    if not counted:
        table.update(midday_filename="None", midday_gcc=None, gcc_mean=None, r_mean=None, rcc_90=None, max_solar_elev=None)
    else:
        of = lambda quantity: [sample.values[region][quantity] for _, sample, _ in counted]
        for name, quantity in ("r", "red"), ("g", "green"), ("b", "blue"), ("gcc", "gcc"), ("rcc", "rcc"):
            table[f"{name}_mean"], table[f"{name}_std"] = np.mean(of(quantity)), np.std(of(quantity))
        table.update({f"{name}_{percent}": np.quantile(of(name), percent / 100) for name in ("gcc", "rcc") for percent in (50, 75, 90)})
        table["max_solar_elev"] = max(elevation for _, _, elevation in counted)
        noon = datetime.datetime.combine(date, datetime.time(12))
        away = sorted((abs((clock - noon).total_seconds()), number) for number, (clock, _, _) in enumerate(counted))
        if len(away) == 1 or away[0][0] < away[1][0]:
            midday = counted[away[0][1]][1]
            table.update({f"midday_{name}": midday.values[region][quantity] for name, quantity in
                          (("r", "red"), ("g", "green"), ("b", "blue"), ("gcc", "gcc"), ("rcc", "rcc"))}, midday_filename=file_name(midday))
    return {("phenocam", column): value for column, value in table.items()}


def film(oracle, db, s, moment):
    """[pictures of a day, any of which may be shown] of a film of an archive (docs/monitor.md, "A season as a film")."""
    return list(days_of_film(oracle, db, s, moment).values())


def days_of_film(oracle, db, s, moment):
    """The same by the dates of the days, ascending."""
    source = oracle.script["sources"][s]
    if moment == "noon" and not source["place"]:
        moment = "12:00"
    days = {}
    for sample in oracle.latest_series(db, s, oracle.stored[db][s]):
        clock = world.local_time(sample.ms, source["zone"])
        if not sample.counted:
            continue
        if ":" in moment and not moment.startswith("sun"):
            hour, minute = moment.split(":")
            away = abs(clock.hour * 60 + clock.minute + clock.second / 60 - int(hour) * 60 - int(minute))
        elif moment == "noon":
            away = -elevation_of_sun(sample.ms, *source["place"])
        else:
            height, later = (elevation_of_sun(ms, *source["place"]) for ms in (sample.ms, sample.ms + 60000))
            if (later > height) == moment.endswith(":evening"):
                continue
            away = abs(height - float(moment.split(":")[1]))
        days.setdefault(clock.date(), []).append((away, sample.picture))
    return {date: [p for away, p in day if away <= min(day)[0] + 0.02] for date, day in sorted(days.items())}


def camera_clock(source, ms):
    """What the clock of an archive's camera shows without summer time, as PhenoCam's files have it."""
    moment = datetime.datetime.fromtimestamp(ms // 1000, datetime.timezone.utc)
    return moment.replace(tzinfo=None) + datetime.timedelta(minutes=world.standard_offset_minutes(source["zone"], moment.year))
