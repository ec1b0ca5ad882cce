# SPDX-License-Identifier: Apache-2.0
"""Worlds of cameras and archives: the programs run in them, and each printed number is computed a second time."""
import collections
import functools
import json
import multiprocessing
import time

from . import app
from . import judge
from . import play
from . import reached
from . import shrink
from . import world


def played(script, build, keep=None):
    started = time.time()
    return (script, *judge.judge(script, build, keep), time.time() - started)


def tell(script, faults, lines):
    """Prints all that is known about one world."""
    print("\n".join(lines))
    print("\n".join(f"* {fault}" for fault in faults))


def shrunk(script, kind, build):
    """The smallest world with a fault of this kind, and its faults and command lines."""
    def fails(candidate):
        return any(fault.kind == kind for fault in judge.judge(candidate, build)[0])

    script = shrink.shrink(script, fails)
    return (script, *judge.judge(script, build)[:2])


def main(build, seeds, jobs, keep=None, scripts=(), print_scripts=False, shrink_faults=False):
    """Plays the worlds of some seeds and files. Returns whether any disagrees or too little was reached."""
    worlds = [world.make(seed) for seed in seeds] + [json.loads(path.read_text()) for path in scripts]
    given = [f"--seeds {seed}" for seed in seeds] + [f"--script {path}" for path in scripts]
    if print_scripts:
        for script in worlds:
            print(json.dumps(script, indent=1))
        return False
    counts, slowest, compared, disagree = collections.Counter(), 0, 0, 0
    job = functools.partial(played, build=build, keep=keep)
    with multiprocessing.Pool(jobs) as pool:
        for number, (script, faults, lines, seen, count, seconds) in enumerate(pool.imap(job, worlds)):
            counts.update(seen if number < len(seeds) else ())
            slowest, compared = max(slowest, seconds), compared + count
            if not faults:
                continue
            disagree += 1
            print(f"{given[number]}: {faults[0]} ({len(faults)} in all): python3 tests/worlds/run.py --build {build} {given[number]}", flush=True)
            if shrink_faults:
                script, faults, lines = shrunk(script, faults[0].kind, build)
                print(json.dumps(script))
            if shrink_faults or len(worlds) == 1:
                tell(script, faults, lines)
    if cameras := sum(play.playable(script) is not script for script in worlds):
        print(f"{cameras} worlds were played without their camera, because its clock needs libfaketime (Debian: faketime)")
    if not app.program(build):
        print("the app was not asked, and measured nothing: it was not built (MPM_WITH_QT)")
    missing = reached.missing(counts, len(seeds), bool(play.faketime()), bool(app.program(build)))
    print("reached: " + ", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
    for line in missing:
        print(line)
    print(f"{compared} values compared; the slowest world took {slowest:.1f} s")
    print(f"{len(worlds)} worlds, {disagree} disagree")
    return bool(disagree or missing)
