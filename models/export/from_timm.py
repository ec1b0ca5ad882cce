#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ViT, DeiT and DINOv2 backbones in timm's names -> ONNX, with a linear head of yours or their own classifier."""

import pathlib
import sys

import recipe
import sidecar
import tensors
from tensors import ExportError

EXAMPLE = """\
Files of https://huggingface.co/timm (model.safetensors; config.json beside it has the normalisation), of
https://github.com/facebookresearch/deit, and of https://github.com/facebookresearch/dinov2 with their heads.

A classifier as it is, from https://huggingface.co/timm/vit_tiny_patch16_384.augreg_in21k_ft_in1k:
  python3 models/export/from_timm.py vit_tiny/model.safetensors -o vit_tiny.onnx

DINOv2 ViT-S/14 with Meta's linear head for ADE20K (dinov2_vits14_pretrain.pth, dinov2_vits14_ade20k_linear_head.pth):
  python3 models/export/from_timm.py dinov2_vits14_pretrain.pth --head dinov2_vits14_ade20k_linear_head.pth \\
      --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225 --classes ade20k.yml -o dinov2_s.onnx
  build/bin/mpm run street.png --model dinov2_s.onnx --out pictures
"""


HEADS = {"vit_base_patch16_gap_224": 16}  # its heads are not 64 wide


def check_architecture(config):
    """Refuses what the tensors do not show: another activation, norms in other places."""
    name, arguments = config.get("architecture", ""), config.get("model_args") or {}
    if any(part in name for part in ("quickgelu", "siglip", "rpn")) or arguments.get("act_layer", "gelu") != "gelu":
        raise ExportError(f"'{name}' has another activation or order of norms than a plain ViT: export it with timm "
                          "and torch.onnx")


def main(arguments=None):
    options = recipe.parser(__doc__, ("FILE", "model.safetensors, pytorch_model.bin or a .pth"), EXAMPLE)
    recipe.add_head_options(options)
    options.add_argument("--mean", type=recipe.numbers, metavar="R,G,B", help="of 0..1 values. Default: config.json's")
    options.add_argument("--std", type=recipe.numbers, metavar="R,G,B")
    options.add_argument("--heads", type=int, metavar="N", help="attention heads. Default: as in timm's models")
    options.add_argument("--trained-size", type=recipe.size, metavar="HxW",
                         help="input size that the positions were trained for. Default: a square")
    options = options.parse_args(arguments)

    config_path: pathlib.Path = options.checkpoint.with_name("config.json")
    config = sidecar.read_json(config_path) if config_path.is_file() else {}
    with recipe.naming_the_file(config_path):
        check_architecture(config)
    facts = config.get("pretrained_cfg") or config
    mean, std = options.mean or facts.get("mean"), options.std or facts.get("std")
    if not mean or not std:
        raise ExportError(f"no config.json with mean and std beside {options.checkpoint}: give --mean and --std")

    checkpoint = recipe.load(options.checkpoint)
    with recipe.naming_the_file(options.checkpoint):
        state = recipe.tensors_in(checkpoint, "model", "state_dict")
        shapes = recipe.shapes_of(state)
        naming = tensors.DINOV2 if "register_tokens" in shapes else tensors.TIMM
        patch = shapes.get("patch_embed.proj.weight", (0,))[-1]
        layout = tensors.read_layout(
            shapes, naming, head="features" if options.head else None,
            heads=options.heads or HEADS.get(config.get("architecture")),
            pool={"token": "token", "avg": "mean"}.get(config.get("global_pool")),
            grid=tuple(side // patch for side in options.trained_size) if options.trained_size and patch else None)
        state = recipe.convert(state, naming, layout, options.head)
    if options.head:
        state, layout = recipe.add_head(state, layout, options.head)
    classes = facts.get("label_names") or []
    recipe.write(options, state, layout, (mean, std), sidecar.class_list(classes, config_path),
                 {"mode": "bicubic", "antialias": True})


if __name__ == "__main__":
    sys.exit(recipe.run(main))
