#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Segmenter's own checkpoints -> ONNX: mask transformer and linear decoder, ViT and distilled DeiT backbones."""

import pathlib
import sys

import recipe
import sidecar
import tensors
from tensors import ExportError

EXAMPLE = """\
The model zoo in https://github.com/rstrudel/segmenter (README) has two files per model: put checkpoint.pth ("model")
and variant.yml ("config") into one folder. Class names and colours of ADE20K: segm/data/config/ade20k.yml there.
Seg-T-Mask/16 on ADE20K:

  python3 models/export/from_segmenter.py seg_tiny_mask/checkpoint.pth --classes ade20k.yml -o seg_tiny_mask.onnx
  build/bin/mpm run street.png --model seg_tiny_mask.onnx --out pictures
"""


def read_variant(path):
    """Facts in variant.yml: heads, size and normalisation, and those that the weights show too, for a comparison."""
    if not path.is_file():
        raise ExportError(f"{path}: no such file; it belongs to the checkpoint (give --variant if it lies elsewhere)")
    try:
        network = sidecar.read_yaml(path)["net_kwargs"]
        height, width = network["image_size"]
        patch = network["patch_size"]
        facts = {"dim": network["d_model"], "blocks": network["n_layers"], "patch": patch, "classes": network["n_cls"],
                 "grid": (height // patch, width // patch), "distillation_token": bool(network.get("distilled", False))}
        heads, normalisation = network["n_heads"], network["normalization"]
        known = {"vit": sidecar.HALF, "deit": sidecar.IMAGENET}
        if normalisation not in known:
            raise ExportError(f"{path}: the normalisation is '{normalisation}'; known are vit and deit")
        return facts, heads, known[normalisation]
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise ExportError(f"{path}: not a variant.yml of Segmenter ({type(error).__name__}: {error})") from None


def main(arguments=None):
    options = recipe.parser(__doc__, ("checkpoint.pth", "what Segmenter's training wrote"), EXAMPLE)
    options.add_argument("--variant", type=pathlib.Path, metavar="FILE",
                         help="default: variant.yml beside the checkpoint")
    options = options.parse_args(arguments)

    facts, heads, normalisation = read_variant(options.variant or options.checkpoint.with_name("variant.yml"))
    checkpoint = recipe.load(options.checkpoint)
    with recipe.naming_the_file(options.checkpoint):
        state = recipe.tensors_in(checkpoint, "model")
        layout = tensors.read_layout(recipe.shapes_of(state), tensors.SEGMENTER, heads=heads, grid=facts["grid"],
                                     eps=1e-5)
        if layout.head == "features":
            raise ExportError("no decoder: neither 'decoder.cls_emb' nor 'decoder.head.weight'")
        for name, said in facts.items():
            if said != getattr(layout, name):
                raise ExportError(f"its {name} is {getattr(layout, name)}, variant.yml says {said}: not of one model")
        state = recipe.convert(state, tensors.SEGMENTER, layout)
    recipe.write(options, state, layout, normalisation, [], {"mode": "bilinear", "antialias": False})


if __name__ == "__main__":
    sys.exit(recipe.run(main))
