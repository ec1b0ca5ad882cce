# SPDX-License-Identifier: Apache-2.0
"""Plays a world and compares all that is printed with what the oracle computes."""
import collections
import dataclasses
import json
import math
import pathlib
import random
import re
import shutil
import tempfile
import traceback

from . import events
from . import mouths
from . import oracle
from . import pictures
from . import play
from . import reached
from . import relations
from . import service
from . import shown
from . import world

# What each form of the report must print where the oracle has a value.
NOT_COMPUTED = ("blocks", "plus minus", "outages", "outages of", "gaps", "alarms", "state", "states", "state now")
IN_ONE_FORM = ("all", "sure, %", "%", "number of changes")  # of states: of the text
IN_JSON = lambda key: key[0] not in ("outages of", "darkest", "brightest", "bad", "gaps", "alarms", "state now", "last") and not (key[0] == "states" and key[2] in IN_ONE_FORM)
IN_BRIEF = lambda key: key[0] in ("samples", "last", "bad", "gaps", "alarms")
IN_OBJECT = lambda key: key[0] != "time local"  # messages for programs have UTC
TEXT_KEYS = {"outages of", "from", "to", "from local", "to local", "clock", "samples", "reduce", "comparable", "tokens", "samples of", "day samples of", "night samples of"}


def in_text(key):
    """Whether the report as text has this number wherever there is one."""
    if key[0] == "quality":
        return key[1] != "pictures"
    if key[0] == "area":
        return not key[1]
    return key[0] in TEXT_KEYS or key[0].rpartition(" ")[2] in ("mean", "min", "max") and key[2] in ("tokens", *oracle.COLOURS)


def differs(printed, expected):
    """Whether a printed value is another than the expected one, beyond the rounding of its last digit."""
    value = printed.value
    if isinstance(expected, bool) or isinstance(value, (bool, str, list, tuple)) or expected is None or value is None:
        if isinstance(value, str) and isinstance(expected, str):
            return value not in (expected, re.sub(r"\.\d{3}", "", expected))  # text has no milliseconds
        return value != expected
    if isinstance(expected, int) and isinstance(value, int):  # a count, or a time in milliseconds
        return value != expected
    if math.isnan(value):
        return True
    return abs(value - expected) > 0.5001 * printed.unit + 2e-6 * min(max(1, abs(expected)), 1000)  # of a time in seconds: milliseconds


@dataclasses.dataclass
class Fault:
    """One disagreement. `kind` is the same for disagreements that look alike, whatever their source, time and number."""
    where: str
    kind: tuple
    text: str

    def __str__(self):
        return f"{self.where}: {self.text}"


class Comparison:
    """Collects disagreements."""

    def __init__(self):
        self.faults, self.compared = [], 0

    def fault(self, where, form, key, text):
        self.faults.append(Fault(where, (form, *key[:2]), text))

    def table(self, where, form, printed, expected, must=lambda key: True):
        """Compares one table that the form `form` printed about `where`. Keys for which `must` holds are printed where they have a value."""
        where = f"{where} {form}"
        for key, value in printed.items():
            if key[0] in NOT_COMPUTED and key not in expected:
                continue
            self.compared += 1
            name = " ".join(str(part) for part in key)
            if key not in expected:
                # A class without a pixel, and a number that was never measured, may be left out or be none.
                if value.value not in (0, None):
                    self.fault(where, form, key, f"'{name}' is printed as {value.value}, expected nothing")
            elif differs(value, expected[key]):
                self.fault(where, form, key, f"'{name}' is printed as {value.value}, expected {expected[key]}")
        for key, value in expected.items():
            if key not in printed and must(key) and value not in (0, None):
                self.fault(where, form, key, f"'{' '.join(str(part) for part in key)}' is not printed, expected {value}")

    def names(self, where, form, printed, expected):
        """Compares what is listed."""
        self.table(where, form, {("listed", name): mouths.Printed(True) for name in printed}, {("listed", name): True for name in expected})

    def between(self, where, form, printed):
        """A total lies between its parts, whatever the oracle says."""
        comparable, counted = printed.get(("comparable", "samples")), printed.get(("samples of", ""))
        if not comparable or not counted or comparable.value != counted.value:
            return  # some samples are neither of the day nor of the night
        for key, whole in printed.items():
            if key[0] == "area" and key[3] == "all" and not key[1]:
                parts = [printed[(*key[:3], part)] for part in ("day", "night") if (*key[:3], part) in printed]
                parts = [part.value for part in parts if part.value is not None]
                slack = 1.01 * whole.unit + 1e-6
                if parts and not min(parts) - slack <= whole.value <= max(parts) + slack:
                    self.fault(f"{where} {form}", form, ("between", *key), f"area of {key[2]} {whole.value} does not lie between its parts {parts}")


