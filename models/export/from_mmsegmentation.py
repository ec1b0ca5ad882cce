#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Segmenter of mmsegmentation -> ONNX: mask transformer (SegmenterMaskTransformerHead) and linear head (FCNHead)."""

import sys

import recipe
import sidecar
import tensors
from tensors import ExportError

EXAMPLE = """\
The files of https://github.com/open-mmlab/mmsegmentation, configs/segmenter/README.md, column "download". Names and
colours of the classes are in them. Segmenter-Mask with ViT-T/16 on ADE20K:

  python3 models/export/from_mmsegmentation.py \\
      segmenter_vit-t_mask_8x1_512x512_160k_ade20k_20220105_151706-ffcf7509.pth -o segmenter_t.onnx
  build/bin/mpm run street.png --model segmenter_t.onnx --out pictures
"""


def class_entries(checkpoint):
    """Names and colours that mmsegmentation kept: meta.CLASSES (0.x) or meta.dataset_meta.classes (1.x)."""
    meta = checkpoint.get("meta") if isinstance(checkpoint, dict) else None
    meta = meta if isinstance(meta, dict) else {}
    inner = meta.get("dataset_meta") if isinstance(meta.get("dataset_meta"), dict) else {}
    names = inner.get("classes") or meta.get("CLASSES") or []
    colours = inner.get("palette") or meta.get("PALETTE") or []
    if len(colours) != len(names):
        colours = [None] * len(names)
    return [{"name": name, "color": colour} for name, colour in zip(names, colours)]


def main(arguments=None):
    options = recipe.parser(__doc__, ("MODEL.pth", "a published file, or one that training wrote"), EXAMPLE)
    options = options.parse_args(arguments)

    checkpoint = recipe.load(options.checkpoint)
    with recipe.naming_the_file(options.checkpoint):
        state = recipe.tensors_in(checkpoint, "state_dict")
        layout = tensors.read_layout(recipe.shapes_of(state), tensors.MMSEGMENTATION)
        if layout.head == "features":
            raise ExportError("no head: neither 'decode_head.cls_emb' nor 'decode_head.conv_seg.weight'")
        state = recipe.convert(state, tensors.MMSEGMENTATION, layout)
        classes = sidecar.class_list(class_entries(checkpoint), "meta")
    recipe.write(options, state, layout, sidecar.HALF, classes, {"mode": "bicubic", "antialias": False})


if __name__ == "__main__":
    sys.exit(recipe.run(main))
