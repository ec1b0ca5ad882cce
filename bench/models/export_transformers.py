#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports models of transformers with random weights, for measuring speed: what their users have, node by node.

    export_transformers.py --model dinov3 --impose-tokens 770,591 -o dinov3_s16.onnx    # DINOv3 ViT-S/16 at 512x512
    export_transformers.py --model eomt -o eomt_s16.onnx                                # EoMT-S at 640x640, 150 classes
    export_transformers.py --model depth_anything --impose-tokens 1029,790 -o depth.onnx  # Depth Anything V2-S at 518x518

--impose-tokens adds the positions of make_segmenter.py to the patches, so that MPM(2,5) leaves exactly so many tokens for any
image. Writes MODEL.json, with the facts that the graph lacks, beside MODEL.onnx. Needs torch and transformers
(bench/baselines/requirements.txt).
"""
import argparse
import pathlib

import torch
import transformers

import make_segmenter  # which adds models/export to the path
import from_transformers
import sidecar

PATCH, DIM, HEADS, BLOCKS = 16, 384, 6, 12


class PatchesWithPositions(torch.nn.Module):
    """The patch convolution of a model, plus a constant for each patch: {B, 3, H, W} -> {B, dim, H / 16, W / 16}."""

    def __init__(self, convolution, positions):
        super().__init__()
        self.convolution, self.weight = convolution, convolution.weight
        self.register_buffer("positions", positions)

    def forward(self, image):
        return self.convolution(image) + self.positions


def imposed_patches(convolution, side, imposed):
    grid = (side // convolution.kernel_size[0],) * 2
    draw = make_segmenter.impose_tokens(imposed, grid, 1, make_segmenter.random_weights(1))
    positions = torch.from_numpy(draw("encoder.pos_embed", (1, 1 + grid[0] * grid[1], DIM))[:, 1:])
    return PatchesWithPositions(convolution, positions.transpose(1, 2).reshape(1, DIM, *grid).contiguous())


def dinov3(side, imposed):
    model = transformers.DINOv3ViTModel(transformers.DINOv3ViTConfig(
        image_size=side, patch_size=PATCH, hidden_size=DIM, intermediate_size=4 * DIM, num_hidden_layers=BLOCKS,
        num_attention_heads=HEADS, num_register_tokens=4))
    if imposed:
        model.embeddings.patch_embeddings = imposed_patches(model.embeddings.patch_embeddings, side, imposed)
    return model, {"last_hidden_state": "features"}


def eomt(side, imposed):
    if imposed:
        raise SystemExit("--impose-tokens is for dinov3")
    transformers.models.eomt.modeling_eomt.requires_backends = lambda *_: None  # scipy, which only its loss needs
    model = transformers.EomtForUniversalSegmentation(transformers.EomtConfig(
        image_size=side, patch_size=PATCH, hidden_size=DIM, num_hidden_layers=BLOCKS, num_attention_heads=HEADS,
        num_blocks=3, num_queries=100, num_upscale_blocks=2, num_labels=150, num_register_tokens=4))
    from_transformers.attend_everywhere(model)
    return model, {"masks_queries_logits": "masks", "class_queries_logits": "classes"}


def depth_anything(side, imposed):
    backbone = transformers.Dinov2Config(image_size=side, patch_size=14, hidden_size=DIM, num_hidden_layers=BLOCKS, num_attention_heads=HEADS,
                                         out_indices=[3, 6, 9, 12], reshape_hidden_states=False, apply_layernorm=True)
    model = transformers.DepthAnythingForDepthEstimation(transformers.DepthAnythingConfig(
        backbone_config=backbone, reassemble_hidden_size=DIM, neck_hidden_sizes=[48, 96, 192, 384], fusion_hidden_size=64, head_hidden_size=32))
    if imposed:
        patches = model.backbone.embeddings.patch_embeddings
        patches.projection = imposed_patches(patches.projection, side, imposed)
    return model, {"predicted_depth": "depth"}


MODELS = {"dinov3": (dinov3, 512), "eomt": (eomt, 640), "depth_anything": (depth_anything, 518)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=MODELS, required=True)
    parser.add_argument("--impose-tokens", type=make_segmenter.token_counts, metavar="N1,N2")
    parser.add_argument("-o", "--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    build, side = MODELS[arguments.model]
    torch.manual_seed(1)
    model, outputs = build(side, arguments.impose_tokens)
    model, names = from_transformers.network(torch, model, outputs), list(outputs.values())
    torch.onnx.export(model, (torch.rand(1, 3, side, side),), str(arguments.out), opset_version=17, dynamo=False,
                      input_names=["image"], output_names=names, dynamic_axes={name: {0: "batch"} for name in ["image", *names]})
    arguments.out.with_suffix(".json").write_text(
        make_segmenter.facts(f"{arguments.model}_s16", side, sidecar.IMAGENET, 150 if arguments.model == "eomt" else 0))


if __name__ == "__main__":
    main()
