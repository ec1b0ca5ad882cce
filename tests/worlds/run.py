# SPDX-License-Identifier: Apache-2.0
"""Computes what the programs give a second time, for random inputs that seeds make.

    python3 tests/worlds/run.py --build build --graphs --seeds 1..300    the converter: for each seed a random ViT-shaped
                                                                         graph and a random small edit of a real one
    python3 tests/worlds/run.py --graphs --kind edit --seeds 7 --keep DIR    leaves the graph in DIR

Prints each disagreement with the command that repeats it, what was reached, and as the last line how many disagree. The exit
status is 1 if any does.
"""
import argparse
import os
import pathlib
import sys


def seeds(text):
    first, _, last = text.partition("..")
    return range(int(first), int(last or first) + 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="the build folder")
    parser.add_argument("--graphs", action="store_true", required=True, help="graphs for the converter")
    parser.add_argument("--kind", choices=["graph", "edit"], help="of --graphs: random graphs or edits alone")
    parser.add_argument("--seeds", type=seeds, default=range(1, 101), help="a seed or FIRST..LAST")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at a time")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for what the seeds made")
    options = parser.parse_args()
    import graphs
    kinds = (options.kind,) if options.kind else ("graph", "edit")
    return 1 if graphs.main(options.build, options.seeds, options.jobs, options.keep, kinds) else 0


if __name__ == "__main__":
    sys.exit(main())
