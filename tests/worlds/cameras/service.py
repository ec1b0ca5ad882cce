# SPDX-License-Identifier: Apache-2.0
"""A service that watches the built-in scene by a watch file, is told by SIGHUP that the file has changed, and speaks to a broker.

What it prints of each sample is taken as it is; night, alarms, summaries and what the broker gets are computed from that.
"""
import collections
import contextlib
import datetime
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import time
import zoneinfo

from . import events
from . import mouths
from . import oracle
from . import play

STEP_S = 5400
RULES = [(21 * 60, 6 * 60), (18 * 60, 8 * 60 + 30), (0, 4 * 60), (23 * 60 + 30, 12 * 60)]
CLASSES = [f"class_{number}" for number in range(4)]  # of the model; a sample names those that it has


def watch_file(path, script, rule, hour, alarms, port):
    width, height = script["size"]
    clock = "-".join(f"{minutes // 60:02d}:{minutes % 60:02d}" for minutes in rule)
    table = {"name": "scene", "source": f"demo:street?seed=3&frames=20&start={script['scene']}&step={STEP_S}&size={height}x{width}", "db": "service.db",
             "model": str(play.DATA / play.MODELS["mask"]), "every": 0, "threads": 1, "summary": hour, "night-hours": clock, "alarm": alarms,
             "alarm-minutes": 1, "regions": "regions0.json" if script["regions"] else "none"}
    text = "[[camera]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())
    if port:
        text += f'[mqtt]\naddress = "127.0.0.1:{port}"\nevery = 0.001\n'
    path.write_text(text)


