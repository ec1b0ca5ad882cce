#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ViT, DeiT and DINOv2 of Hugging Face transformers -> ONNX, with a linear head of yours or their own classifier."""

import sys

import recipe
import sidecar
import tensors
from tensors import ExportError

EXAMPLE = """\
FOLDER holds config.json, preprocessor_config.json and model.safetensors (or pytorch_model.bin) of a model page.

A classifier as it is, from https://huggingface.co/google/vit-base-patch16-224:
  python3 models/export/from_huggingface.py vit-base-patch16-224 -o vit_base.onnx

https://huggingface.co/facebook/dinov2-small with a linear head that you trained on its patch tokens:
  python3 models/export/from_huggingface.py dinov2-small --head head.pth --classes names.txt -o dinov2_small.onnx
  build/bin/mpm run street.png --model dinov2_small.onnx --out pictures
"""


def check_config(config):
    """Facts that the tensors do not show."""
    if config.get("hidden_act", "gelu") != "gelu":
        raise ExportError(f"the activation is '{config['hidden_act']}', not gelu")
    if config.get("use_swiglu_ffn"):
        raise ExportError("its MLP is gated (SwiGLU): export it with transformers and torch.onnx")
    if not config.get("apply_layernorm", True):
        raise ExportError("its last LayerNorm is switched off")


def sides(value):
    return (value, value) if isinstance(value, int) else tuple(value)


def main(arguments=None):
    options = recipe.parser(__doc__, ("FOLDER", "of one model"), EXAMPLE)
    recipe.add_head_options(options)
    options = options.parse_args(arguments)

    folder = options.checkpoint
    config, preprocessor = (sidecar.read_json(folder / name) for name in ("config.json", "preprocessor_config.json"))
    with recipe.naming_the_file(folder / "config.json"):
        check_config(config)
        try:
            patch, (height, width) = config["patch_size"], sides(config["image_size"])
            heads, eps, kind = config["num_attention_heads"], config["layer_norm_eps"], config["model_type"]
        except (KeyError, TypeError, ValueError) as error:
            raise ExportError(f"not of a ViT of transformers ({type(error).__name__}: {error})") from None
    mean, std = preprocessor.get("image_mean"), preprocessor.get("image_std")
    if not mean or not std:
        raise ExportError(f"{folder / 'preprocessor_config.json'}: no image_mean and image_std")

    files = (folder / "model.safetensors", folder / "pytorch_model.bin")
    weights = next((path for path in files if path.is_file()), None)
    if not weights:
        raise ExportError(f"{folder}: neither model.safetensors nor pytorch_model.bin")
    checkpoint = recipe.load(weights)
    with recipe.naming_the_file(weights):
        state = recipe.tensors_in(checkpoint)
        shapes = recipe.shapes_of(state)
        naming = tensors.huggingface(kind, shapes)
        layout = tensors.read_layout(shapes, naming, head="features" if options.head else None, heads=heads,
                                     pool="token+mean" if kind.startswith("dinov2") else "token",
                                     grid=(height // patch, width // patch), eps=eps)
        state = recipe.convert(state, naming, layout, options.head)
    if options.head:
        state, layout = recipe.add_head(state, layout, options.head)
    classes = [] if options.head else sidecar.class_list(config.get("id2label") or [], folder / "config.json")
    recipe.write(options, state, layout, (mean, std), classes,
                 {"mode": "bicubic", "antialias": kind == "dinov2_with_registers"})


if __name__ == "__main__":
    sys.exit(recipe.run(main))