def compare(player, oracle_, lines, comparison):
    """Asks all mouths about all databases. `lines`: what `mpm monitor` printed in each step."""
    script = player.script
    random_ = random.Random(script["seed"])
    for db, sources in oracle_.stored.items():
        names = player.names(sources)
        for name, s in names.items():
            exports(player, oracle_, db, name, s, comparison)
        for days in None, *script["ask"]["days"]:
            arguments = ["--days", days] if days else []
            printed = {"text": mouths.text_report(player.run("report", db, *arguments)),
                       "--json": mouths.json_report(player.run("report", db, "--json", *arguments))}
            if random_.random() < 0.5:
                printed["--brief"] = mouths.brief(player.run("report", db, "--brief", *arguments))
            where = " ".join(str(part) for part in ("report", db, *arguments))
            for form, tables in printed.items():
                comparison.names(where, form, tables, names)
            for name, s in names.items():
                expected = oracle.report(oracle_, db, s, days)
                for form, tables in printed.items():
                    must = {"--json": IN_JSON, "text": in_text, "--brief": IN_BRIEF}[form]
                    comparison.table(f"{where} {name}", form, tables.get(name, {}), expected, must)
                    comparison.between(f"{where} {name}", form, tables.get(name, {}))
            older_series(player, oracle_, db, names, days, comparison)
        # Another zone shifts times and cuts other days, and changes no mean.
        zone = random_.choice(world.ZONES)
        elsewhere = mouths.json_report(player.run("report", db, "--json", f"--time-zone={zone}"))
        for name, s in names.items():
            comparison.table(f"report {db} --time-zone={zone} {name}", "--json", elsewhere.get(name, {}), oracle.report(oracle_, db, s, None, zone=zone), IN_JSON)
        if player.app:
            shown.compare(player, oracle_, db, names, comparison, random.Random(f"{script['seed']} {db} app"))
        with play.Server(player, db) as server:
            serve(server, oracle_, db, names, comparison, random_)
            for name, s in names.items():
                watches = [said for step, said in zip(script["steps"], lines) if step["do"] == "watch" and step["source"] == s]
                told = None if None in watches else [line for said in watches for line in said if "event" in line]
                tell_events(server, oracle_, db, name, s, told, comparison, random_)
                tell_outages(server, player, oracle_, db, name, s, comparison, random_)


def older_series(player, oracle_, db, names, days, comparison):
    """The reports of series that are not the latest."""
    for name, s in names.items():
        for number, series in enumerate(oracle_.all_series(db, s), 1):
            if series == oracle_.latest[db, s]:
                continue
            arguments = ["--source", name, "--series", number, *(["--days", days] if days else [])]
            where = " ".join(str(part) for part in ("report", db, *arguments))
            expected = oracle.report(oracle_, db, s, days, series)
            tables = mouths.json_report(player.run("report", db, "--json", *arguments))
            comparison.table(where, "--series", tables.get(name, {}), expected, IN_JSON)
            tables = mouths.brief(player.run("report", db, "--brief", *arguments))
            comparison.table(where, "--series --brief", tables.get(name, {}), expected, IN_BRIEF)


EVER = {"from": "1980-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"}


