# SPDX-License-Identifier: Apache-2.0
"""Holds what the window shows, and what it has stored, against the model."""
import csv
import itertools
import json
import pathlib
import re
import sqlite3
import time

import cv2

from .model import CAMERAS, PAGES, Regions
from .stage import GREY, MODELS, REDUCTIONS, SOURCES, STORED, brightness_of, part_of, size_of, tags_in

NIGHT = 40   # below this brightness night is, where nobody said otherwise
LIMIT = 100  # of the alarm of a source: this and its number


class Wrong(Exception):
    """`kind`: the same for disagreements that look alike."""

    def __init__(self, kind, text):
        super().__init__(f"{kind}: {text}")
        self.kind = kind


def require(holds, kind, text=""):
    if not holds:
        raise Wrong(kind, text)


def picture_of(picture):
    """The source and the index of a picture, from its size and its brightness."""
    tag = next((t for t in SOURCES if size_of(t) == (picture["width"], picture["height"])), None)
    near = [i for i in range(SOURCES[tag].count) if abs(picture["brightness"] - brightness_of(tag, i)) < 1.5] if tag else []
    require(len(near) == 1, "a picture of no source", picture)
    return tag, near[0]


def night_limit(tag, index):
    """Between the brightnesses of two of its pictures, and of no other source."""
    return brightness_of(tag, index) + 2


def nights_in(text):
    """The brightnesses below which night is, in the text of Day/night."""
    return {float(number) for number in re.findall(r"darker than ([0-9.]+) of", text)}


def is_stored(seen):
    return seen["banner"].startswith(("Stored picture", "Last sample"))


def is_legend(stage, legend, tag, index, parts):
    """Whether these are the areas in one of these parts of a picture."""
    for model, reduction, part in itertools.product(MODELS, REDUCTIONS, parts):
        expected = stage.measured(tag, index, model, reduction)[part]
        if set(k for k, v in expected.items() if v > 2e-5) == set(k for k, v in legend.items() if v > 2e-5) and \
                all(abs(expected[name] - share) < 2e-4 for name, share in legend.items() if share > 2e-5):
            return True
    return False


def check_legend(stage, seen, tag, index, regions):
    """`regions`: those of which the picture may be measured."""
    region = seen["legend_region"]
    parts = {part_of(region)} if region else {one.whole() for one in regions}
    if region and not seen["legend"] and any(region not in one.measured() for one in regions):
        return
    require(is_legend(stage, seen["legend"], tag, index, parts), "the legend is not of the picture", f"{tag} {index}: {seen['legend']} in {parts}")


def check_chart(stage, chart, charted):
    tags = tags_in(chart["source"])
    if charted:
        require(tags <= {charted}, "the chart is of another source", f"{chart['source']}, not {charted}")
    require(tags_in(" ".join([chart["text"], *chart["regions"]])) <= tags, "the chart speaks of another source", chart)
    if not tags or "brightness" not in chart:
        return
    tag, = tags
    low, high = chart["brightness"]
    require(low > brightness_of(tag, 0) - 1.5 and high < brightness_of(tag, SOURCES[tag].count - 1) + 1.5, "numbers in the chart of another source", f"{tag}: {chart}")
    year = SOURCES[tag].year
    for moment in chart["first"], chart["last"]:
        require(time.gmtime(moment / 1000).tm_year == (year or time.gmtime().tm_year), "times in the chart of another source", f"{tag}: {chart}")


def check_chart_regions(stage, model, chart, connection):
    """The chart names all regions that are stored: those of the last samples, and of those before."""
    tag = next(iter(tags_in(chart["source"])), None)
    if tag in STORED or tag is None:
        return
    ever = {name for regions in model.ever(tag) for name in regions.chosen()}
    require(set(chart["regions"]) <= ever, "a region in the chart that was never drawn", f"{chart['regions']}, not of {ever}")
    if tag == model.live and connection == "Live" and SOURCES[tag].kind == "live":
        require(set(model.regions_of(tag).chosen()) <= set(chart["regions"]), "a region that the chart does not name", f"{model.regions_of(tag)}: {chart['regions']}")


