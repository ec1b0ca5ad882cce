#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the faults that scripts/mutate makes: mutate_test.py COMPILER. A small program is woven, compiled once, and asked with each fault."""
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILER = sys.argv.pop() if len(sys.argv) > 1 else "c++"
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("mutate", str(ROOT / "scripts/mutate"))
mutate = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutate", loader))
loader.exec_module(mutate)

PROGRAM = r"""// A program whose every line prints something.
#include <cstdio>
#include <vector>
constexpr int kSecondMs = 1000;
constexpr bool kIsLarge = kSecondMs > 7;
struct Options {
  int width = 5, height = 6;
};
int minus(int a, int b) { return a - b; }
int main(int count, char**) {
  std::vector<int> values = {3};
  values.push_back(4);
  int sum = 0;
  for (const int value : values) sum += value;
  const Options options = {.width = 7 + count, .height = 2};
  std::printf("%d %d\n", sum, options.width * options.height);
  if (sum <= 7 && count == 1) std::printf("small // not a comment: a < b\n");
  std::printf("%d %d\n", minus(sum, 2 * count), sum * kSecondMs);
  return sum + 1;
}
"""


def faults(text, lines=None):
    return list(mutate.Source("a.cpp", text).faults(lines))


class Faults(unittest.TestCase):
    def test_of_each_kind(self):
        found = {fault.why for fault in faults(PROGRAM)}
        for why in ("forgotten: values.push_back(4);", "forgotten: sum += value;", "not filled: 7 + count",
                    "not filled: 2 in const Options options = {.width = 7 + count, .height = 2};",
                    "<= becomes <: sum <= 7", "<= becomes >: sum <= 7", "&& becomes ||: sum <= 7 && count == 1", "== becomes !=: count == 1",
                    "arguments swapped: minus(sum, 2 * count)", "not converted: kSecondMs in std::printf(\"%d %d\\n\", minus(sum, 2 * count), sum * kSeco",
                    "1 becomes 2: 1 in return sum + 1;"):
            self.assertIn(why, found)
        self.assertFalse([why for why in found if "kSecondMs > 7" in why or why.startswith(("< ", "> "))], "constants and texts have none")

    def test_only_in_the_lines_that_are_wanted(self):
        self.assertEqual({fault.line for fault in faults(PROGRAM, {14, 17})}, {14, 17})
        self.assertEqual(faults(PROGRAM, {5}), [], "the compiler needs the value of a constant")

    def test_each_comparison_is_off_by_its_edge_or_turned_around(self):
        for sign, others in (("<", "<= >="), ("<=", "< >"), (">", ">= <="), (">=", "> <"), ("==", "!="), ("!=", "==")):
            woven = [fault.woven for fault in faults(f"void f() {{ return a {sign} b.c(1, d); }}") if "becomes" in fault.why]
            self.assertEqual([one.split("? (")[1].split(") :")[0] for one in woven if f"(a {sign} b.c" in one],
                             [f"a {other} b.c(1, d)" for other in others.split()])

    def test_arguments_change_places(self):
        swapped, = (fault for fault in faults("int f() { return minus(a.b(1), 2 * c); }") if fault.why.startswith("arguments"))
        self.assertIn("? (minus(2 * c, a.b(1))) : (minus(a.b(1), 2 * c))", swapped.woven)

    def test_a_template_is_no_comparison(self):
        self.assertEqual(faults("std::map<int, std::vector<int>> a = f<1>(x);"), [])

    def test_each_is_another_program(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "mutant.h").write_text(mutate.HOOK + mutate.ARGUMENT)
            chosen = []
            for fault in sorted(faults(PROGRAM), key=lambda one: one.end - one.start):  # the shorter one of two that overlap
                if all(fault.end <= other.start or other.end <= fault.start for other in chosen):
                    chosen.append(fault)
            self.assertGreaterEqual(len(chosen), 8)
            (folder / "a.cpp").write_text(mutate.woven_text(PROGRAM, chosen, folder))
            subprocess.run([COMPILER, "-std=c++20", "-o", folder / "a", folder / "a.cpp"], check=True)
            run = lambda **environment: (lambda done: (done.returncode, done.stdout))(
                subprocess.run([folder / "a"], capture_output=True, text=True, env={**os.environ, **environment}))
            right = run()
            self.assertEqual(right, (8, "7 16\nsmall // not a comment: a < b\n5 7000\n"))
            for fault in chosen:
                self.assertNotEqual(run(MPM_MUTANT=str(fault.number)), right, fault.why)
            (folder / "reached").mkdir()
            run(MPM_MUTANT_REACHED=str(folder / "reached"))
            self.assertEqual({path.name for path in (folder / "reached").iterdir()}, {str(fault.number) for fault in chosen})

    def test_memory_held_ready_is_not_forgotten(self):
        self.assertEqual([fault.why for fault in faults("void f() { a.reserve(n); b->c.shrink_to_fit(); d.resize(n); }")],
                         ["forgotten: d.resize(n);"])

    def test_a_folder_has_the_files_in_it(self):
        lines = mutate.all_lines(["toolkit/page", "cli/view.cpp"])
        self.assertIn("toolkit/page/page.cpp", lines)
        self.assertIn("cli/view.cpp", lines)
        self.assertFalse([name for name in lines if not name.endswith((".cpp", ".h"))])

    def test_a_test_is_new_where_a_program_that_it_starts_is(self):
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            (build / "bin").mkdir()
            program, script = build / "bin/program", build / "script.sh"
            for path in (program, script):
                path.write_text("")
                os.utime(path, (1000, 1000))
            (build / "CTestTestfile.cmake").write_text(f'add_test(starts "/bin/sh" "{script}" "--build" "{build}")\n')
            before = mutate.list_tests(str(build), ".")["starts"]["built"]
            now = time.time() + 1000
            os.utime(program, (now, now))
            self.assertNotEqual(mutate.list_tests(str(build), ".")["starts"]["built"], before)

    def test_draws_the_same_for_a_seed(self):
        lines = {"toolkit/evaluation/statistics.cpp": None}
        first, again, other = ([(one.file, one.start, one.why) for one in mutate.draw(lines, 12, seed)] for seed in (1, 1, 2))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)
        self.assertEqual(len(first), 12)


if __name__ == "__main__":
    unittest.main()
