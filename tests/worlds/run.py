# SPDX-License-Identifier: Apache-2.0
"""Computes what the programs give a second time, for random inputs that seeds make.

    python3 tests/worlds/run.py --build build --seeds 1..300    worlds of cameras and archives: the programs run in them, and each
                                                                printed number is computed from the pictures and docs/ alone
    python3 tests/worlds/run.py --seeds 7                        of one world also its command lines and all disagreements
    python3 tests/worlds/run.py --seeds 7 --shrink               the smallest world that still disagrees, as a script
    python3 tests/worlds/run.py --script FILE --keep DIR         plays such a script; DIR keeps its pictures and databases
    python3 tests/worlds/run.py --build build --graphs --seeds 1..300    the converter: for each seed a random ViT-shaped
                                                                         graph and a random small edit of a real one
    python3 tests/worlds/run.py --graphs --kind edit --seeds 7 --keep DIR    leaves the graph in DIR
    python3 tests/worlds/run.py --build build --kernels --seeds 1..300    each kernel on random sizes, with each instruction set
                                                                          of this CPU, and those for a GPU on its emulation;
                                                                          --kernels cpu, cuda or NAME: some of them
    python3 tests/worlds/run.py --build build --window --seeds 1..300    random walks of 40 actions through the app, against a
                                                                         model of what must be on show and stored
    python3 tests/worlds/run.py --window --seeds 7 --shrink              the shortest walk that still fails, for --script

Prints each disagreement with the command that repeats it, what was reached, and as the last line how many disagree. The exit
status is 1 if any does.
"""
import argparse
import os
import pathlib
import sys


def seeds(text):
    """1..300, 7 or 1,4,9."""
    result = []
    for part in text.split(","):
        first, _, last = part.partition("..")
        result += range(int(first), int(last or first) + 1)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="the build folder")
    parser.add_argument("--graphs", action="store_true", help="graphs for the converter, not worlds of cameras")
    parser.add_argument("--kernels", nargs="?", const="", metavar="NAME", help="kernels, or one of them, not worlds of cameras")
    parser.add_argument("--window", action="store_true", help="walks through the app, not worlds of cameras")
    parser.add_argument("--kind", choices=["graph", "head", "edit", "misfit", "merge"], help="of --graphs: random graphs, heads, edits of real graphs or of "
                        "heads, or graphs whose tokens merge, alone")
    parser.add_argument("--most", nargs="+", default=[], metavar="GROUP=COUNT", help="of --graphs: more are a fault of refused graphs "
                        "of common spellings (common), refused heads (head), heads that take one image at a time (apart)")
    parser.add_argument("--seeds", type=seeds, help="1..300, 7 or 1,4,9. Default: 1..100")
    parser.add_argument("--jobs", type=int, help="how many at a time. Default: as many as cores; walks, which mostly wait: three times that")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for what the seeds made")
    parser.add_argument("--script", type=pathlib.Path, nargs="+", default=[], help="of cameras and walks: files with scripts")
    parser.add_argument("--shrink", action="store_true", help="of cameras and walks: print the smallest script that disagrees in the same way")
    parser.add_argument("--print", action="store_true", help="of cameras: print the scripts and play nothing")
    options = parser.parse_args()
    jobs = options.jobs or os.cpu_count() * (3 if options.window else 1)
    if options.seeds is None:
        options.seeds = [] if options.script else range(1, 101)
    if options.graphs:
        import graphs
        kinds = (options.kind,) if options.kind else ("graph", "head", "edit", "misfit", "merge")
        return 1 if graphs.main(options.build, options.seeds, jobs, options.keep, kinds, options.most) else 0
    if options.kernels is not None:
        import kernels
        return 1 if kernels.main(options.build, options.seeds, jobs, options.kernels) else 0
    if options.window:
        import window
        return 1 if window.main(options.build, options.seeds, jobs, options.keep, options.script, options.shrink) else 0
    import cameras
    return 1 if cameras.main(options.build, options.seeds, jobs, options.keep, options.script, options.print, options.shrink) else 0


if __name__ == "__main__":
    sys.exit(main())
