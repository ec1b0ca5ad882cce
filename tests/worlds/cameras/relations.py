# SPDX-License-Identifier: Apache-2.0
"""Relations between two worlds that need no oracle: the second one differs in what must not change a number."""
import copy
import json
import pathlib
import shutil
import tempfile

from . import mouths
from . import oracle
from . import play


def steps(script, do="watch"):
    return [step for step in script["steps"] if step["do"] == do]


def sources_in_another_order(script):
    """The sources are watched one after the other, the last one first."""
    if len(script["sources"]) < 2:
        return None
    return {**script, "steps": sorted(script["steps"], key=lambda step: -step["source"])}


def hidden(script):
    """Parts of the picture are blacked out in what leaves the watch; numbers are measured before."""
    hide = {"name": "window", "rectangle": [2, 2, script["size"][0] // 2, script["size"][1] // 2], "form": "polygon"}
    number = len(script["regions"])
    return {**script, "regions": [*script["regions"], [hide]],
            "steps": [{**step, "hide": f"regions{number}.json"} if step["do"] == "watch" else step for step in script["steps"]]}


def again(script):
    """All pictures are measured once more as they were."""
    last = {(step["db"], step["source"]): step for step in steps(script)}
    if any(step["every"] or step["kill"] is not None or changes(script, step) for step in last.values()):
        return None
    return {**script, "steps": script["steps"] + [{**step, "recompute": True} for step in last.values()]}


def corrected(script):
    """All pictures are measured by the clock of another zone at first."""
    if again(script) is None:
        return None
    zones = {source["zone"]: "+09:30" if source["zone"].startswith("-") else "-09:30" for source in script["sources"]}
    wrong = [{**step, "zone": zones[script["sources"][step["source"]]["zone"]], "app": False} if step["do"] == "watch" else step for step in script["steps"]]
    right = {(step["db"], step["source"]): {**step, "app": False, "implicit": False} for step in steps(script)}
    return {**script, "steps": wrong + list(right.values())}


def changes(script, step):
    """Whether the source of a step was not always watched as in this step."""
    options = {key: value for key, value in step.items() if key not in ("kill", "recompute")}
    return any({key: value for key, value in other.items() if key not in ("kill", "recompute")} != options
               for other in steps(script) if other["source"] == step["source"])


def cut_short(*cuts):
    """Before each run it is started with each of these changes, which end it early."""
    def other(script):
        result = []
        for step in script["steps"]:
            if step["do"] == "watch" and not step.get("recompute"):
                result += [{**step, **cut} for cut in cuts]
            result.append(step)
        return {**script, "steps": result}
    return other


# After the first and the third sample.
killed = cut_short({"kill": 1}, {"kill": 3})
# From the start or after a few samples; then there is room again.
full_disk = cut_short(*({"kill": None, "room": room} for room in (4, 40, 400)))


def at_once(script):
    """All pictures are there from the start."""
    if any(changes(script, step) for step in steps(script)):
        return None
    return {**script, "steps": steps(script, "take") + steps(script)}


def mirrored(script):
    """Pictures and regions are mirrored: the colours are the same."""
    result = copy.deepcopy(script)
    result["mirrored"] = True
    width = script["size"][0]
    if any(picture["name"].endswith(".jpg") for source in script["sources"] for picture in source["pictures"]):
        return None  # a mirrored JPEG has other artefacts
    for regions in result["regions"]:
        for region in regions:
            x0, y0, x1, y1 = region["rectangle"]
            region["rectangle"] = [width - 1 - x1, y0, width - 1 - x0, y1]
    return result


def in_shards(script):
    """Two machines measure a part each, into databases of their own that are reported together."""
    if any(step["night"]["rule"] == "brightness" or step["every"] or step.get("recompute") or step["kill"] is not None for step in steps(script)):
        return None
    result = []
    for step in script["steps"]:
        if step["do"] == "take":
            result.append(step)
        else:
            result += [{**step, "db": f"{step['db']}.{part}", "shard": f"{part}/2"} for part in (1, 2)]
    return {**script, "steps": result}


RELATIONS = {"sources in another order": sources_in_another_order, "hidden": hidden, "again": again, "corrected": corrected, "killed": killed, "full disk": full_disk, "at once": at_once,
             "mirrored": mirrored, "in shards": in_shards}


def same_series(player, databases):
    """Whether all parts of a source have the same series. Else no part says which came first: pictures have no times of measuring."""
    series = {}
    for database in databases:
        for line in player.run("report", database, "--json").splitlines():
            report = json.loads(line)
            series.setdefault(report["source"], []).append(report["all_series"])
    return all(one == of_source[0] for of_source in series.values() for one in of_source)


def check(name, script, player, build, comparison):
    """Plays the other world of a relation and compares the reports of both. Returns false where the relation says nothing of this world."""
    cameras = {source["folder"] for source in script["sources"] if source.get("camera")}  # two runs of a camera have two times
    script = {**script, "steps": [step for step in script["steps"] if script["sources"][step["source"]]["folder"] not in cameras]}
    other = RELATIONS[name](script)
    if other is None:
        return False
    folder = pathlib.Path(tempfile.mkdtemp(prefix="world"))
    try:
        second = play.Player(build, folder, other)
        second.draw()
        second.play()
        for db in sorted({step["db"] for step in steps(script)}):
            first = by_folder(mouths.json_report(player.run("report", db, "--json")))
            first = {folder: table for folder, table in first.items() if folder not in cameras}
            databases = [f"{db}.1", f"{db}.2"] if name == "in shards" else [db]
            if name == "in shards" and not same_series(second, databases):
                return False
            both = by_folder(mouths.json_report(second.run("report", *databases, "--json")))
            compare(f"{db} {name}", first, both, comparison, name)
            if name == "in shards":
                merged = f"merged-{db}"
                second.run("report", *databases, "--merge", merged)
                compare(f"{db} {name}, merged", first, by_folder(mouths.json_report(second.run("report", merged, "--json"))), comparison, name)
        player.lines += ["# the other world of the relation", *second.lines]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return True


def merged_alone(script, player, comparison):
    """A database that is merged with no other one is the same."""
    for db in sorted({step["db"] for step in steps(script)}):
        player.run("report", db, "--merge", f"alone-{db}")
        first, second = (by_folder(mouths.json_report(player.run("report", one, "--json"))) for one in (db, f"alone-{db}"))
        compare(f"{db} merged alone", first, second, comparison)


def forgotten(script, player, comparison):
    """Means, areas and token counts stay when samples are deleted. A scene ages by its own clock: its frames are one and a half hours apart.
    Returns false where nothing was deleted."""
    width, height = script["size"]
    options = ["--every", 0, "--threads", 1, "--model", play.DATA / play.MODELS["mask"], "--night-brightness", 60, "--regions", "regions0.json" if script["regions"] else "none"]

    def watch(db, frames, *more):
        spec = f"demo:street?seed=3&frames={frames}&start={script['scene']}&step=5400&size={height}x{width}"
        player.run("monitor", spec, "--db", db, *options, *more)

    watch("kept.db", 26)
    shutil.copyfile(player.folder / "kept.db", player.folder / "gone.db")
    watch("kept.db", 4)
    watch("gone.db", 4, "--keep", 1)
    first, second = ({"scene": table for table in mouths.json_report(player.run("report", db, "--json")).values()} for db in ("kept.db", "gone.db"))
    deleted = second["scene"]["samples",].value < first["scene"]["samples",].value
    for table in first["scene"], second["scene"]:
        for key in [key for key in table if key[0] in ("samples", "from", "to", "from local", "to local", "measured")]:  # of what is kept
            del table[key]
    compare("--keep", first, second, comparison)
    return deleted


def by_folder(tables):
    return {source.rpartition("/")[2]: table for source, table in tables.items()}


# What two worlds need not have in common: the labels of a mirrored picture are others, each shard counts the states of its own pictures, and
# pictures that are measured again are two stretches.
DIFFERS = {"again": ("measured",), "corrected": ("measured",), "mirrored": ("area", "tokens", "comparable", "night - day", "plus minus", "blocks", "states"), "in shards": ("states", "outages")}


def compare(where, first, second, comparison, name=""):
    comparison.names(where, "relation", second, first)
    for source in first.keys() & second.keys():
        # Two measurements of one time differ, too.
        same = lambda key: "inference_ms" not in key and not ("unchanged" in key and name == "in shards") and key[0] not in DIFFERS.get(name, ()) and not (
            name == "mirrored" and (key[-1] in ("tokens", "merged") or key[-1] in oracle.TRUSTED))
        comparison.table(f"{where} {source}", "relation", {key: value for key, value in second[source].items() if same(key)},
                         {key: value.value for key, value in first[source].items() if same(key)})
