# SPDX-License-Identifier: Apache-2.0
"""Runs a rule of merging for `mpm eval --rule FILE.py:FUNCTION`: rule.py FILE.py FUNCTION answers each line of JSON from
standard input, which names a file of numbers, with a line: {"ok": true, "groups": [..]} or {"ok": false, "why": text}."""

import importlib.util
import json
import os
import sys
import types

answers, sys.stdout = sys.stdout, sys.stderr  # what the function prints is no answer


def answer(**line):
    print(json.dumps(line), file=answers, flush=True)


def function_of(path, name):
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location("rule", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def groups_of(function, ask):
    numbers = np.fromfile(ask["numbers"], np.float32)
    patches = ask["grid"][0] * ask["grid"][1]
    numbers, row_of_patch = numbers[:-patches], numbers[-patches:].view(np.int32)
    ends = np.cumsum([ask["rows"] * ask["dim"], ask["rows"], ask["rows"] * ask["key_width"]])
    rows, sizes, keys, image = np.split(numbers, ends)
    info = types.SimpleNamespace(grid=tuple(ask["grid"]), row_of_patch=row_of_patch, block=ask["block"],
                                 keys=keys.reshape(ask["rows"], -1) if ask["key_width"] else None,
                                 image=image.reshape(-1, *ask["image"]))
    groups = np.asarray(function(rows.reshape(ask["rows"], -1), sizes, info))
    if groups.dtype.kind not in "iu" or groups.shape != (ask["rows"],):
        raise ValueError(f"a rule returns an integer for each of its {ask['rows']} rows, got shape {groups.shape} of {groups.dtype}")
    return groups.tolist()


try:
    import numpy as np
    rule = function_of(sys.argv[1], sys.argv[2])
    for line in sys.stdin:  # the first is empty: is all there?
        ask = json.loads(line)
        answer(ok=True, groups=groups_of(rule, ask) if ask else [])
except Exception as error:  # whatever it is, the caller reports it in one line
    answer(ok=False, why=" ".join(f"{type(error).__name__}: {error}".split()))
