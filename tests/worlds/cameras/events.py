# SPDX-License-Identifier: Apache-2.0
"""Computes the events that the samples of a source must make: its alarms and the quality of its pictures."""
import dataclasses
import itertools
import re

from . import oracle

HYSTERESIS = 0.05
STEPS = 15


def usual(steps):
    """The time between samples that three of four do not exceed."""
    return sorted(steps)[(len(steps) - 1) * 3 // 4]


def is_gap(step, steps, width=0):
    """Whether a step of so many seconds is a gap where `steps` are usual (docs/monitor.md, "Gaps")."""
    return step - width > max(2.5 * usual(steps), 10)


def is_night(times, i, pace, width):
    """Whether fewer than half of the days around have a picture at the time of the middle of this pause."""
    middle = (times[i] + width + times[i + 1]) / 2
    around = [middle + 86400 * day for day in range(-7, 8) if day]
    around = [time for time in around if times[0] <= time <= times[-1]]
    ends = [at + width for at in times[:-1]] + times[-1:]
    seen = sum(any(at - 0.75 * pace <= time <= end + 0.75 * pace for at, end in zip(times, ends)) for time in around)
    return not seen or 2 * seen < len(around)


def gap_flags(times, archive):
    """Of each step between samples at these times whether it is a gap."""
    return flags_of_steps([(after - before) / 1000 for before, after in zip(times, times[1:])], archive)


def flags_of_steps(steps, archive, width=0, counts=None):
    """Of each step whether it is a gap. With `width` and `counts` the steps are those of rows of so many seconds, and each row but the last
    has so many samples (docs/page.md, `gap_before`)."""
    shares = [step / count for step, count in zip(steps, counts or [1] * len(steps))]
    around = lambda i: (lambda first: shares[first:first + STEPS])(max(0, min(i - STEPS // 2, len(steps) - STEPS)))
    found = [is_gap(step, around(i), width) for i, step in enumerate(steps)]
    if not archive:
        return found
    times = [0, *itertools.accumulate(steps)]
    nights = [gap and step >= 2 * 3600 and step - width <= 86400 and is_night(times, i, usual(around(i)), width)
              for i, (gap, step) in enumerate(zip(found, steps))]
    if 2 * sum(nights) >= sum(step for step in steps if step - width <= 86400) / 86400:
        return [gap and not night for gap, night in zip(found, nights)]
    return found


def gaps(times, archive):
    """How many gaps there are."""
    return sum(gap_flags(times, archive))


@dataclasses.dataclass
class Limit:
    """One alarm (docs/watch.md, "Alarms")."""
    region: str
    quantity: str
    above: bool
    limit: float
    outside_since: int = None
    rings: bool = False

    def value(self, sample):
        if self.region not in sample.values:
            return None
        if self.quantity in sample.classes:
            return 100 * sample.areas[self.region][self.quantity]
        return sample.values[self.region].get(self.quantity)


@dataclasses.dataclass
class State:
    """An alarm of a state (docs/states.md, "Watch")."""
    head: str
    state: str
    rings: bool = False


def limit_of(text):
    if match := re.fullmatch(r"(\w+)=(\w+)", text):
        return State(match[1], match[2])
    match = re.fullmatch(r"(?:(.*):)?(\w+)([<>])([\d.]+)", text)
    return Limit(match[1] or "", match[2], match[3] == ">", float(match[4]))


class Chain:
    """What goes on from sample to sample."""

    def __init__(self, source):
        self.source, self.limits = source, [limit_of(text) for text in source["alarms"]]
        self.steps, self.before, self.state = [], None, None
        self.flag, self.following, self.in_a_row = 0, 0, 0

    def add(self, sample):
        """[(time, kind, value or words)] of the next sample. Values on a limit are None."""
        gap, result = False, []
        if self.before is not None:
            step = (sample.ms - self.before) / 1000
            gap = bool(self.steps) and is_gap(step, self.steps)
            self.steps = [*self.steps, step][-STEPS:]
        self.before = sample.ms
        counted, was = sample.counted_state, self.state
        if counted != was:
            self.state = counted
            result.append((sample.ms, "state", f"{counted}, was {was}" if was else counted))
        for one in self.limits:
            if isinstance(one, State):
                if counted is not None and (counted == one.state) != one.rings:
                    one.rings = not one.rings
                    result.append((sample.ms, "alarm" if one.rings else "alarm ended", f"{one.head} is {counted}"))
                continue
            if gap and not one.rings:
                one.outside_since = None
            value = one.value(sample)
            if value is None:
                continue
            sign = 1 if one.above else -1
            if one.rings:
                if sign * value <= sign * one.limit - HYSTERESIS * one.limit:
                    one.rings, one.outside_since = False, None
                    result.append((sample.ms, "alarm ended", value))
            elif sign * value <= sign * one.limit:
                one.outside_since = None
            else:
                one.outside_since = sample.ms if one.outside_since is None else one.outside_since
                if sample.ms - one.outside_since >= self.source["alarm_minutes"] * 60000:
                    one.rings = True
                    result.append((sample.ms, "alarm", value))
        if sample.flag is not None:
            now = 0 if sample.flag == 1 and sample.night_then else sample.flag
            self.in_a_row = self.in_a_row + 1 if now == self.following else 1
            self.following = now
            if now != self.flag and self.in_a_row >= self.source["bad_in_a_row"]:
                self.flag = now
                result.append((sample.ms, "quality", oracle.FLAGS.get(self.flag, "good").replace("fogged", "covered or fogged")))
        return result


def expected(samples, source):
    """[(time, kind, value or words)] of samples in the order in which they were recorded. Pictures that are older than what was stored when
    they came have a chain of their own, each time that such ones come."""
    newest, older, result = Chain(source), None, []
    for number, sample in enumerate(samples):
        if newest.before is None or sample.ms >= newest.before:
            older = None
            result += newest.add(sample)
        else:
            if older is None or samples[number - 1].run != sample.run:
                older = Chain(source)
            result += older.add(sample)
    return result


def read(lines):
    """[(time, kind, value or words)] of events as JSON, those that are compared."""
    result = []
    for line in lines:
        if line["event"] == "state":
            result.append((oracle.ms_of(line["time"]), "state", re.fullmatch(r"\w+ is (.*) \([\d.]+\)", line["message"])[1]))
        elif line["event"] in ("alarm", "alarm ended") and re.fullmatch(r"\w+ is \w+", line["message"]):
            result.append((oracle.ms_of(line["time"]), line["event"], line["message"]))
        elif line["event"] in ("alarm", "alarm ended"):
            number = re.search(r"(?:back at |.* )(-?[\d.]+(?:e[+-]\d+)?)(?: %)?(?:, no longer| above| below)", line["message"])
            result.append((oracle.ms_of(line["time"]), line["event"], float(number[1])))
        elif line["event"] == "quality":
            result.append((oracle.ms_of(line["time"]), "quality", re.search(r"the pictures are (.*?)(?: again|:)", line["message"])[1]))
    return result


def difference(printed, computed):
    """The first disagreement as text, or None."""
    for index in range(max(len(printed), len(computed))):
        one, other = (events[index] if index < len(events) else None for events in (printed, computed))
        if one is None or other is None or one[:2] != other[:2] or not same(one[2], other[2]):
            return f"event {index} of {len(printed)} is {one}, expected {other} of {len(computed)}"
    return None


def same(printed, computed):
    """Values are printed with four digits."""
    if isinstance(printed, str) or isinstance(computed, str):
        return printed == computed
    return abs(printed - computed) <= 6e-4 * max(1e-3, abs(computed))