def some_span(times, random_):
    """(begin, end, arguments of a request) of a span with one of these times of samples or more, which often begins or ends with one."""
    first, last = sorted(random_.choices(times, k=2))
    begin, end = first - random_.choice([0, 1, 1000, 1800000]), last + random_.choice([1, 60000, 5400000])
    return begin, end, {"from": pictures.iso(begin), "to": pictures.iso(end)}


def tell_events(server, oracle_, db, name, s, printed, comparison, random_):
    """The events of one source: as the page lists them, and as `mpm monitor` printed them."""
    expected = oracle_.events(db, s)
    if expected is None:
        return
    listed = json.loads(server.get("api/events", camera=name, **EVER))
    by_time = sorted(expected, key=lambda event: event[0])
    for form, lines, all_ in ("/api/events", listed, by_time), ("monitor --json", printed, expected):
        comparison.compared += len(expected)
        if lines is not None and (text := events.difference(events.read(lines), all_)):
            comparison.fault(f"{db} {name}", form, ("events",), text)
    begin, end, span = some_span([sample.ms for sample in oracle_.stored[db][s]], random_)
    listed = json.loads(server.get("api/events", camera=name, **span))
    if text := events.difference(events.read(listed), [event for event in by_time if begin <= event[0] < end]):
        comparison.fault(f"{db} {name} {span}", "/api/events", ("events",), text)


def tell_outages(server, player, oracle_, db, name, s, comparison, random_):
    """The outages of one source, as a table and of the page; the report has them, too."""
    expected = {("outages",): oracle.report(oracle_, db, s, None)["outages",]}
    player.run("report", db, "--export", "outages.csv", "--format", "outages", "--source", name)
    begin, end, span = some_span([sample.ms for sample in oracle_.stored[db][s]], random_)
    text = (player.folder / "outages.csv").read_text()
    comparison.table(f"{db} {name}", "--format outages", {("outages",): mouths.outages_csv(text)}, expected)
    local = lambda ms: world.local_time(ms, oracle.zone_of(oracle_.script["sources"][s])).isoformat(timespec="seconds")
    clocks = [(local(begin), local(end), f"{(end - begin) / 1000:.3f}") for begin, end, _ in expected["outages",]]
    comparison.table(f"{db} {name}", "--format outages", {("clocks",): mouths.outage_clocks(text)}, {("clocks",): clocks})
    if not oracle_.script["sources"][s].get("camera"):  # of one whose clock was wrong the page shows what is asked for
        listed = json.loads(server.get("api/outages", camera=name, **EVER))
        comparison.table(f"{db} {name}", "/api/outages", {("outages",): mouths.outages(listed)}, expected)
        believed = oracle_.believed(db, s)
        listed = json.loads(server.get("api/outages", camera=name, **span))
        comparison.table(f"{db} {name} {span}", "/api/outages", {("outages",): mouths.outages(listed)},
                         {("outages",): oracle.outages(oracle_, db, s, max(begin, believed[0].ms), min(end - 1, believed[-1].ms))})


def compare_judged(player, oracle_, comparison, rule):
    """Judges everything by another rule, as if it had held from the first sample on, and asks for the reports."""
    judged = oracle.judged(oracle_, rule)
    for db, sources in oracle_.stored.items():
        names = player.names(sources)
        for s in sources:
            player.judge(db, s, rule)
        for days in None, *player.script["ask"]["days"]:
            arguments = ["--days", days] if days else []
            as_json = mouths.json_report(player.run("report", db, "--json", *arguments))
            for name, s in names.items():
                comparison.table(" ".join(str(part) for part in ("judged: report", db, *arguments, name)), "--json", as_json.get(name, {}),
                                 oracle.report(judged, db, s, days), IN_JSON)


