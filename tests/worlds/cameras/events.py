# SPDX-License-Identifier: Apache-2.0
"""Computes the events that the samples of a source must make: its alarms and the quality of its pictures."""
import dataclasses
import re

from . import oracle

HYSTERESIS = 0.05
STEPS = 15


def usual(steps):
    """The time between samples that three of four do not exceed."""
    return sorted(steps)[(len(steps) - 1) * 3 // 4]


def is_gap(step, steps):
    """Whether a step of so many seconds is a gap where `steps` are usual (docs/monitor.md, "Gaps")."""
    return step > max(2.5 * usual(steps), 10)


def gap_flags(times, archive):
    """Of each step between samples at these times whether it is a gap."""
    steps = [(after - before) / 1000 for before, after in zip(times, times[1:])]
    first = lambda i: max(0, min(i - STEPS // 2, len(steps) - STEPS))
    found = [is_gap(step, steps[first(i):first(i) + STEPS]) for i, step in enumerate(steps)]
    nights = [gap and 2 * 3600 <= step <= 86400 for gap, step in zip(found, steps)]
    if archive and 2 * sum(nights) >= sum(steps) / 86400:
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


def expected(samples, source):
    """[(time, kind, value or words)] of samples in the order in which they were recorded. Values on a limit are None."""
    limits = [limit_of(text) for text in source["alarms"]]
    steps, before, state, result = [], None, None, []
    flag, following, in_a_row = 0, 0, 0
    for sample in samples:
        gap = False
        if before is not None:
            step = (sample.ms - before) / 1000
            gap = bool(steps) and is_gap(step, steps)
            steps = [*steps, step][-STEPS:]
        before = sample.ms
        counted, was = sample.counted_state, state
        if counted != was:
            state = counted
            result.append((sample.ms, "state", f"{counted}, was {was}" if was else counted))
        for one in limits:
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
                if sample.ms - one.outside_since >= source["alarm_minutes"] * 60000:
                    one.rings = True
                    result.append((sample.ms, "alarm", value))
        if sample.flag is not None:
            now = 0 if sample.flag == 1 and sample.night else sample.flag
            in_a_row = in_a_row + 1 if now == following else 1
            following = now
            if now != flag and in_a_row >= source["bad_in_a_row"]:
                flag = now
                result.append((sample.ms, "quality", oracle.FLAGS.get(flag, "good").replace("fogged", "covered or fogged")))
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
