# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of a page of docs as they stand there, in a folder with nothing but examples/. What it shows as their output must be
among it; numbers may differ by NEAR, or by so many percent.

    page_commands.py MPM PAGE SECONDS [NEAR]
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

NUMBER = r"-?\d+(?:\.\d+)?"


def is_like(shown, printed, near):
    """Whether a line is the one that the page shows."""
    if re.split(NUMBER, " ".join(shown.split())) != re.split(NUMBER, " ".join(printed.split())):
        return False
    pairs = zip(re.findall(NUMBER, shown), re.findall(NUMBER, printed))
    return all(a == b or abs(float(a) - float(b)) <= near * max(1, abs(float(a)) / 100) for a, b in pairs)


def run(commands, folder, mpm, seconds):
    """What the commands print. Ends the test where one fails or they take longer."""
    path = f"{pathlib.Path(mpm).resolve().parent}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    with subprocess.Popen(["sh", "-eu"], cwd=folder, env=os.environ | {"PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True) as shell:
        try:
            printed, _ = shell.communicate(commands, timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
            printed, _ = shell.communicate()
            sys.exit(f"{printed}\nnot done after {seconds:g} s")
    print(printed)
    if shell.returncode:
        log = pathlib.Path(folder) / "log"
        sys.exit((log.read_text() if log.exists() else "") + f"the commands end with {shell.returncode}")
    return printed


def main(mpm, page, seconds, near="0"):
    page = pathlib.Path(page).resolve()
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(), re.M | re.S)
    commands, shown = "".join(text for kind, text in blocks if kind == "sh"), [text for kind, text in blocks if kind != "sh"]
    if not commands or not shown:
        sys.exit(f"{page} has no commands or shows no output")
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(page.parent.parent / "examples", pathlib.Path(folder) / "examples")
        printed = run(commands, folder, mpm, float(seconds)).splitlines()
    missing = [line for text in shown for line in text.splitlines() if line.strip() and not any(is_like(line, one, float(near)) for one in printed)]
    for line in missing:
        print(f"not printed: {line}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