def any_at_once(stage, seen, shown, charted, stored, regions):
    """What holds in every window. `shown`: the source of its picture. `charted`: of its chart and events. `regions`: all that `shown` had."""
    for where in "outlines", "legend_regions":
        require(tags_in(" ".join(seen[where])) <= {shown}, f"{where} of another source", f"{seen[where]}, not {shown}")
    if picture := seen["picture"]:
        tag, index = picture_of(picture)
        require(tag == shown, "a picture of another source", f"{tag}, not {shown}")
        require(f"{picture['width']} × {picture['height']}" in seen["frame"] and tags_in(seen["frame"]) <= {tag}, "the line below the picture", seen["frame"])
        if picture["file"]:
            require(stage.index(tag, picture["file"]) == index, "a picture with the name of another one", picture)
            if stage.time(tag, index):
                require(picture["time"] == stage.time(tag, index), "a picture with the time of another one", picture)
        # A frame that was in work when a region was drawn says nothing of it.
        if (picture["measured"] or stored) and (seen["legend"] or not seen["legend_region"]):
            check_legend(stage, seen, tag, index, regions)
        require(bool(stored) == is_stored(seen), "a banner", f"{seen['banner']}, not of {stored or shown}")
    else:
        require(not seen["legend"] or stored, "a legend without a picture", seen["legend"])
        require(not seen["frame"], "a line below no picture", seen["frame"])
    check_chart(stage, seen["chart"], charted)
    told = set().union(*(tags_in(message) for _, message in seen["events"]))
    require(told <= {charted} if charted else len(told) <= 1, "events of another source", f"{told}, not {charted}: {seen['events']}")


def at_once(stage, model, seen):
    """What holds at every moment."""
    shown, title = model.shown(), model.title()
    require(tags_in(seen["title"]) == ({title} if title else set()), "the title", f"'{seen['title']}', not {title}")
    require(seen["page"] == PAGES[model.page()], "the page", f"{seen['page']}, not {model.page()}")
    require(tags_in(seen["source"]) <= {model.live}, "the panel of the source", f"{seen['source']!r}, not {model.live}")
    require(tags_in(seen.get("folder", "")) <= {model.live}, "the bar of the folder", f"{seen.get('folder')!r}, not {model.live}")
    require(seen["map"], "the merge map is of another frame")
    any_at_once(stage, seen, shown, model.charted(), model.stored, model.ever(shown))
    nights, judged = nights_in(seen["day_night"]), model.charted() or next(iter(tags_in(seen["chart"]["source"])), None)
    require(nights <= {NIGHT, *model.nights.get(judged, [])}, "the rule of night of another source", f"{nights}, {judged}: {model.nights}")
    require(len(seen["others"]) == len(model.others), "the windows of other databases", f"{[other['title'] for other in seen['others']]}, not {[other.of for other in model.others]}")
    for found, other in zip(seen["others"], model.others):
        require(tags_in(found["title"]) == {other.of}, "the title of another database", f"'{found['title']}', not {other.of}")
        any_at_once(stage, found, other.stored and other.of, other.of, other.stored, [Regions()])
        require(nights_in(found["day_night"]) <= {NIGHT}, "a rule of night of ours in another database", found["day_night"])
    if teach := seen.get("teach"):
        require(tags_in(" ".join(teach["regions"])) <= {shown}, "regions that may show states, of another source", f"{teach['regions']}, not {shown}")
        if teach["name"] in model.taken and teach["picture"]:
            require(picture_of(teach["picture"]) == model.taken[teach["name"]], "another picture to label", f"{teach}, not {model.taken[teach['name']]}")
    for dialog in seen["dialogs"]:
        of = model.asking if dialog["class"] == "TimesDialog" else model.dialog
        require(tags_in(dialog["texts"]) <= {of}, "a dialog of another source", f"{dialog}, not {of}")
        if dialog["picture"]:
            require(picture_of(dialog["picture"])[0] == of, "a dialog with a picture of another source", f"{dialog}, not {of}")


