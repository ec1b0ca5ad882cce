# SPDX-License-Identifier: Apache-2.0
"""Compares what the app shows of a database with what the oracle computes."""
import itertools
import json
import pathlib
import re

from . import events
from . import mouths
from . import oracle
from . import pictures
from . import world
from .mouths import Printed

WITHIN_MS = 3600000  # how far from a moment the app looks for a sample
SHORTEST_MS = 2 * oracle.DAY_MS  # less has no day and night to compare


def compare(player, oracle_, db, names, comparison, random_):
    """All sources of one database."""
    questions = {name: question(player, oracle_, db, name, s, random_) for name, s in names.items()}
    player.lines += [f"# the app: app_runner <<< '{json.dumps(asked)}'" for asked in questions.values()]
    answers = player.ask_app("show", list(questions.values()))
    for (name, asked), answer in zip(questions.items(), answers):
        s, where = names[name], f"{db} {name}"
        comparison.names(db, "app", answer["sources"], names)
        known(answer["known"], oracle_, db, s, where, comparison)
        day_and_night(answer["day and night"], asked, oracle_, db, s, where, comparison)
        tell_events(answer["events"], oracle_, db, s, where, comparison)
        chart(answer["chart"], asked, oracle_, db, s, where, comparison)
        sample(answer["last"], oracle_.latest_sample(db, s), f"{where} last sample", comparison)
        last_text(answer["last"]["text"], oracle_, db, s, where, comparison)
        sample(answer["nearest"], nearest(oracle_, db, s, asked["moment"]), f"{where} {pictures.iso(asked['moment'])}", comparison)
        calendar(answer["calendar"], asked, oracle_, db, s, where, comparison)


def stored_of_folders(player, comparison):
    """At the end of a folder the app says how many of its pictures are stored: all that can be read."""
    for measured, said in player.in_app:
        s, source = measured["source"], player.script["sources"][measured["source"]]
        before = itertools.takewhile(lambda step: step is not measured, player.script["steps"])
        there = [p for step in before if step["do"] == "take" and step["source"] == s for p in step["pictures"]]
        if measured["every"]:
            continue  # it leaves some out
        table = {("pictures",): Printed(said["pictures"]), ("stored",): Printed(said["stored"])}
        readable = [p for p in there if not source["pictures"][p].get("cut")]
        comparison.table(f"{measured['db']} {source['folder']}", "app folder", table, {("pictures",): len(there), ("stored",): len(readable)})


def question(player, oracle_, db, name, s, random_):
    """What is asked about one source."""
    samples = oracle_.stored[db][s]
    believed = [one.ms for one in oracle_.believed(db, s)]
    region = random_.choice([""] + sorted({region for one in samples for region in one.values if region}))
    quantities = ["tokens", *oracle.COLOURS] if region else sorted(oracle.QUANTITIES)
    keys = [{"quantity": quantity} for quantity in random_.sample(quantities, 2)] + [{"class": random_.choice(samples[-1].classes)}]
    random_.shuffle(keys)
    first, last = sorted(random_.choices(believed, k=2)) if random_.random() < 0.5 else (believed[0], believed[-1])
    zone = oracle.zone_of(oracle_.script["sources"][s])
    asked = {"database": str(player.folder / db), "source": name, "region": region, "keys": keys,
             "period": sorted(random_.choices(believed, k=2)) if random_.random() < 0.5 else [believed[0], believed[-1]],
             "span": [first - random_.choice([0, 1, 1000, 1800000]), last + random_.choice([1, 60000, 5400000])],
             "buckets": random_.choice([2, 7, 40, 400]), "moment": random_.choice(believed) + random_.randrange(-1800, 1800) * 1000,
             "year": random_.choice(oracle.years(believed[0], believed[-1], zone))[0]}
    read = sorted({state for _, state, _ in oracle_.states(db, s) if state})
    if read and random_.random() < 0.5:
        asked["states"] = {"head": f"light{s}", "state": random_.choice(read)}
    return asked