@contextlib.contextmanager
def broker(folder):
    """The port of a broker and the list of what it was sent, [topic, message]; none where there is no mosquitto."""
    search = os.environ["PATH"] + os.pathsep + "/usr/sbin"
    programs = [shutil.which(name, path=search) for name in ("mosquitto", "mosquitto_sub")]
    if None in programs:
        yield None, None
        return
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = one.getsockname()[1]
    (folder / "broker.conf").write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\n")
    with subprocess.Popen([programs[0], "-c", folder / "broker.conf"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            wait(lambda: answers(port))
            with (folder / "told").open("w") as told, subprocess.Popen([programs[1], "-p", str(port), "-t", "mpm/#", "-t", "up", "-F", "%t %p"], stdout=told) as listener:
                sent = lambda: [line.split(" ", 1) for line in (folder / "told").read_text().splitlines()]
                up = [programs[1].replace("_sub", "_pub"), "-p", str(port), "-t", "up", "-r", "-m", "yes"]
                wait(lambda: subprocess.run(up).returncode == 0 and ["up", "yes"] in sent())
                try:
                    yield port, sent
                finally:
                    listener.terminate()
        finally:
            server.terminate()


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def wait(done, patience_s=60):
    end = time.monotonic() + patience_s
    while not done():
        if time.monotonic() > end:
            raise play.Failed("the service", "wait", "waited in vain")
        time.sleep(0.05)


def run(player, path, change_after=None, change=None):
    """The lines that one run prints. After so many samples `change` is called, and the program is told by SIGHUP."""
    command = [str(player.mpm), "monitor", "--watch", path.name, "--json"]
    player.lines.append(" ".join(["mpm", *command[1:]]) + (f"    # SIGHUP after {change_after} samples" if change else ""))
    lines = []
    with (player.folder / "service.log").open("w") as log, subprocess.Popen(command, cwd=player.folder, env=player.environment, stdout=subprocess.PIPE, stderr=log) as process:
        for line in process.stdout:
            lines.append(json.loads(line))
            if change and sum("unix_ms" in one for one in lines) >= change_after:
                change()
                process.send_signal(signal.SIGHUP)
                change = None
    if process.returncode:
        raise play.Failed(player.lines[-1], "monitor", f"status {process.returncode}: {(player.folder / 'service.log').read_text()[-600:]}")
    return lines


def sample_of(line):
    """A sample as it was printed."""
    flags = [flag for flag, name in oracle.FLAGS.items() if line[name]]
    result = oracle.Sample(line["unix_ms"], "", 0, 0, (), line["token_counts"], CLASSES, line["night"],
                           None if line["flagged"] is None else flags[0] if flags else 0)
    result.night_then = result.night
    measured = {region: values for region, values in line["regions"].items() if values}  # none of one without a pixel
    for region, values in ("", line), *measured.items():
        result.values[region] = {key: value for key, value in values.items() if key in oracle.QUANTITIES}
        result.areas[region] = collections.defaultdict(float, values["area_fraction"])
    return result


def is_night(sample, rule, zone):
    clock = datetime.datetime.fromtimestamp(sample.ms / 1000, zone)
    minute, (start, end) = clock.hour * 60 + clock.minute, rule
    return start <= minute < end if start <= end else minute >= start or minute < end


def nights(samples, before, after, zone):
    """Whether the nights of all samples are by the rule `before`, from some sample on by `after`."""
    by = [[sample.night == is_night(sample, rule, zone) for sample in samples] for rule in (before, after)]
    return any(all(by[0][:k]) and all(by[1][k:]) for k in range(len(samples) + 1))


def date_of(ms, zone, days=0):
    return datetime.datetime.fromtimestamp(ms / 1000, zone).date() + datetime.timedelta(days)


def last_due(ms, hour, zone):
    """The last day whose summary is due at a time."""
    return date_of(ms, zone, -1 if datetime.datetime.fromtimestamp(ms / 1000, zone).hour >= hour else -2)


def summary_of(samples, alarms):
    """The numbers of a summary of one day (docs/tell.md, "A summary each day")."""
    table = {("samples",): len(samples), ("gaps",): 0, ("gap_minutes",): 0, ("alarms",): alarms}
    for part, night in ("day", False), ("night", True):
        of = [sample for sample in samples if sample.night == night]
        for region in {region for sample in of for region in sample.values}:
            for quantity in oracle.QUANTITIES:
                all_ = quantity in oracle.OF_ALL_PICTURES and not region
                values = [sample.values[region][quantity] for sample in of if (all_ or sample.counted) and sample.values.get(region, {}).get(quantity) is not None]
                if values:
                    table[part, region, quantity] = sum(values) / len(values)
            good = [sample for sample in of if sample.counted and region in sample.areas]
            for name in {name for sample in good for name in sample.areas[region]}:
                table[part, region, "area", name] = sum(sample.areas[region][name] for sample in good) / len(good)
    return table


def printed_summary(facts):
    """{key: Printed} of such numbers as they were printed."""
    table = {(key,): mouths.Printed(facts[key]) for key in ("samples", "gaps", "gap_minutes", "alarms")}
    for part in "day", "night":
        for region, values in ("", facts[part]), *facts[part].get("regions", {}).items():
            for key, value in values.items():
                if key == "area_fraction":
                    table.update({(part, region, "area", name): mouths.Printed(share, 1e-4) for name, share in value.items()})
                elif key != "regions":
                    table[part, region, key] = mouths.Printed(value, 2 * mouths.unit_of(key))  # of values that are rounded themselves
    return table


def check_summaries(lines, samples, alarms, hour, zone, comparison):
    told = [line["summary"] for line in lines if line.get("event") == "summary"]
    first, last = date_of(samples[0].ms, zone), last_due(samples[-1].ms, hour, zone)
    due = [str(first + datetime.timedelta(days)) for days in range((last - first).days + 1)]
    comparison.compared += 1
    if [facts["date"] for facts in told] != due:
        comparison.fault("service", "summary", ("dates",), f"summaries are of {[facts['date'] for facts in told]}, expected {due}")
    for facts in told:
        day = [sample for sample in samples if str(date_of(sample.ms, zone)) == facts["date"]]
        expected = summary_of(day, sum(str(date_of(ms, zone)) == facts["date"] for ms in alarms))
        comparison.table(f"service, summary of {facts['date']}", "summary", printed_summary(facts), expected,
                         lambda key: "area" not in key or expected[key] > 2e-2)
    return bool(told)


def check_broker(sent, lines, rings, comparison):
    """The broker has the last sample and which alarms ring, and got each event once."""
    topics = {topic.rpartition("/")[2]: message for topic, message in sent if "/scene/" in topic}
    last = [line for line in lines if "unix_ms" in line][-1]
    state = {key: value for key, value in json.loads(topics["state"]).items() if key != "id"}
    comparison.compared += 3
    if state != {key: value for key, value in last.items() if key != "camera"}:
        comparison.fault("service", "MQTT", ("state",), f"the state is {str(state)[:200]}, printed was {str(last)[:200]}")
    if json.loads(topics["alarms"]) != rings:
        comparison.fault("service", "MQTT", ("alarms",), f"alarms are {topics['alarms']}, expected {rings}")
    of = lambda line: (line["time"], line["event"], line["message"])
    got = collections.Counter(of(json.loads(message)) for topic, message in sent if topic.endswith("/scene/event"))
    printed = collections.Counter(of(line) for line in lines if "event" in line)
    if got != printed:
        comparison.fault("service", "MQTT", ("events",), f"only sent {list((got - printed))[:3]}, only printed {list((printed - got))[:3]}")


def check(script, player, comparison):
    """Plays the service. Returns what was reached."""
    random_ = random.Random(f"{script['seed']} service")
    zone, hour, path = zoneinfo.ZoneInfo(script["machine_zone"]), random_.randrange(24), player.folder / "service.toml"
    before, after = random_.sample(RULES, 2)
    alarms = random_.sample(["brightness>60", "class_0>1", "class_3<50", "gcc>0.34", "tokens>20"], 2)
    with broker(player.folder) as (port, sent):
        watch_file(path, script, before, hour, alarms, port)
        lines = run(player, path)
        lines += run(player, path, random_.randrange(1, 12), lambda: watch_file(path, script, after, hour, alarms, port))
        lines += run(player, path)
        samples = [sample_of(line) for line in lines if "unix_ms" in line]
        expected = events.expected(samples, {"alarms": alarms, "alarm_minutes": 1, "bad_in_a_row": 2})
        printed = [line for line in lines if line.get("event") in ("alarm", "alarm ended")]
        comparison.compared += len(expected)
        own = lambda all_: [event for event in all_ if event[1] in ("alarm", "alarm ended")]
        if text := events.difference(events.read(printed), own(expected)):
            comparison.fault("service", "monitor --json", ("events",), text)
        steps = {after_.ms - before_.ms for before_, after_ in zip(samples, samples[1:])}
        if steps != {STEP_S * 1000}:
            comparison.fault("service", "monitor --json", ("steps",), f"samples are {sorted(steps)} ms apart")
        if not nights(samples, before, after, zone):
            comparison.fault("service", "monitor --json", ("night",), f"night is neither by {before} nor from some sample on by {after}")
        rang = [time_ms for time_ms, kind, _ in own(expected) if kind == "alarm"]
        reached = {"service"} | ({"summary"} if check_summaries(lines, samples, rang, hour, zone, comparison) else set())
        if sent:
            rings = {alarm: sum(kind == "alarm" for _, kind, _ in of) > sum(kind == "alarm ended" for _, kind, _ in of)
                     for alarm in alarms for of in [own(events.expected(samples, {"alarms": [alarm], "alarm_minutes": 1, "bad_in_a_row": 2}))]}
            check_broker(sent(), lines, rings, comparison)
            reached.add("broker")
    return reached