def in_the_end(stage, model, seen):
    """What is so once all that was begun has ended."""
    shown = model.shown()
    require(not model.wanted, "no stored picture", model.wanted)
    require(not model.asking or any(d["class"] == "TimesDialog" for d in seen["dialogs"]), "nobody asks for times", model.asking)
    silent = model.live and (model.paused or model.live in model.dead)
    if shown and not (silent and not seen["picture"]):
        require(seen["picture"], "no picture", shown)
        ended = model.live and SOURCES[model.live].year and seen["connection"] == "Ended"
        index = model.stored[1] if model.stored else model.index if model.index is not None or not ended else SOURCES[model.live].count - 1
        require(index is None or picture_of(seen["picture"])[1] == index, "another picture of the source", f"{picture_of(seen['picture'])}, not {index}")
        require(model.stored or seen["picture"]["measured"], "no model has seen the picture")
        check_legend(stage, seen, *picture_of(seen["picture"]), model.ever(shown) if model.stored else [model.regions_of(shown)])
        require(sorted(seen["outlines"]) == sorted(model.outlines()), "the outlines", f"{seen['outlines']}, not {model.outlines()}")
        if not model.stored:
            require(sorted(seen["legend_regions"]) == sorted(model.regions_of(shown).chosen()), "regions of the legend", f"{seen['legend_regions']}, not {model.regions_of(shown)}")
            require(seen["legend_region"] in ("", *seen["legend_regions"]), "a region of the legend that is not there", seen["legend_region"])
    check_chart_regions(stage, model, seen["chart"], seen["connection"])
    if not shown:
        require(not seen["picture"], "a picture of nothing", seen["picture"])
    charted = model.charted()  # sorbus has the rule of its watch file, each time that this is opened
    if charted in model.nights and charted not in model.unjudged and charted != "sorbus" and seen["chart"]["source"] == stage.address(charted):
        require(nights_in(seen["day_night"]) == {model.nights[charted][-1]}, "what is stored is not judged by the new rule", f"{seen['day_night']}: {model.nights}")
    for found, other in zip(seen["others"], model.others):
        require(not other.wanted, "no stored picture of another database", other.wanted)
        require(found["chart"]["source"] == (stage.address(other.of) if other.of in STORED else ""), "the chart of another database", f"{found['chart']}, not {other.of}")
        if other.stored:
            require(found["picture"] and picture_of(found["picture"])[1] == other.stored[1], "another picture of another database", f"{found['picture']}, not {other.stored}")
        require(found["outlines"] == other.outlines(), "the outlines of another database", f"{found['outlines']}, not {other.outlines()}")
    if model.picked:
        require(seen["chart"]["source"] == stage.address(model.picked), "the chart of what was picked", seen["chart"])
    elif model.live and seen["picture"] and not silent and not model.stored:
        require(seen["chart"]["source"] == stage.address(model.live), "the chart of what is watched", seen["chart"])


def labelled(folder, model):
    """What was drawn and said in Teach."""
    def read(file, how):
        image = cv2.imread(str(file), how)
        require(image is not None, "a picture to label is lost", file)
        return image

    for name, expected in model.taken.items():
        image = read(folder / "pictures" / f"{name}.png", cv2.IMREAD_COLOR)
        found = picture_of({"width": image.shape[1], "height": image.shape[0], "brightness": (image @ GREY).mean()})
        require(found == expected, "another picture was taken to label", f"{name}: {found}, not {expected}")
    require({file.stem for file in (folder / "labels").glob("*.png")} == set(model.labels), "labels of other pictures", f"{list(model.labels)}")
    for name, classes in model.labels.items():
        labels = read(folder / "labels" / f"{name}.png", cv2.IMREAD_GRAYSCALE)
        drawn = set(labels.flatten().tolist()) - {255}
        require(drawn == classes, "labels of other classes", f"{name}: {drawn}, not {classes}")
        require((labels != 255).mean() < 0.2, "more is labelled than was drawn", name)
    for of_set, states in model.states.items():
        with open(folder / "states" / f"{of_set}.csv") as lines:
            found = {pathlib.Path(line["picture"]).stem: line["state"] for line in csv.DictReader(lines)}
        require(found == states, "states of other pictures", f"{of_set}: {found}, not {states}")