def known(printed, oracle_, db, s, where, comparison):
    believed, samples = oracle_.believed(db, s), oracle_.stored[db][s]
    series = oracle_.latest_series(db, s, samples)
    watches = [step for step in oracle_.script["steps"] if step["do"] == "watch" and (step["source"], step["db"]) == (s, db)]
    drawn = {step["regions"] for step in watches} - {None}
    expected = {"first_ms": believed[0].ms, "last_ms": believed[-1].ms, "present_ms": believed[-1].ms,
                "archive": not oracle_.script["sources"][s].get("camera"), "samples": len(series), "classes": series[-1].classes,
                "classes of names": series[-1].classes}
    regions = {region["name"] for r in drawn for region in oracle_.script["regions"][r] if not region.get("ignore")}
    comparison.names(where, "app regions", printed.pop("regions"), regions)
    told = oracle_.events(db, s)
    if told is not None and samples == believed:
        expected["ringing"] = sum({"alarm": 1, "alarm ended": -1}.get(kind, 0) for _, kind, _ in told)
    printed["ringing"] = len(printed["ringing"])
    comparison.table(where, "app known", {(key,): Printed(printed[key]) for key in expected}, {(key,): value for key, value in expected.items()})


def day_and_night(printed, asked, oracle_, db, s, where, comparison):
    """The panel Day/night: the period of the chart that has samples, but two days at least."""
    believed = oracle_.believed(db, s)
    end = min(asked["period"][1], believed[-1].ms)
    begin = min(max(asked["period"][0], believed[0].ms), end - SHORTEST_MS)
    of = oracle_.latest[db, s]
    series = [one for one in believed if one.series == of and begin <= one.ms <= end]
    expected = {("from",): begin, ("to",): end + 1, **oracle.tokens_by_night(oracle_, db, s, of, series, end), **oracle.areas_by_night(series)}
    table = {("from",): Printed(printed["from"]), ("to",): Printed(printed["to"])}
    for side in "day", "night":
        table.update({("tokens", side, key): Printed(value) for key, value in printed[side].items()})
    table.update({(key,): Printed(printed[key]) for key in ("night - day", "plus minus") if key in printed})
    if "blocks" in printed:
        table["blocks",] = Printed(tuple(printed["blocks"]))
    for label, *shares in printed["areas"]:
        table.update({("area", "", label, part): Printed(share) for part, share in zip(("all", "day", "night"), shares)})
    if "brightness" in printed:
        table["darkest",], table["brightest",] = map(Printed, printed["brightness"])
        expected["darkest",], expected["brightest",] = oracle.range_of_brightness(series)
    where = f"{where} {asked['period']}"
    comparison.table(where, "app day and night", table, expected)
    least, most = (rules_of(oracle_, s, samples) for samples in (series, [one for one in oracle_.stored[db][s] if one.series == of]))
    comparison.compared += 1
    if not least <= set(printed["judged_by"]) <= most:  # a run may have lasted over this period without a sample in it
        comparison.fault(where, "app", ("rule of night",), f"judged by {printed['judged_by']}, expected {sorted(least)} of {sorted(most)}")


def rules_of(oracle_, s, samples):
    """The rules of night of the runs that recorded these samples, as the database has them."""
    place = oracle_.script["sources"][s]["place"]
    clock = lambda minutes: f"{minutes // 60:02d}:{minutes % 60:02d}"
    text = {"none": lambda rule: "", "sun": lambda rule: "the sun is below -6 degrees at {:g} north, {:g} east".format(*place),
            "brightness": lambda rule: f"the brightness is below {rule['night']}, until it is above {rule['day']}",
            "hours": lambda rule: f"the clock shows {clock(rule['from'])} to {clock(rule['to'])}"}
    runs = {one.run for one in samples}
    return {text[step["night"]["rule"]](step["night"]) for step in oracle_.script["steps"] if id(step) in runs}


def tell_events(printed, oracle_, db, s, where, comparison):
    expected = oracle_.events(db, s)
    if expected is None:
        return
    comparison.compared += len(expected)
    if text := events.difference(events.read(reversed(printed)), sorted(expected, key=lambda event: event[0])):
        comparison.fault(where, "app", ("events",), text)


