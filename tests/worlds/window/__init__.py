# SPDX-License-Identifier: Apache-2.0
"""Random walks through the app: a real MainWindow without a screen, held after each action against a model of what must be
on show (model.py), and after closing against what must be stored.

A seed makes a walk. What it finds depends on the speed of the machine, too: answers of threads come early or late.
"""
import collections
import json
import multiprocessing
import pathlib
import shutil
import tempfile

from . import judge, shrink
from .stage import Stage
from .walk import Player, random_steps

ACTIONS = 40
STATE = {}


def make_stage(build):
    room = "/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None
    folder = pathlib.Path(tempfile.mkdtemp(prefix="mpm-window-", dir=room))
    return Stage(build, folder / "stage"), folder


def prepare(build, stage, folder):
    STATE["player"] = Player(build, stage)
    STATE["folder"] = folder / f"walk{multiprocessing.current_process().pid}"
    multiprocessing.util.Finalize(None, STATE["player"].runner.stop, exitpriority=10)


def kept(path):
    return lambda _: json.loads(path.read_text())


def one(job):
    given, steps = job[0], random_steps(*job[1:]) if len(job) > 2 else kept(job[1])
    player = STATE["player"]
    player.reached = {}
    done, wrong = player.play(STATE["folder"], steps)
    return given, len(done), wrong and str(wrong), player.reached


def main(build, seeds, jobs=None, keep=None, scripts=(), shrinks=False, actions=ACTIONS):
    """Prints each failure with the command that repeats it, what was reached, and how many disagree. Returns that number."""
    stage, folder = make_stage(build)
    try:
        if keep or shrinks:
            return closely(build, stage, folder, seeds, keep, scripts, shrinks, actions)
        walks = [(f"--seeds {seed}", seed, actions) for seed in seeds] + [(f"--script {path}", path) for path in scripts]
        reached, disagree = collections.Counter(), 0
        with multiprocessing.Pool(jobs, prepare, (build, stage, folder)) as pool:
            for given, done, wrong, did in pool.imap_unordered(one, walks):
                reached.update(did)
                if wrong:
                    disagree += 1
                    print(f"{given}, action {done}: {wrong}; python3 tests/worlds/run.py --build {build} --window {given} --shrink", flush=True)
            pool.close()
            pool.join()
        done = {name for name, ok in reached if ok}
        print("reached: " + ", ".join(f"{name} {reached[name, True]} (of {reached[name, True] + reached[name, False]})" for name in sorted({name for name, _ in reached})))
        if len(seeds) >= 100:
            for name in sorted({name for name, _ in reached} - done):
                disagree += 1
                print(f"fault: '{name}' was never done")
        print(f"{len(walks)} walks, {disagree} disagree")
        return disagree
    finally:
        shutil.rmtree(folder)


def closely(build, stage, folder, seeds, keep, scripts, shrinks, actions):
    player, disagree = Player(build, stage), 0
    room = keep or folder / "walk"
    given = [(str(path), kept(path)) for path in scripts]
    for name, steps in [*((f"seed {seed}", random_steps(seed, actions)) for seed in seeds), *given]:
        done, wrong = player.play(room, steps)
        if not wrong:
            continue
        disagree += 1
        print(f"{name}, action {len(done)}: {wrong}")
        if shrinks:
            done, wrong = shrink.shrink(player, room, done, wrong)
            print(f"{len(done)} actions are left, for --script: {wrong}\n" + json.dumps(done))
    player.runner.stop()
    print(f"{len(seeds) + len(scripts)} walks, {disagree} disagree")
    return disagree