def samples_in_regions(stage, db, model):
    """Each sample is measured in the regions that its source had then, one after the other."""
    samples = {}
    for name, sample, moment, brightness, region, areas in db.execute(
            "SELECT source.name, sample.id, time_ms, whole.brightness, region.name, region_sample.areas FROM sample JOIN source ON source.id = sample.source "
            "JOIN region_sample AS whole ON whole.sample = sample.id AND whole.region = 0 JOIN region_sample ON region_sample.sample = sample.id "
            "LEFT JOIN region ON region.id = region_sample.region ORDER BY sample.id"):
        tag, = tags_in(name)
        of = samples.setdefault(tag, {}).setdefault(sample, (moment, brightness, {}))
        of[2][region or ""] = {f"class_{label}": share for label, share in json.loads(areas).items()}
    for tag, found in samples.items():
        ever, at, marks = model.ever(tag), 0, model.stored_then.setdefault(tag, [])
        for number, (moment, brightness, measured) in enumerate(found.values()):
            index = next(i for i in range(SOURCES[tag].count) if abs(brightness - brightness_of(tag, i)) < 1.5)
            at = max([at, *(then for count, then in marks if number >= count)])
            if SOURCES[tag].kind == "live":
                at = max(k for k, one in enumerate(ever) if k <= at or one.since < moment)
            fits = [k for k in range(at, len(ever)) if ever[k].measured() == set(measured) - {""} and all(
                is_legend(stage, areas, tag, index, {part_of(region) if region else ever[k].whole()}) for region, areas in measured.items())]
            require(fits, "a sample in other regions", f"{tag}, sample {number} of {moment}: {measured}, not from {ever[at]} on of {ever}")
            at = fits[0]
        marks.append((len(found), len(ever) - 1))