def chart(printed, asked, oracle_, db, s, where, comparison):
    """Each value of a row is of the latest series that has it there."""
    (begin, end), width, zone = asked["span"], printed["width"], oracle.zone_of(oracle_.script["sources"][s])
    within = [one for one in oracle_.believed(db, s) if begin <= one.ms < end]
    times = [one.ms for one in oracle_.believed(db, s)]
    order = oracle_.by_latest_session(db, s)
    archive = not oracle_.script["sources"][s].get("camera")
    plain = archive and len({one.series for one in within}) == 1
    gaps = oracle.gaps_of_rows(within, width, zone) if plain else {}
    rows = {row["start"]: row for row in printed["rows"]}
    where = f"{where} {asked['span']} {asked['buckets']} buckets {asked['region']}"
    comparison.names(where, "app rows", rows, {oracle.start_of_row(one.ms, width, zone) for one in within})
    for start, row in rows.items():
        stop = oracle.end_of_row(start, width, zone)
        inside = [one for one in within if start <= one.ms < stop]
        expected = {("middle",): (max(start, begin, min(times)) + min(stop, end, max(times) + 1)) // 2}
        table = {("middle",): Printed(row["middle"]), ("gap_before",): Printed(row["gap_before"]), ("night",): Printed(row["night"])}
        latest = next((of for of in order if any(one.series == of for one in inside)), None)
        judged = [one.night for one in inside if one.series == latest and one.night is not None]
        expected["night",] = sum(judged) / len(judged) if judged else None
        expected["gap_before",] = gaps.get(start, row["gap_before"])
        for key, values in zip(asked["keys"], row["values"]):
            quantity, label = key.get("quantity"), key.get("class")
            found = (oracle.bucket([one for one in inside if one.series == of], quantity, label, asked["region"]) for of in order)
            value = next(filter(None, found), None) or {"samples": 0}
            unit = 2e-3 if quantity in oracle.TRUSTED else 0
            for column, number in zip(("samples", "mean", "min", "max"), values or [0]):
                table[quantity or label, column] = Printed(number, unit if column != "samples" else 0)
                expected[quantity or label, column] = value.get(column)
        comparison.table(f"{where} {pictures.iso(start)}", "app chart", table, expected)
    if archive:
        strips(printed["bands"], asked["span"], min(rows), oracle_, db, s, where, comparison)


def strips(bands, span, first_row, oracle_, db, s, where, comparison):
    """The outages and states below the chart."""
    believed = oracle_.believed(db, s)
    begin, end = max(span[0], believed[0].ms), min(span[1] - 1, believed[-1].ms)
    changes = [*bands.pop("outages", []), [None, ""]]
    moment = lambda start, stop: start if stop <= start + 1 else stop  # a strip is at least 1 ms wide
    shown = [(start, moment(start, stop), mouths.CAUSES.get(cause, cause)) for (start, cause), (stop, _) in zip(changes, changes[1:]) if cause]
    expected = [(start, moment(start, stop), cause) for start, stop, cause in oracle.outages(oracle_, db, s, begin, end)]
    comparison.table(where, "app strips", {("outages",): Printed(shown)}, {("outages",): expected})
    series = {one.series for one in oracle_.stored[db][s]}
    if len(series) == 1 and (states := oracle_.states(db, s)):
        name = f"light{s}"
        begin = max(begin, first_row)  # a strip has no state where the chart has no row
        counted = [(max(ms, begin), state) for ms, state in oracle.states_in(name, states, begin, end + 1)["states", name, "changes"]]
        shown = [(max(ms, begin), state or None) for ms, state in bands.get(name, [])]
        comparison.table(where, "app strips", {("states", name, "changes"): Printed(shown)}, {("states", name, "changes"): counted})


def sample(printed, expected, where, comparison):
    """A stored sample as the legend and the map of merged tokens show it."""
    table = {("time",): Printed(printed["time"])}
    table.update({("area", region, label, "all"): Printed(share) for region, areas in printed["areas"].items() for label, share in areas.items()})
    if expected is None:
        return comparison.table(where, "app", table, {("time",): 0})
    computed = {("time",): expected.ms}
    computed.update({("area", region, label, "all"): share for region, areas in expected.areas.items() for label, share in areas.items()})
    if "file" in printed:
        table["file",], table["token_counts",] = Printed(pathlib.Path(printed["file"]).name), Printed(printed["token_counts"])
        computed["file",], computed["token_counts",] = expected.name, [float(count) for count in expected.counts]
    comparison.table(where, "app", table, computed)


def last_text(text, oracle_, db, s, where, comparison):
    """The line that says when a database ends: its last sample, states and gaps."""
    report = oracle.report(oracle_, db, s, None)
    gaps = re.search(r"(\d+|no) gap", text)[1]
    state = re.search(r"(light\d+): (.*?)  ", text)
    table = {("gaps",): Printed(0 if gaps == "no" else int(gaps))}
    if state and oracle_.states(db, s):
        table["state now",] = Printed(None if state[2] == "not known" else f"{state[1]} {state[2]}")
    comparison.table(where, "app last sample", table, {key: report[key] for key in table})


def nearest(oracle_, db, s, moment):
    """The sample that is nearest to a moment; of pictures that were measured again that of the latest series."""
    near = [one for one in oracle_.stored[db][s] if abs(one.ms - moment) <= WITHIN_MS]
    if not near:
        return None
    ms = min((abs(one.ms - moment), one.ms) for one in near)[1]
    order = oracle_.by_latest_session(db, s)
    return min((one for one in near if one.ms == ms), key=lambda one: order.index(one.series))


def calendar(printed, asked, oracle_, db, s, where, comparison):
    """The days of a year: their colours, and of an archive the pictures that stand for them."""
    source, believed = oracle_.script["sources"][s], oracle_.believed(db, s)
    zone = oracle.zone_of(source)
    years = oracle.years(believed[0].ms, believed[-1].ms, zone)
    begin, end = next(span for year, *span in years if year == asked["year"])
    series = [one for one in oracle_.latest_series(db, s, oracle_.stored[db][s]) if begin <= one.ms < end]
    key, date_of = asked["keys"][0], lambda ms: str(world.local_time(ms, zone).date())
    where = f"{where} {asked['year']} {asked.get('states', key)} {asked['region']}"
    values = {date_of(start): value for start, value, _ in printed["days"] if value is not None}
    if "states" in asked:
        expected = oracle.shares(oracle_, db, s, oracle_.latest[db, s], asked["states"]["state"], begin, end)
    else:
        days = {date: [one for one in series if date_of(one.ms) == date] for date in {date_of(one.ms) for one in series}}
        found = {date: oracle.bucket(of_day, key.get("quantity"), key.get("class"), asked["region"]) for date, of_day in days.items()}
        expected = {date: value["mean"] for date, value in found.items() if value}
    unit = 2e-3 if key.get("quantity") in oracle.TRUSTED else 0
    table = {("years",): Printed(printed["years"]), **{("day", date): Printed(value, unit) for date, value in values.items()}}
    computed = {("years",): [year for year, _, _ in years], **{("day", date): value for date, value in expected.items()}}
    comparison.table(where, "app calendar", table, computed)
    if source.get("camera"):
        return
    names = {date: {source["pictures"][p]["name"] for p in of_day} for date, of_day in oracle.days_of_film(oracle_, db, s, "noon").items()}
    names = {str(date): of_day for date, of_day in names.items() if date.year == asked["year"]}
    shown = {date_of(start): pathlib.Path(file).name for start, _, file in printed["days"] if file}
    comparison.names(where, "app pictures of days", shown, names)
    for date in shown.keys() & names.keys():
        comparison.compared += 1
        if shown[date] not in names[date]:
            comparison.fault(where, "app", ("picture of a day",), f"{date} shows '{shown[date]}', expected " + " or ".join(sorted(names[date])))
