# SPDX-License-Identifier: Apache-2.0
"""Each kernel with each instruction set of this CPU, on random sizes, against plain loops in double precision.

kernel_worlds runs them. Here the seeds are shared out, and the headers are read: a function that has no trial there must be
in NO_TRIAL with the reason.
"""
import concurrent.futures
import pathlib
import re
import subprocess

SOURCES = pathlib.Path(__file__).resolve().parents[3] / "mpm_layer" / "src" / "kernels"
HEADERS = ["attention.h", "convolution.h", "elementwise.h", "head_gradient.h", "linear.h", "mask_scores.h", "pairing.h",
           "patch_embed.h", "resample.h", "transformer_block.h", "window_attention.h", "cpu/rounding.h"]
NO_TRIAL = {
    "parseActivation": "no arithmetic",
    "bilinearAxis": "a definition: the plain loops use it, too",
}


def declared():
    """Names of functions and of classes that compute, as the headers declare them."""
    names = set()
    for header in HEADERS:
        text = (SOURCES / header).read_text()
        names.update(re.findall(r"^(?:\[\[nodiscard\]\] )?(?:inline )?(?:void|bool|float|[A-Z]\w*(?:<\w+ ?\w*>)?) (\w+)\(", text, re.MULTILINE))
        names.update(re.findall(r"^class (\w+)", text, re.MULTILINE))
    return names


def untried(kernels):
    """What has neither a trial nor a reason, and reasons for what is no longer there."""
    names, tried = declared(), {kernel.split()[0] for kernel in kernels}
    return ([f"{name} has no trial in tests/worlds/kernels" for name in sorted(names - tried - set(NO_TRIAL))] +
            [f"{name} is in no header of kernels" for name in sorted((tried | set(NO_TRIAL)) - names)])


def main(build, seeds, jobs, only=""):
    """Prints each fault with the command that repeats it, and how many disagree. Returns that number."""
    program = str(pathlib.Path(build) / "bin" / "kernel_worlds")
    kernels = subprocess.run([program, "--list"], check=True, capture_output=True, text=True).stdout.splitlines()
    faults = untried(kernels)
    for fault in faults:
        print(fault)
    chunk = 20
    spans = []
    for seed in seeds:
        if spans and seed == spans[-1][1] + 1 and seed - spans[-1][0] < chunk:
            spans[-1][1] = seed
        else:
            spans.append([seed, seed])

    def play(span):
        command = [program, *map(str, span)] + ([only] if only else [])
        return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()

    trials, disagree = 0, len(faults)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for lines in pool.map(play, spans):
            counts = re.fullmatch(r"(\d+) trials, (\d+) disagree", lines[-1]) if lines else None
            if counts:
                trials += int(counts[1])
                lines = lines[:-1]
            elif not lines:
                lines = ["kernel_worlds ended without a word"]
            for line in lines:
                disagree += 1
                name, seed = (re.match(r"(.*), seed (\d+), ", line) or re.match("()()", line)).groups()
                print(f"{line}; python3 tests/worlds/run.py --build {build} --kernels '{name}' --seeds {seed}", flush=True)
    for name, why in NO_TRIAL.items():
        print(f"no second implementation: {name} ({why})")
    print(f"reached: {len(kernels)} kernels of {len(declared())} functions and classes")
    print(f"{trials} trials, {disagree} disagree")
    return disagree
