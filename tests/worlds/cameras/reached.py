# SPDX-License-Identifier: Apache-2.0
"""Counts in how many worlds each feature and each branch of a rule was reached."""

from . import app
from . import events
from . import world
from .oracle import report


def of_script(script):
    result = set()
    watches = [step for step in script["steps"] if step["do"] == "watch"]
    result |= {f"night by {step['night']['rule']}" for step in watches}
    result |= {"regions" for step in watches if step["regions"] is not None}
    result |= {"killed" for step in watches if step["kill"] is not None}
    result |= {"thinned" for step in watches if step["every"]}
    result |= {"measured by the app" for step in watches if step.get("app") and app.can_measure(step)}
    result |= {"nearly the same pictures in the app" for step in watches if step.get("app") and app.can_measure(step)
               and any("moved" in picture for picture in script["sources"][step["source"]]["pictures"])}
    result |= {"measured again" for step in watches if step.get("recompute")}
    if len(script["sources"]) > 1:
        result.add("two sources")
        if len({step["db"] for step in watches}) == 1:
            result.add("two sources in one database")
    for index, source in enumerate(script["sources"]):
        own = [step for step in watches if step["source"] == index]
        if len({step["model"] for step in own}) > 1:
            result.add("two models")
        if len({step["reduce"] for step in own}) > 1:
            result.add("two reductions")
        if len({world.settings_text(step["settings"]) for step in own}) > 1:
            result.add("two settings")
        result |= {f"setting {key}" for step in own for key in step["settings"]}
        taken = [p for step in script["steps"] if step["do"] == "take" and step["source"] == index for p in step["pictures"]]
        if taken != sorted(taken):
            result.add("older pictures later")
        if source["zone"][0] not in "+-":
            result.add("named zone")
        if source.get("camera") and own:
            result.add("camera")
            if len(own) > 2 and own[0]["reduce"] == own[2]["reduce"] != own[1]["reduce"]:
                result.add("series that comes back")
            if any(step.get("blind") for step in own):
                result.add("watch without states")
            if len({step["clock"] // 315360000 for step in own}) > 1:
                result.add("wrong clock")
    if any(step.get("implicit") for step in watches):
        result.add("model not said")
    if any(step.get("implicit") and world.settings_text(step["settings"]) for step in watches):
        result.add("setting not said")
    for regions in script["regions"]:
        result |= {"ignored region" for region in regions if region.get("ignore")}
        result |= {"region with a date" for region in regions if "from" in region or "to" in region}
        result |= {f"region as {region['form']}" for region in regions}
    return result


def of_oracle(oracle):
    result = set()
    for db, sources in oracle.stored.items():
        for s, samples in sources.items():
            result |= {f"event {kind}" for _, kind, _ in oracle.events(db, s) or []}
            times = sorted({sample.ms for sample in samples})
            found, everywhere = (events.gaps(times, archive) for archive in (True, False))
            result |= {"gap"} if found else set()
            table = report(oracle, db, s, None)
            if table.get(("plus minus",)) is not None:
                result.add(f"interval of {table['blocks',][0]}s")
            result |= {"since yesterday" for part in ("day", "night") if table.get(("tokens", part, "change_since_yesterday")) is not None}
            result |= {f"outage {cause}" for _, _, cause in table["outages",]}
            result |= {"pause that is a night"} if found < everywhere else set()
            result |= {f"flag {sample.flag}" for sample in samples}
            result |= {f"night {sample.night}" for sample in samples}
            result |= {"older series" for sample in samples if sample.series != samples[-1].series}
            if samples and not any(sample.counted for sample in samples):
                result.add("all flagged")
            if {sample.night for sample in samples} >= {True, False}:
                result.add("day and night")
    return result


# How many of a hundred worlds reach it at least. Fewer, and a world checks less than it seems to. Those of a camera need libfaketime.
OF_CLOCKS = {"camera": 15, "wrong clock": 4, "series that comes back": 3, "watch without states": 1}
# Those of the desktop app need Qt.
OF_APP = {"asked the app": 95, "measured by the app": 20, "nearly the same pictures in the app": 8}
FLOORS = {"regions": 30, "ignored region": 10, "region with a date": 10, "region as mask": 5, "region as runs": 5, "night by sun": 5, "night by hours": 5,
          "night by brightness": 15, "day and night": 15, "killed": 5, "thinned": 3, "measured again": 5, "two sources in one database": 8,
          "two models": 5, "two reductions": 5, "two settings": 5, "setting refine": 10, "setting input-size": 5, "setting not said": 1, "older pictures later": 5, "named zone": 15, "flag None": 5, "flag 1": 10, "flag 2": 10, "flag 8": 10,
          "all flagged": 2, "film": 20, "samples deleted": 2, "service": 2, "summary": 2, "older series": 10, "event alarm": 15, "event alarm ended": 10, "event quality": 8, "event state": 10, "gap": 15, "interval of hours": 8, "interval of periods": 4, "since yesterday": 10, "pause that is a night": 4,
          "outage gap": 15, "outage damaged": 5, "outage dark": 3, "outage overexposed": 6, "outage fogged": 6, "outage stuck": 4,
          "relation: hidden": 3, "relation: killed": 3, "relation: full disk": 2, "relation: again": 1, "relation: corrected": 1, "relation: at once": 1, "relation: in shards": 1,
          "relation: mirrored": 1, "relation: sources in another order": 1}


def missing(counts, worlds, with_clocks, with_app):
    """A line for each feature that too few of `worlds` worlds reached. Says nothing where fewer than three worlds are meant to reach it."""
    floors = {**FLOORS, **(OF_CLOCKS if with_clocks else {}), **(OF_APP if with_app else {})}
    return [f"only {counts[name]} of {worlds} worlds reached '{name}', at least {floor} of 100 are meant" for name, floor in floors.items()
            if floor * worlds >= 300 and counts[name] * 100 < floor * worlds]