def stored(stage, folder, model, written):
    """What the database, the pictures, the rules and the labels say after the window was closed. `written`: what the window
    said is stored: {source: samples}."""
    folder = pathlib.Path(folder)
    for file in (folder / "watches").glob("*.toml"):
        text = file.read_text()
        of = tags_in(text)
        require(len(of) <= 1, "a watch file of two sources", f"{file.name}: {text}")
        for tag in of:
            require(tags_in(file.name) <= {tag}, "a watch file under another name", file.name)
            expected = model.alarms.get(tag)
            require(("no-frame>" in text) == bool(expected) and (not expected or expected in text), "alarms of another source", f"{tag}, {expected}: {text}")
    for file in (folder / "watches").glob("*.regions.json"):
        names = {r["name"] for r in json.loads(file.read_text())["regions"]}
        require(tags_in(" ".join(names)) <= tags_in(file.name), "regions of another source in a file", f"{file.name}: {names}")
    for tag in model.regions:
        regions = model.regions_of(tag)
        files = list((folder / "watches").glob(f"{tag}-*.regions.json")) or list((folder / "watches").glob(f"*{tag}*.regions.json"))
        if regions:
            require(files and {r["name"]: r.get("ignore", False) for r in json.loads(files[0].read_text())["regions"]} == regions, "regions are lost", f"{tag}: {regions}, {files}")
    for tag, limit in model.alarms.items():
        require(any(limit in file.read_text() for file in (folder / "watches").glob("*.toml")), "an alarm is lost", f"{tag}: {limit}")
    for tag, limits in model.nights.items():
        require(any(re.search(rf"night-brightness = {limits[-1]}(\.0)?$", file.read_text(), re.M) for file in (folder / "watches").glob("*.toml") if tag in file.read_text()), "a rule of night is lost", f"{tag}: {limits}")
    labelled(folder / "m.labels", model)
    pictures = list((folder / "pictures").glob("*Z.json"))
    for file in pictures:
        facts = json.loads(file.read_text())
        image = cv2.imread(str(file.with_suffix(".png")))
        tag, index = picture_of({"width": image.shape[1], "height": image.shape[0], "brightness": (image @ GREY).mean()})
        require(facts["source"] == stage.address(tag), "a picture stored for another source", f"{file}: {facts['source']}, not {tag}")
        fits = [one for one in model.ever(tag) if one.measured() == set(facts.get("regions", {}))]
        require(fits, "a stored picture with other regions", f"{facts}: {model.ever(tag)}")
        check_legend(stage, {"legend": facts["area_fraction"], "legend_region": ""}, tag, index, fits)
    database = folder / "m.db"
    if not database.exists():
        return require(not written, "nothing is stored", written)
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
        found = {}
        for name, picture, moment, brightness, areas in db.execute(
                "SELECT source.name, picture, time_ms, brightness, areas FROM sample JOIN source ON source.id = sample.source "
                "JOIN region_sample ON region_sample.sample = sample.id AND region = 0"):
            tag, = tags_in(name)
            found[tag] = found.get(tag, 0) + 1
            near = [i for i in range(SOURCES[tag].count) if abs(brightness - brightness_of(tag, i)) < 1.5]
            require(near, "a sample stored for another source", f"{name}: brightness {brightness}")
            if SOURCES[tag].kind != "live":
                require(picture == pathlib.Path(stage.file(tag, near[0])).name, "a sample with another picture", f"{picture}: {brightness}")
            if SOURCES[tag].year:
                require(moment == stage.time(tag, near[0]), "a sample with another time", f"{picture}: {moment}")
        samples_in_regions(stage, db, model)
        for tag, count in written.items():
            require(found.get(tag, 0) >= count, "samples are lost", f"{tag}: {found.get(tag, 0)} of {count}")
        for name, region in db.execute("SELECT source.name, region.name FROM region JOIN source ON source.id = region.source"):
            require(tags_in(region) <= tags_in(name), "a region stored for another source", f"{region}: {name}")
        for name, region in db.execute("SELECT DISTINCT source.name, region.name FROM region_sample JOIN region ON region.id = region_sample.region "
                                       "JOIN sample ON sample.id = region_sample.sample JOIN source ON source.id = sample.source"):
            require(tags_in(region) <= tags_in(name), "a sample with a region of another source", f"{region}: {name}")
        for name, message in db.execute("SELECT source.name, message FROM event JOIN source ON source.id = event.source"):
            require(tags_in(message) <= tags_in(name), "an event stored for another source", f"{name}: {message}")
        for name, rule, night, brightness in db.execute(
                "SELECT source.name, night_rule, night, brightness FROM sample JOIN source ON source.id = sample.source JOIN session ON session.id = sample.session "
                "JOIN region_sample ON region_sample.sample = sample.id AND region = 0"):
            tag, = tags_in(name)
            if tag == "sorbus" and rule == "":  # as the watch file says, until somebody chooses one
                require(night is None, "night without a rule", name)
                continue
            below = float(re.search(r"brightness is below ([0-9.]+)", rule)[1])
            require(below in {NIGHT, *model.nights.get(tag, [])}, "judged by the rule of another source", f"{name}: {rule}")
            require(night == (brightness < below), "night by another rule than is stored", f"{name}: {brightness}, {rule}")
        for name, alarms in db.execute("SELECT name, alarms FROM source WHERE alarms IS NOT NULL"):
            tag, = tags_in(name)
            for rule in [one["rule"] for one in json.loads(alarms)]:
                require(rule == model.alarms.get(tag), "an alarm of another source", f"{name}: {rule}")
