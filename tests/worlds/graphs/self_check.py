# SPDX-License-Identifier: Apache-2.0
"""Checks the evaluator with what PyTorch gave for the graphs of tests/data: python3 tests/worlds/graphs/self_check.py"""
import base64
import json
import sys

import numpy as np
import onnx

import edits
import evaluate


def array(entry):
    values = np.frombuffer(base64.b64decode(entry["data_b64"]), entry["dtype"]).reshape(entry["shape"])
    return values.astype(np.float64) * entry.get("scale", 1.0)


def main():
    count, wrong = 0, 0
    for path in sorted(edits.DATA.glob("*.reference.json")):
        reference = json.loads(path.read_text())
        file = path.with_name(path.name.replace(".reference.json", ".onnx"))
        if not file.exists():
            continue
        model = onnx.load_model_from_string(file.read_bytes())
        try:
            image = array(reference["inputs"][0])
            found = evaluate.Evaluator(model, str(path.parent)).run(image)
        except evaluate.NotDefined as reason:
            print(f"{file.name}: {reason}")
            wrong += 1
            continue
        for entry in reference["outputs"]:
            expected = array(entry)
            apart = np.abs(found[entry["name"]] - expected).max() / max(np.abs(expected).max(), 1e-3)
            count += 1
            if not apart < 1e-4:
                print(f"{file.name}: '{entry['name']}' is off by {apart:.2g} of its largest value")
                wrong += 1
    print(f"{count} outputs, {wrong} wrong")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