def exports(player, oracle_, db, name, s, comparison):
    """The exports of one source, a row per sample."""
    samples = oracle_.latest_series(db, s, oracle_.stored[db][s])
    regions = {region for sample in samples for region in sample.values if region}
    older = {}  # series that are not the latest. All are read first, because states and what is stuck go on from one series to another
    for number, series in enumerate(oracle_.all_series(db, s), 1):
        if series != oracle_.latest[db, s]:
            player.run("report", db, "--export", "rows.jsonl", "--format", "jsonl", "--source", name, "--series", number)
            older[number] = series, mouths.jsonl((player.folder / "rows.jsonl").read_text())
            oracle_.trust(db, s, older[number][1], series)
    player.run("report", db, "--export", "rows.csv", "--source", name)
    player.run("report", db, "--export", "rows.jsonl", "--format", "jsonl", "--source", name)
    printed = {"CSV": mouths.csv_rows((player.folder / "rows.csv").read_text(), regions), "JSON lines": mouths.jsonl((player.folder / "rows.jsonl").read_text())}
    oracle_.trust(db, s, printed["CSV"])
    if player.script["sources"][s]["place"] and regions:
        phenocam(player, oracle_, db, name, s, comparison)
    tables = [(f"{db} {name}", form, table, None) for form, table in printed.items()]
    tables += [(f"{db} {name} {number}", "--series", table, series) for number, (series, table) in older.items()]
    for where, form, table, series in tables:
        expected = oracle.rows(oracle_, db, s, series)
        comparison.names(where, form, table, expected)
        for key in table.keys() & expected.keys():
            comparison.table(f"{where} {pictures.iso(key[0])} {key[1]}", form, table[key], expected[key], *[IN_OBJECT] * (form != "CSV"))


def film(player, oracle_, db, name, s, moment, comparison):
    """The film of one archive: how many pictures it has, and which."""
    source = player.script["sources"][s]
    if source.get("camera") or moment.startswith("sun") and not source["place"]:
        return False
    expected = oracle.film(oracle_, db, s, moment)
    if not expected:
        return False
    path = player.folder / "film.mp4"
    renamed = player.path_of(source, source["pictures"][expected[-1][0]])  # it is found by its content
    renamed.rename(renamed.with_name(f"renamed{renamed.suffix}"))
    player.run("report", db, "--source", name, "--film", path.name, "--film-at", moment)
    frames = list(player.frames(path))
    where = f"report {db} --source {name} --film-at {moment}"
    comparison.table(where, "film", {("frames",): mouths.Printed(len(frames))}, {("frames",): len(expected)})
    own = {p: pixels for (of, p), pixels in player.pixels.items() if of == s}
    for number, (frame, day) in enumerate(zip(frames, expected)):
        away = {p: float(((frame.astype(float) - pixels) ** 2).mean()) for p, pixels in own.items() if pixels.shape == frame.shape}
        nearest = min(away, key=away.get)
        comparison.compared += 1
        # A film loses detail: pictures that are all of one grey look alike.
        if away and min(away[p] for p in day) > 1.1 * away[nearest] + 25:
            comparison.fault(where, "film", ("frame",), f"frame {number} shows '{source['pictures'][nearest]['name']}', expected "
                             + " or ".join(source["pictures"][p]["name"] for p in day))
    return True


def phenocam(player, oracle_, db, name, s, comparison):
    """PhenoCam's files of one source."""
    out = player.folder / "phenocam" / db / str(s)
    latitude, longitude = player.script["sources"][s]["place"]
    place = [f"--lat={latitude}", f"--lon={longitude}"] if player.script["seed"] % 2 else []  # else it is that of `mpm monitor`
    player.run("report", db, "--format", "phenocam", "--export", out, "--site", "site", "--source", name, *place)
    drawn = next(step["regions"] for step in player.script["steps"] if step["do"] == "watch" and step["source"] == s)
    codes = oracle.codes({region["name"] for region in player.script["regions"][drawn] if not region.get("ignore")})
    files = {f"site_{code}_{kind}.csv": (region, kind) for region, code in codes.items() for kind in ("roistats", "1day", "3day")}
    comparison.names(f"{db} {name}", "phenocam", {path.name for path in out.iterdir()}, files)
    offset = world.standard_offset_minutes(player.script["sources"][s]["zone"], 2021) / 60
    for file, (region, kind) in files.items():
        header, printed = mouths.phenocam((out / file).read_text(), kind)
        said = {"Site": "site", "Veg Type": codes[region].partition("_")[0], "ROI ID Number": codes[region].partition("_")[2], "Region": region,
                "Lat": f"{latitude:g}", "Lon": f"{longitude:g}", "UTC Offset": f"{offset:g}"}
        comparison.table(f"{db} {name} {file}", kind, {("header", key): mouths.Printed(header.get(key)) for key in said},
                         {("header", key): value for key, value in said.items()})
        if expected := oracle.phenocam(oracle_, db, s, region):
            expected = {key: table for key, table in expected.items() if key[0] == kind}
            comparison.names(f"{db} {name} {region}", kind, printed, expected)
            for key in printed.keys() & expected.keys():
                same = {column: value for column, value in printed[key].items() if column in expected[key]}
                comparison.table(f"{db} {name} {region} {key}", kind, same, expected[key])


