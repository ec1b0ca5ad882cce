#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs each command of docs/recipe.md on models of random weights, with the built-in scene as the camera.

    recipe_test.py build/bin/mpm

A block whose package is not installed is left out, and named; without PyTorch the test is skipped.
"""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCES = pathlib.Path(__file__).resolve().parents[2]
if importlib.util.find_spec("torch") is None:
    print("skipped: torch is not installed (-DMPM_EXPORT_PYTHON=... names a Python that has it)")
    sys.exit(77)
os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import torch
from PIL import Image

CAMERA, STREET = "rtsp://camera/street", "demo:street?frames=3&size=64x96"
# What a person gets for himself, and what stands for the size of published models.
REPLACED = {CAMERA: f"'{STREET}'", "pip install": ": pip install", "pretrained=True": "pretrained=False", "(512, 512)": "(64, 64)",
            "3, 512, 512": "3, 64, 64", "vit_base_patch16_radio_v3.c_radio": "vit_base_patch16_radio_v3"}


def lightly():
    from lightly_train._task_models.dinov3_eomt_semantic_segmentation.task_model import DINOv3EoMTSemanticSegmentation

    model = DINOv3EoMTSemanticSegmentation(
        model_name="dinov3/vitt16-eomt", classes={0: "sky", 2: "tree", 5: "road"}, class_ignore_index=None, image_size=(64, 64),
        image_normalize={"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}, num_queries=20, num_joint_blocks=4,
        load_weights=False)
    weights = {"model." + name: value for name, value in model.state_dict().items()}
    torch.save({"model_class_path": model.class_path, "model_init_args": model.init_args, "train_model": weights}, "exported_best.pt")


def segmenter():
    import published

    torch.manual_seed(0)
    state = {name: torch.randn(shape) * 0.2 for name, shape in published.segmenter(dim=128, blocks=2, patch=8, classes=6, grid=5).items()}
    folder = pathlib.Path("seg_tiny_mask")
    folder.mkdir()
    torch.save({"model": state}, folder / "checkpoint.pth")
    (folder / "variant.yml").write_text(VARIANT)
    names = [{"id": i, "name": f"thing {i}", "color": [i, 9, 255]} for i in range(6)]
    pathlib.Path("ade20k.yml").write_text(json.dumps(names))


def depth_anything():
    import transformers

    backbone = transformers.Dinov2Config(image_size=56, patch_size=14, hidden_size=32, num_hidden_layers=4, num_attention_heads=2,
                                         out_indices=[1, 2, 3, 4], reshape_hidden_states=False, apply_layernorm=True)
    model = transformers.DepthAnythingForDepthEstimation(transformers.DepthAnythingConfig(
        backbone_config=backbone, reassemble_hidden_size=32, neck_hidden_sizes=[8, 8, 16, 16], fusion_hidden_size=8, head_hidden_size=8))
    model.save_pretrained("Depth-Anything-V2-Small-hf")
    (pathlib.Path("Depth-Anything-V2-Small-hf") / "preprocessor_config.json").write_text(
        json.dumps({"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}))


def rf_detr():
    import transformers

    backbone = transformers.models.rf_detr.configuration_rf_detr.RfDetrDinov2Config(
        image_size=64, patch_size=8, hidden_size=32, num_hidden_layers=4, num_attention_heads=2, mlp_ratio=2, num_windows=2, out_indices=[2, 4])
    model = transformers.RfDetrForObjectDetection(transformers.RfDetrConfig(
        backbone_config=backbone, d_model=32, num_queries=6, decoder_layers=2, decoder_ffn_dim=32, group_detr=1,
        id2label={0: "person", 1: "car", 2: "bus"}, decoder_self_attention_heads=2, decoder_cross_attention_heads=2, decoder_n_points=2))
    torch.nn.init.constant_(model.class_embed.bias, 0.7)
    model.save_pretrained("rf-detr-base")
    (pathlib.Path("rf-detr-base") / "preprocessor_config.json").write_text(json.dumps(
        {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225], "size": {"height": 64, "width": 64}}))


def labelled():
    random = np.random.default_rng(0)
    for folder in ("pictures", "labels"):
        pathlib.Path(folder).mkdir()
    for i in range(3):
        labels = np.repeat([[0], [1]], 32, axis=0).repeat(96, axis=1).astype(np.uint8)
        Image.fromarray(labels).save(f"labels/{i}.png")
        picture = random.integers(0, 80, (64, 96, 3)) + 150 * labels[:, :, None]
        Image.fromarray(picture.astype(np.uint8)).save(f"pictures/{i}.png")
    pathlib.Path("classes.json").write_text(json.dumps([{"name": "sky"}, {"name": "road"}]))


# Of each block of the page, in its order: the packages that it needs, and what makes the files that a person has.
BLOCKS = [("lightly_train", lightly), ("yaml", segmenter), ("transformers", depth_anything),
          ("transformers", rf_detr), ("timm", labelled)]
VARIANT = """\
net_kwargs:
  backbone: vit_tiny_patch16_384
  d_model: 128
  distilled: false
  image_size: !!python/tuple
  - 40
  - 40
  n_cls: 6
  n_heads: 2
  n_layers: 2
  normalization: vit
  patch_size: 8
"""


def main(mpm):
    sys.path[:0] = [str(SOURCES / "tests/export"), str(SOURCES / "models/export")]
    blocks = re.findall(r"^```sh\n(.*?)^```$", (SOURCES / "docs/recipe.md").read_text(), re.S | re.M)
    assert len(blocks) == len(BLOCKS), f"{len(blocks)} blocks of commands, expected {len(BLOCKS)}"
    command, left_out = pathlib.Path(mpm).resolve(), 0
    for commands, (package, prepare) in zip(blocks, BLOCKS):
        if importlib.util.find_spec(package) is None:
            print(f"left out, because {package} is not installed:\n{commands}")
            left_out += 1
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            programs = pathlib.Path("programs")
            programs.mkdir()
            (programs / "mpm").symlink_to(command)
            (programs / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" -B "$@"\n')
            (programs / "python3").chmod(0o755)
            Image.fromarray(np.random.default_rng(1).integers(0, 256, (64, 96, 3), dtype=np.uint8)).save("street.png")
            prepare()
            for given, taken in REPLACED.items():
                commands = commands.replace(given, taken)
            environment = os.environ | {"PATH": f"{programs.resolve()}:{os.environ['PATH']}", "MPM": str(SOURCES)}
            subprocess.run(["sh", "-euxc", commands], check=True, env=environment)
            database = re.search(r"--db (\S+)", commands)[1]
            assert pathlib.Path(database).stat().st_size > 0 and any(pathlib.Path().glob("*/street_*.png"))
            os.chdir("/")
    print(f"{len(blocks) - left_out} of {len(blocks)} recipes ran")
    return 77 if left_out == len(blocks) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
