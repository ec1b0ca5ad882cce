# SPDX-License-Identifier: Apache-2.0
"""Runs the commands on the built-in scene, and on CamVid where it is, that pages print beside their numbers, and looks for the mIoU or
agreement that they give in the section that prints the command: numbers_of_pages.py MPM ROOT SHARED PAGE... (SHARED: the folder with
models/camvid_*.onnx and data/camvid_val)"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MOST_FRAMES, CAMVID = 400, 101
NEAR = 0.02  # points: instruction sets round differently


def commands_of(block, values):
    """`mpm eval` and `mpm study` of a block as lines without names of variables. `values`: the assignments of earlier blocks, to
    which this one adds its own. A loop `for NAME in A B; do` gives a line for each value."""
    block = re.sub(r"^for (\w+) in (.*); do\n(.*?);? *done$",
                   lambda loop: "\n".join(loop[3].replace(f"${loop[1]}", value) for value in loop[2].split()), block, flags=re.M | re.S)
    for line in re.sub(r"\\\n\s*", " ", block).splitlines():
        line = re.sub(r"\s+#.*", "", line)
        if assigned := re.fullmatch(r"(?:export )?(\w+)=\"?([^\"]*)\"?", line):
            values[assigned[1]] = assigned[2]
        elif re.match(r"(\w+=\S+ )?(build/bin/)?mpm (eval|study) ", line):
            for name, value in values.items():
                line = line.replace(f"${name}", value)
            yield line.replace("build/bin/mpm", "mpm")


def frames_of(command, shared):
    """Pictures of the scene or of CamVid that a command reads; 0: it reads something else, or a network that is made beforehand."""
    if re.search(r"camvid_val .*--reduce|--images camvid_val/images", command) and (shared / "data/camvid_val").exists():
        return 0 if "vit.onnx" in command or "--sweep-images" in command else CAMVID  # which give no mIoU of the page
    scene = re.search(r"demo:street\?(\S*?)\"", command)
    if not scene or "policy=" in command:
        return 0
    keys = dict(part.split("=") for part in scene[1].split("&"))
    first, _, last = keys["seed"].partition("..")
    return int(keys["frames"]) * (int(last or first) - int(first) + 1)


def expected_of(line):
    """What a page may print of a variant: all numbers of one of these lists."""
    if line["against"]:
        return [[line["pixel_accuracy"]]]
    parts = [line[part]["miou"] for part in ("day", "night") if line.get(part)]
    full = [line["against_full"][key] for key in ("agreement", "miou_loss") if line.get("against_full")]
    return [[line["miou_percent" if "miou_percent" in line else "miou"]], full, parts]


def is_printed(section, value):
    numbers = re.findall(r"\d+\.(\d+)", section), re.findall(r"-?\d+\.\d+", section)
    return value == 100 or any(abs(value - float(text)) <= 0.5 * 10.0 ** -len(digits) + NEAR for digits, text in zip(*numbers))


def lines_of(command, values, folder, mpm):
    """The lines of JSON of a command, one for each variant. Throws where it fails."""
    study = " study " in command
    environment = os.environ | values | {"PATH": f"{pathlib.Path(mpm).resolve().parent}:{os.environ['PATH']}"}
    options = " --sweep-images 0" if study else "" if "--json" in command else " --json"
    run = subprocess.run(["bash", "-ec", command + options], cwd=folder, env=environment, capture_output=True, text=True)
    if run.returncode:
        raise ValueError(run.stderr.strip())
    text = (pathlib.Path(folder) / re.search(r" -o (\S+)", command)[1] / "summary.jsonl").read_text() if study else run.stdout
    return [{"against": None} | json.loads(line) for line in text.splitlines()]


def main(mpm, root, shared, *pages):
    root, shared, wrong, ran = pathlib.Path(root).resolve(), pathlib.Path(shared).resolve(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for path in (root / "models", shared / "data/camvid_val", *shared.glob("models/camvid_*")):
            os.symlink(path, pathlib.Path(folder) / path.name)
        for page in pages:
            assigned = {}
            for section in re.split(r"^##+ ", (root / page).read_text(), flags=re.M):
                for command in (one for block in re.findall(r"```sh\n(.*?)```", section, re.S) for one in commands_of(block, assigned)):
                    if not 0 < frames_of(command, shared) <= MOST_FRAMES:
                        print(f"{page}: left out: {command}")
                        continue
                    try:
                        differ = [f"{line['reduce']} {line.get('reuse_spec')}" for line in lines_of(command, assigned, folder, mpm)
                                  if not any(n and all(is_printed(section, value) for value in n) for n in expected_of(line))]
                        verdict = f"prints other numbers of {', '.join(differ)}" if differ else "as printed"
                    except ValueError as error:
                        differ, verdict = True, str(error)
                    ran, wrong = ran + 1, wrong + bool(differ)
                    print(f"{page}: {verdict}: {command}", flush=True)
    return 1 if wrong or not ran else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