def serve(server, oracle_, db, names, comparison, random_):
    """/api/cameras, /api/series and /metrics of one database."""
    cameras = {camera["name"]: camera for camera in json.loads(server.get("api/cameras"))["cameras"]}
    metrics = mouths.metrics(server.get("metrics"))
    comparison.names(db, "/api/cameras", cameras, names)
    for name in names.keys() & cameras.keys():
        s, camera = names[name], cameras[name]
        samples = oracle_.stored[db][s]
        times = [sample.ms for sample in samples]
        where = f"{db} {name}"
        for number, series in enumerate(oracle_.all_series(db, s), 1):
            ask_shares(server, oracle_, db, name, s, (number, series), where, comparison, random_)
        if oracle_.script["sources"][s].get("camera"):
            continue  # its state depends on the time of day at which the test runs, and its last sample on which clock is believed
        series = oracle_.latest_series(db, s, samples)
        latest = max(sample.ms for sample in series)
        comparison.table(where, "/api/cameras", {(key,): mouths.Printed(camera[key]) for key in ("first_ms", "last_ms", "known_until_ms", "samples", "state")},
                         {("first_ms",): min(times), ("last_ms",): latest, ("known_until_ms",): max(times) + 1, ("samples",): len(series), ("state",): "archive"})
        zone = oracle.zone_of(oracle_.script["sources"][s])
        offset = lambda ms: next((shift for begin, shift in reversed(camera["clock"]["offsets"]) if begin <= ms), None)
        comparison.table(where, "/api/cameras", {("offset", ms): mouths.Printed(offset(ms)) for ms in times},
                         {("offset", ms): world.local_time(ms, zone).utcoffset().total_seconds() * 1000 for ms in times})
        comparison.table(where, "/api/cameras", {(year["year"], end): mouths.Printed(year[end]) for year in camera["years"] for end in ("from_ms", "to_ms")},
                         {(year, end): ms for year, *span in oracle.years(min(times), max(times), zone)
                          for end, ms in zip(("from_ms", "to_ms"), span)})
        (ms, picture), last = mouths.sample_object(camera["sample"])
        rows = oracle.rows(oracle_, db, s)
        if ms != latest or (ms, picture) not in rows:
            comparison.fault(where, "/api/cameras", ("last",), f"the last sample is {pictures.iso(ms)} {picture}, expected {pictures.iso(latest)}")
        else:
            comparison.table(where, "/api/cameras", last, rows[ms, picture], IN_OBJECT)
            comparison.table(where, "/metrics", metrics.get(name, {}), {**rows[ms, picture], ("stored",): len(series), ("last",): latest / 1000},
                             lambda key: key[0] in ("stored", "last", "area") or key[0] == "value" and key[2] == "tokens" or key[0] == "state" and key[2] == "counted")
        if states := oracle_.states(db, s):
            for begin, end, span in (0, 1 << 43, EVER), some_span([sample.ms for sample in series], random_):
                answer = json.loads(server.get("api/states", camera=name, **span))
                printed = {key: value for one in answer for key, value in mouths.states_values(one["name"], one["samples"], one["changes"]).items()}
                comparison.table(f"{where} {span}", "/api/states", printed, oracle.states_in(f"light{s}", states, begin, end))
        for _ in range(4):
            ask_series(server, series, camera, zone, times, where, comparison, random_)


