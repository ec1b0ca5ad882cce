#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/models.md from suite.json; with --check it only says whether the page is up to date."""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/models.md"
HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Written by tests/exporters/models_page.py. -->
# Families of models

Each row is a model of random weights and small size, exported by `tests/exporters/make_models.py` (versions:
`tests/exporters/requirements.txt`). The test `onnx` converts a selection, which is in `tests/data`, and compares its outputs with ONNX
Runtime's. For all of them:

```sh
python tests/exporters/make_models.py --out suite --suite
MPM_EXPORTED_MODELS=$PWD/suite build/bin/onnx_test --gtest_filter='Data/ExporterModel.*'
```

In column "merged", "equal" means that the test also merges it, and that maps and outputs are equal to those of PyTorch with the authors'
merging rule; "yes" means that it merges by the same code, without this comparison; "no" that merging is refused.

| model | exporters, opsets | head | merged |
|---|---|---|---|
"""
TAIL = """
## Refused
The error line names the first node that does not fit.

| model | reason |
|---|---|
{refused}

## Notes
- **Tasks:** `DPTForSemanticSegmentation` gives labels with `"task": "semantic"` in its JSON ([converter.md](converter.md), "Tasks"). The script
  `models/export/from_transformers.py` exports DINOv3, EoMT and Depth Anything with a JSON that names the task.
- **EoMT:** transformers' export masks attention while `attn_mask_probs` is above zero. Set it to zero before the export, as the script does.
- **Heads:** "other" runs node by node. [converter.md](converter.md), "What it refuses", lists the operators that such a head may have.
- **Rotary positions:** a merged token has no single place. `--reduce mpm:positions=P` chooses `mean` (default), `centroid` or `first`: see
  "Rotary positions, measured".
- **Fixed batches, 8-bit weights:** some of these files have a batch of two or three images fixed in the graph, or QDQ weights.
- **ViT-Adapter:** [reduction.md](reduction.md), "Interactions", says how tokens merge around it.
- **Mask2Former:** export it with dynamo; what TorchScript makes of transformers' head is wrong in ONNX Runtime too. It takes one image at a time.
- **BEiT, SAM, ViTDet:** biases, windows and relative positions are for one size of input: export the model for the size that it runs at.
- **SAM:** torch's dynamo exporter cannot export timm's models with fused attention: call `timm.layers.set_fused_attn(False)` first.
- **On a GPU:** rotary positions, relative positions and biases, windows, RMSNorm, late tokens and patches with a border are not supported yet; use the CPU.

## Rotary positions, measured
Two ViT-T/16, one with rotary and one with absolute positions, were trained in the same way from random weights: 450 steps of 16 pictures of the
built-in scene at 256x384, on one core, in less than an hour each, by the `mpm-train` of commit e1454742, which had `--positions rotary`. They
are far from finished; only the differences count. mIoU on 96 pictures of 16 other streets, in percent, and tokens at the end, of 384:

| positions | policy | none | 2,5 | tokens | 1,3,5 | tokens |
|---|---|---|---|---|---|---|
| rotary | mean (default) | 53.8 | **51.5** | 240.5 | **50.0** | 203.0 |
| rotary | centroid | 53.8 | 50.4 | 240.5 | 48.6 | 203.6 |
| rotary | first | 53.8 | 50.6 | 240.3 | 48.3 | 202.8 |
| absolute | | 51.9 | 51.2 | 238.6 | 50.5 | 200.5 |

The mean of the members' cosines and sines loses least. Without merging the rotary model is better, but it loses more by merging than the
model with absolute positions.

```sh
mpm eval "demo:street?seed=1..16&weather=auto&step=3942000&frames=6&size=256x384" --model rotary/rotary_vit_t16.onnx \\
  --reduce mpm:positions=mean
```
"""


def page():
    models = json.loads(pathlib.Path(__file__).with_name("suite.json").read_text())
    rows, refused = {}, []
    for model in models:
        if model["verdict"] != "convert":
            refused.append(f"| {model['source']} | {model['reason']} |")
            continue
        row = rows.setdefault(model["source"], {"exports": [], "head": model["head"],
                                                "merged": "yes" if model["merges"] else "no"})
        export = f"{model['exporter']} {model['opset']}"
        if export not in row["exports"]:
            row["exports"].append(export)
        if model["equals_pytorch"]:
            row["merged"] = "equal"
    lines = [f"| {source} | {', '.join(row['exports'])} | {row['head'].replace('_', ' ')} | {row['merged']} |"
             for source, row in rows.items()]
    return HEAD + "\n".join(lines) + "\n" + TAIL.format(refused="\n".join(refused))


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        if PAGE.read_text() != page():
            sys.exit("docs/models.md is not up to date: run tests/exporters/models_page.py")
    else:
        PAGE.write_text(page())
