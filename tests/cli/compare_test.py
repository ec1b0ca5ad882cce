#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests bench/compare.py with workers that compute nothing: their turns, and whatever may happen to one of them. Needs NumPy, or exits
with 77."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
except ImportError:
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Notes each run in a common file, and answers with the milliseconds and labels that it is told.
WORKER = """
import json, sys
name, ms, labels, ends_after = {name!r}, {ms}, {labels}, {ends_after}
reduce = sys.argv[sys.argv.index("--reduce") + 1]
threads = sys.argv[sys.argv.index("--threads") + 1]
for count, line in enumerate(sys.stdin):
    ask = json.loads(line)
    if ask["cmd"] == "load":
        answer = {{"ok": True, "version": threads, "info": {{"input": [4, 6], "mean": [0.5] * 3, "std": [0.25] * 3, "channels": "RGB"}}}}
    elif count > ends_after:
        sys.exit("out of luck")
    else:
        open({log!r}, "a").write(name + " " + reduce + "\\n")
        open({log!r} + ".shape", "w").write(json.dumps(ask["shape"]))
        path = {log!r} + "." + name
        open(path, "wb").write(bytes(labels))
        answer = {{"ok": True, "ms": ms * count * (2 if reduce == "none" else 1), "labels": path, "peak_mib": 7}}
    print(json.dumps(answer), flush=True)
"""


class Compare(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)
        self.worker("mpm", 10)

    def worker(self, name, ms=1, labels=(0,) * 24, ends_after=99):
        text = WORKER.format(name=name, ms=ms, labels=list(labels), ends_after=ends_after, log=str(self.folder / "log"))
        (self.folder / f"{name}_worker.py").write_text(text)

    def run_it(self, *words, environment={}):
        command = [sys.executable, str(ROOT / "bench/compare.py"), "--model", "m.onnx", "--workers", str(self.folder), *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=100, env={**os.environ, **environment})

    def rows(self, *words):
        run = self.run_it("--json", *words)
        self.assertEqual(run.returncode, 0, run.stderr)
        return {row["name"]: row for row in json.loads(run.stdout)["variants"]}

    def test_takes_turns(self):
        self.worker("other", 4, (1,) * 6 + (0,) * 18)
        rows = self.rows("--runtimes", "other", "--rounds", "3", "--warm-up", "1", "--threads", "5")
        turn = ["mpm none", "mpm mpm:blocks=2,5", "other none"]
        self.assertEqual((self.folder / "log").read_text().splitlines(), turn * 4)
        ours, merged, other = (rows[name] for name in ("mpm none fp32", "mpm mpm:blocks=2,5 fp32", "other none fp32"))
        self.assertEqual(ours["ms"]["rounds"], [40, 60, 80], "the warm-up, 20 ms, does not count")
        self.assertEqual([ours["ratio"], merged["ratio"], other["ratio"]], [1, 0.5, 0.4])
        self.assertEqual(other["ratio_per_round"], {"p25": 0.4, "median": 0.4, "p75": 0.4})
        self.assertEqual([ours["version"], other["peak_mib"]], ["5", 7])
        self.assertAlmostEqual(other["agreement"], 75)
        self.assertEqual(json.loads((self.folder / "log.shape").read_text()), [1, 3, 4, 6])

    def test_a_runtime_that_fails_is_a_row_that_says_why(self):
        self.worker("mortal", ends_after=2)
        (self.folder / "babbling_worker.py").write_text("print('[]', flush=True); input()")
        (self.folder / "killed_worker.py").write_text("import os; os.kill(os.getpid(), 9)")
        (self.folder / "refused_worker.py").write_text("input(); print('{\"ok\": false, \"why\": \"not on Mondays\"}', flush=True); input()")
        rows = self.rows("--runtimes", "mortal,babbling,killed,refused", "--reduce", "none", "--rounds", "4", "--warm-up", "0")
        self.assertEqual(len(rows["mpm none fp32"]["ms"]["rounds"]), 4, "the others go on")
        notes = {name.split()[0]: row["note"] for name, row in rows.items()}
        self.assertEqual(notes, {"mpm": "", "mortal": "it ended without an answer: out of luck", "babbling": "it answered nonsense",
                                 "killed": "it was ended by signal 9", "refused": "not on Mondays"})
        self.assertIsNone(rows["killed none fp32"]["ratio"])
        table = self.run_it("--runtimes", "refused", "--rounds", "1").stdout
        self.assertIn("not on Mondays", table)

    def test_leaves_no_temporary_files_of_workers(self):
        (self.folder / "littering_worker.py").write_text("import tempfile; tempfile.mkdtemp(); print('[]', flush=True); input()")
        temporary = self.folder / "temporary"
        temporary.mkdir()
        run = self.run_it("--runtimes", "littering", "--reduce", "none", "--rounds", "1", environment={"TMPDIR": str(temporary)})
        self.assertIn("it answered nonsense", run.stdout)
        self.assertEqual(list(temporary.iterdir()), [])

    def test_refuses_in_one_line(self):
        self.assertIn("no runtime tvm", self.run_it("--runtimes", "tvm").stderr)
        (self.folder / "mpm_worker.py").write_text("input(); print('{\"ok\": false, \"why\": \"no such model\"}', flush=True); input()")
        run = self.run_it("--runtimes", "")
        self.assertEqual((run.returncode, run.stderr), (1, "compare.py: none of ours could read the model: no such model\n"))

    def test_the_tensor_is_normalised(self):
        sys.path.insert(0, str(ROOT / "bench"))
        import compare
        tensor = compare.tensor_of(None, {"input": [5, 7], "mean": [0.5] * 3, "std": [0.5] * 3, "channels": "BGR"}, 2)
        self.assertEqual((tensor.shape, tensor.dtype), ((2, 3, 5, 7), np.float32))
        self.assertTrue(-1 <= tensor.min() < tensor.max() <= 1)
        self.assertTrue((tensor[0] == tensor[1]).all())


if __name__ == "__main__":
    unittest.main()