def ask_series(server, series, camera, zone, times, where, comparison, random_):
    """One request of /api/series and of /api/calendar.svg, of days of UTC as a whole, or from any moment to any other of at most ten days."""
    region = random_.choice([""] + sorted({region for sample in series for region in sample.values if region}))
    label = random_.choice(camera["classes"]) if random_.random() < 0.4 else None
    quantity = random_.choice(["tokens", *oracle.COLOURS]) if region or random_.random() < 0.7 else random_.choice(sorted(oracle.QUANTITIES))
    first, last = sorted(random_.choices(times, k=2))
    begin, end = first // oracle.DAY_MS * oracle.DAY_MS, (last // oracle.DAY_MS + 1) * oracle.DAY_MS
    if last - first < 9 * oracle.DAY_MS and random_.random() < 0.6:
        begin, end = first - random_.choice([0, 1, 1000, 1800000]), last + random_.choice([0, 1, 60000, 5400000])
        if begin >= end:
            return
    elif random_.random() < 0.5:
        end += 12 * oracle.DAY_MS  # so that rows are days
    arguments = {"camera": camera["name"], "from": pictures.iso(begin), "to": pictures.iso(end), **({"class": label} if label else {"quantity": quantity}),
                 **({"region": region} if region else {})}
    text = server.get("api/series", **arguments)
    width, everything, buckets = mouths.series(text)
    where += " ".join(f" {key}={value}" for key, value in arguments.items() if key != "camera")
    within = [sample for sample in series if begin <= sample.ms < end]
    expected = oracle.bucket(within, quantity, label, region)
    rows = [("all", everything, expected)]
    gaps = oracle.gaps_of_rows(within, width, zone)
    for row in buckets:
        start = row["start_ms"].value
        inside = [sample for sample in within if start <= sample.ms < oracle.end_of_row(start, width, zone)]
        value = oracle.bucket(inside, quantity, label, region)
        end_of = oracle.end_of_row(start, width, zone)
        middle = (max(start, begin, min(times)) + min(end_of, end, max(times) + 1)) // 2
        rows.append((pictures.iso(start), row, value and {**value, "gap_before": gaps.get(start), "middle_ms": middle}))
    rounded = lambda cell: dataclasses.replace(cell, unit=max(cell.unit, 2e-3)) if quantity in oracle.TRUSTED and cell.unit else cell
    for name, row, value in rows:
        value = {("bucket", column): number for column, number in (value or {"samples": 0}).items()}
        printed = {("bucket", column): number for column, number in (row or {}).items()}
        comparison.table(f"{where} {name}", "/api/series", {key: rounded(printed[key]) for key in printed.keys() & value.keys()}, value)
    comparison.table(where, "/api/series", {("knows night",): mouths.Printed(json.loads(text)["knows_night"])},
                     {("knows night",): any(row["day"].value is not None or row["night"].value is not None for row in buckets)})
    days = collections.defaultdict(list)
    for sample in within:
        days[str(world.local_time(sample.ms, zone).date())].append(sample)
    calendar = mouths.calendar(server.get("api/calendar.svg", **arguments)) if end - begin <= 400 * oracle.DAY_MS else None
    for date in sorted(days.keys() | calendar.keys()) if calendar is not None else []:
        value = oracle.bucket(days[date], quantity, label, region)
        comparison.table(f"{where} {date}", "/api/calendar.svg", {("day", "mean"): rounded(calendar[date])} if date in calendar else {},
                         {("day", "mean"): value["mean"]} if value else {})
    counted = sum(row["samples"].value for row in buckets)
    if counted != (expected or {"samples": 0})["samples"]:
        comparison.fault(where, "/api/series", ("bucket", "sum"), f"rows have {counted} samples, expected {expected and expected['samples']}")
    ask_drawing(server, arguments, buckets, where, comparison)


