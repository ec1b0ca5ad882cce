#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws pictures of a fixed camera whose truth is known: JPEG files with their time (UTC) in the name, and truth.csv.

    field.py SCENE FOLDER --start TIME --every MINUTES --pictures N [--label N] [--seed N] [--mpm PROGRAM]
    field.py SCENE FOLDER --at TIME TIME ... [--label N] ...
    field.py SCENE FOLDER --masks

SCENE is bay (of the built-in street, drawn by `mpm run`), sky, slope, gauge or gate. --label writes what a person would: of
bay, gauge and gate the list FOLDER/examples.csv for `mpm teach --states`, with at most N pictures of each state; of sky and slope FOLDER/labels
and FOLDER/classes.json for `mpm teach`, with the label maps of at most N pictures. --masks writes the masks of the regions of sky and slope.
"""
import argparse
import collections
import datetime
import importlib
import json
import pathlib
import sys

import cv2


def seconds(text):
    try:
        return int(datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.timezone.utc).timestamp())
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{text}' is no time; write it as 2026-03-01T00:00") from error


def main():
    parser = argparse.ArgumentParser(description="Draws pictures of a fixed camera whose truth is known.")
    parser.add_argument("scene", choices=["bay", "sky", "slope", "gauge", "gate"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--start", type=seconds, metavar="TIME", help="of the first picture, UTC: 2026-03-01T00:00")
    parser.add_argument("--every", type=float, default=60, metavar="MINUTES")
    parser.add_argument("--pictures", type=int, default=24, metavar="N")
    parser.add_argument("--at", type=seconds, nargs="+", metavar="TIME", help="these moments, in place of --start and --every")
    parser.add_argument("--label", type=int, metavar="N", help="label so many pictures, of each state or in all")
    parser.add_argument("--masks", action="store_true", help="write the masks of the regions, and no picture")
    parser.add_argument("--seed", type=int, default=7, help="another camera's weather, water, gate and so on")
    parser.add_argument("--mpm", default="mpm", help="the program")
    options = parser.parse_args()
    scene = importlib.import_module(options.scene)
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.masks:
        if not hasattr(scene, "masks"):
            parser.error(f"the region of {options.scene} is no mask; draw it as in docs/examples.md")
        for name, mask in scene.masks():
            cv2.imwrite(str(options.folder / f"{name}.png"), mask.astype("uint8") * 255)
        return
    if not options.at and options.start is None:
        parser.error("name the first picture with --start, or all of them with --at")
    if options.scene == "bay" and options.at:
        parser.error("bay takes --start, --every and --pictures")
    times = options.at or [options.start + round(60 * options.every * i) for i in range(options.pictures)]
    draw(scene, times, options)
    print(f"{len(times)} pictures in {options.folder}/")


def draw(scene, times, options):
    """Writes all pictures, the truth, and the labels that were asked for."""
    classes = getattr(scene, "CLASSES", None)
    labelled = collections.Counter()
    truths, examples = [], []
    if hasattr(scene, "film"):
        pictures = ((*one, None) for one in scene.film(options.mpm, options.seed, times))
    else:
        pictures = (scene.draw(options.seed, time) for time in times)
    for time, (picture, truth, labels) in zip(times, pictures):
        moment = datetime.datetime.fromtimestamp(time, datetime.timezone.utc)
        name = f"{moment:%Y-%m-%d_%H-%M-%S}"
        if isinstance(picture, bytes):
            (options.folder / f"{name}.jpg").write_bytes(picture)
        else:
            cv2.imwrite(str(options.folder / f"{name}.jpg"), picture, [cv2.IMWRITE_JPEG_QUALITY, 92])
        truths.append((f"{moment:%Y-%m-%dT%H:%M:%SZ}", *truth.values()))
        state = None if classes else next(iter(truth.values()))
        if options.label and labelled[state] < options.label:
            labelled[state] += 1
            if classes:
                (options.folder / "labels").mkdir(exist_ok=True)
                cv2.imwrite(str(options.folder / f"labels/{name}.png"), labels)
            else:
                examples.append((f"{name}.jpg", state))
        if sys.stderr.isatty():
            print(f"\r{len(truths)} of {len(times)} pictures", end="\n" if len(truths) == len(times) else "", file=sys.stderr)
    write(options.folder / "truth.csv", ("time", *truth), truths)
    if examples:
        write(options.folder / "examples.csv", ("picture", "state"), examples)
    elif options.label:
        listed = [{"name": name, "color": colour} for name, colour in classes.items()]
        (options.folder / "classes.json").write_text(json.dumps({"classes": listed, "ignore": 255}, indent=2) + "\n")


def write(path, header, rows):
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in (header, *rows)))


if __name__ == "__main__":
    main()