def ask_shares(server, oracle_, db, name, s, numbered, where, comparison, random_):
    """/api/calendar.svg of the states of a series, given with its number."""
    number, of = numbered
    states = oracle_.states(db, s, of)
    begin, end, span = some_span([ms for ms, _, _ in states], random_) if states else (0, math.inf, {})
    for state in sorted({state for _, state, _ in states if state}) if end - begin <= 400 * oracle.DAY_MS else []:
        printed = mouths.calendar(server.get("api/calendar.svg", camera=name, series=number, states=f"light{s}", state=state, **span))
        expected = oracle.shares(oracle_, db, s, of, state, begin, end)
        comparison.table(f"{where} {span} {state} of series {number}", "/api/calendar.svg", {("share", date): share for date, share in printed.items()},
                         {("share", date): share for date, share in expected.items()})


def ask_drawing(server, arguments, rows, where, comparison):
    """/api/chart.svg shows each value of the rows, and nothing else."""
    area, ticks, points = mouths.drawing(server.get("api/chart.svg", **arguments))
    values = []
    for row in rows:
        sides = [side for side in ("day", "night") if row[side].value is not None]  # a row that has neither is of a time without a rule
        values += [(row["middle_ms"].value, row[side].value) for side in sides or ["mean"] if row[side].value is not None]
    if len(points) != len(values):
        comparison.fault(where, "/api/chart.svg", ("drawing", "points"), f"{len(points)} points are drawn of {len(values)} values")
    if not values:
        return
    (low, low_y), (high, high_y) = min(ticks.items()), max(ticks.items())
    for middle, value in values:
        x = area["left"] + (middle - area["from"]) / (area["to"] - area["from"]) * (area["right"] - area["left"])
        y = low_y + (value - low) / (high - low) * (high_y - low_y)
        if not (area["left"] - 1 <= x <= area["right"] + 1 and area["top"] - 1 <= y <= area["bottom"] + 1):
            comparison.fault(where, "/api/chart.svg", ("drawing", "plot"), f"{value} of {pictures.iso(middle)} is not inside the plot")
        elif not any(abs(x - at) < 0.3 and abs(y - height) < 1.6 for at, height in points):
            comparison.fault(where, "/api/chart.svg", ("drawing", "point"), f"{value} of {pictures.iso(middle)} has no point at {x:.1f}, {y:.1f}")


def judge(script, build, keep=None):
    """Plays a world. Returns (faults, command lines, what was reached, how many values were compared)."""
    folder = pathlib.Path(keep or tempfile.mkdtemp(prefix="world")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    comparison = Comparison()
    script = play.playable(script)
    player = play.Player(build, folder, script)
    if not player.app:
        script = player.script = play.without_app(script)
    seen = reached.of_script(script)
    try:
        player.draw()
        lines = player.play()
        shown.stored_of_folders(player, comparison)
        oracle_ = oracle.Oracle(script, player.pixels, player.labels(), lines)
        compare(player, oracle_, lines, comparison)
        seen |= {"asked the app"} if player.app else set()
        relations.merged_alone(script, player, comparison)
        seen |= reached.of_oracle(oracle_)
        if relation := script["relation"]:
            if relations.check(relation, script, player, build, comparison):
                seen.add(f"relation: {relation}")
        if moment := script["ask"].get("film"):
            films = [film(player, oracle_, db, name, s, moment, comparison) for db, sources in oracle_.stored.items() for name, s in player.names(sources).items()]
            seen |= {"film"} if any(films) else set()
        if script["scene"]:
            seen |= {"samples deleted"} if relations.forgotten(script, player, comparison) else set()
            seen |= service.check(script, player, comparison)
        if rule := script["ask"].get("rule"):
            compare_judged(player, oracle_, comparison, rule)
    except play.Failed as error:
        comparison.fault("play", "play", error.kind, str(error))
    except Exception as error:  # what is printed cannot even be read
        comparison.fault("read", "read", (type(error).__name__,), "".join(traceback.format_exception(error)[-3:]))
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    return comparison.faults, player.lines, seen, comparison.compared
