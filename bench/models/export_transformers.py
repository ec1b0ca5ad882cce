#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports models of transformers with random weights, for measuring speed: what their users have, node by node.

    export_transformers.py --model dinov3 --impose-tokens 770,591 -o dinov3_s16.onnx    # DINOv3 ViT-S/16 at 512x512
    export_transformers.py --model eomt -o eomt_s16.onnx                                # EoMT-S at 640x640, 150 classes
    export_transformers.py --model eomt_dinov3 -o eomt.onnx   # EoMT on DINOv3 ViT-S/16, the same
    export_transformers.py --model eomt_t16 -o eomt_t16.onnx  # EoMT on DINOv3 ViT-T/16 at 512x512, 171 classes; eomt_t32: patches of 32 px
    export_transformers.py --model depth_anything --impose-tokens 1029,790 -o depth.onnx  # Depth Anything V2-S at 518x518
    export_transformers.py --model dinov3_b, depth_anything_b # the same of ViT-B; depth_anything_b_504x336: of 504x336 px
    export_transformers.py --model dpt -o dpt.onnx            # DPT on ViT-S/16 at 512x512, 150 classes
    export_transformers.py --model upernet -o upernet.onnx    # UPerNet on ViT-S/16 (BEiT without relative positions), the same

--impose-tokens adds the positions of make_segmenter.py to the patches, so that MPM(2,5) leaves exactly so many tokens for any
image. Writes MODEL.json, with the facts that the graph lacks, beside MODEL.onnx. Needs torch and transformers
(bench/baselines/requirements.txt).
"""
import argparse
import functools
import pathlib

import torch
import transformers

import make_segmenter  # which adds models/export to the path
import from_transformers
import sidecar

PATCH, DIM, HEAD_DIM, BLOCKS = 16, 384, 64, 12  # of ViT-S


class PatchesWithPositions(torch.nn.Module):
    """The patch convolution of a model, plus a constant for each patch: {B, 3, H, W} -> {B, dim, rows, columns}."""

    def __init__(self, convolution, positions):
        super().__init__()
        self.convolution, self.weight = convolution, convolution.weight
        self.register_buffer("positions", positions)

    def forward(self, image):
        return self.convolution(image) + self.positions


def imposed_patches(convolution, side, imposed):
    grid = (side // convolution.kernel_size[0],) * 2
    dim = convolution.out_channels
    draw = make_segmenter.impose_tokens(imposed, grid, 1, make_segmenter.random_weights(1))
    positions = torch.from_numpy(draw("encoder_pos_embed", (1, 1 + grid[0] * grid[1], dim))[:, 1:])
    return PatchesWithPositions(convolution, positions.transpose(1, 2).reshape(1, dim, *grid).contiguous())


def with_imposed(model, owner, name, side, imposed):
    """`owner`.`name`: the convolution that makes the patches."""
    if imposed:
        setattr(owner, name, imposed_patches(getattr(owner, name), side, imposed))
    return model


def dinov3(side, imposed, dim=DIM):
    model = transformers.DINOv3ViTModel(transformers.DINOv3ViTConfig(
        image_size=side, patch_size=PATCH, hidden_size=dim, intermediate_size=4 * dim, num_hidden_layers=BLOCKS,
        num_attention_heads=dim // HEAD_DIM, num_register_tokens=4))
    return with_imposed(model, model.embeddings, "patch_embeddings", side, imposed), {"last_hidden_state": "features"}


def eomt(side, imposed):
    if imposed:
        raise SystemExit("--impose-tokens is not for eomt")
    transformers.models.eomt.modeling_eomt.requires_backends = lambda *_: None  # scipy, which only its loss needs
    model = transformers.EomtForUniversalSegmentation(transformers.EomtConfig(
        image_size=side, patch_size=PATCH, hidden_size=DIM, num_hidden_layers=BLOCKS, num_attention_heads=DIM // HEAD_DIM,
        num_blocks=3, num_queries=100, num_upscale_blocks=2, num_labels=150, num_register_tokens=4))
    from_transformers.attend_everywhere(model)
    return model, {"masks_queries_logits": "masks", "class_queries_logits": "classes"}


def eomt_dinov3(side, imposed, patch=PATCH, **changes):
    transformers.models.eomt_dinov3.modeling_eomt_dinov3.requires_backends = lambda *_: None
    settings = dict(hidden_size=DIM, num_queries=100, num_labels=150) | changes
    dim = settings["hidden_size"]
    model = transformers.EomtDinov3ForUniversalSegmentation(transformers.EomtDinov3Config(
        image_size=side, patch_size=patch, intermediate_size=4 * dim, num_hidden_layers=BLOCKS, num_attention_heads=dim // HEAD_DIM,
        num_blocks=3, num_register_tokens=4, num_upscale_blocks={16: 2, 32: 3}[patch],  # masks of a quarter of the image in both
        **settings))
    from_transformers.attend_everywhere(model)
    return (with_imposed(model, model.embeddings, "patch_embeddings", side, imposed),
            {"masks_queries_logits": "masks", "class_queries_logits": "classes"})


def depth_anything(side, imposed, dim=DIM):
    backbone = transformers.Dinov2Config(
        image_size=side, patch_size=14, hidden_size=dim, num_hidden_layers=BLOCKS, num_attention_heads=dim // HEAD_DIM,
        out_indices=[3, 6, 9, 12], reshape_hidden_states=False, apply_layernorm=True)
    model = transformers.DepthAnythingForDepthEstimation(transformers.DepthAnythingConfig(
        backbone_config=backbone, reassemble_hidden_size=dim, neck_hidden_sizes=[dim // 8, dim // 4, dim // 2, dim],
        fusion_hidden_size=dim // 6, head_hidden_size=32))
    embeddings = model.backbone.embeddings  # transformers would take the grid for a square, to resize the positions to their own size
    embeddings.interpolate_pos_encoding = lambda *_: embeddings.position_embeddings
    return (with_imposed(model, model.backbone.embeddings.patch_embeddings, "projection", side, imposed),
            {"predicted_depth": "depth"})


def dpt(side, imposed):
    model = transformers.DPTForSemanticSegmentation(transformers.DPTConfig(
        image_size=side, hidden_size=DIM, intermediate_size=4 * DIM, num_hidden_layers=BLOCKS, num_attention_heads=DIM // HEAD_DIM, num_labels=150))
    return with_imposed(model, model.dpt.embeddings.patch_embeddings, "projection", side, imposed), {"logits": "logits"}


def upernet(side, imposed):
    model = transformers.BeitForSemanticSegmentation(transformers.BeitConfig(
        image_size=side, hidden_size=DIM, intermediate_size=4 * DIM, num_hidden_layers=BLOCKS + 1, num_attention_heads=DIM // HEAD_DIM, num_labels=150,
        out_indices=[4, 7, 10, 13],  # behind blocks 3, 6, 9 and 12: 1 is the input of the first
        pool_scales=[1, 2, 4, 8], use_absolute_position_embeddings=True, use_auxiliary_head=False))
    for block in list(model.modules()):  # torch.onnx exports no pool that adapts to its input
        for name, pool in block.named_children():
            if isinstance(pool, torch.nn.AdaptiveAvgPool2d):
                setattr(block, name, torch.nn.AvgPool2d(side // 2 // PATCH // pool.output_size))
    return with_imposed(model, model.beit.embeddings.patch_embeddings, "projection", side, imposed), {"logits": "logits"}


eomt_tiny = functools.partial(eomt_dinov3, hidden_size=192, num_queries=200, num_labels=171)

# What builds it, the side of its image or its height and width, and its classes.
MODELS = {"dinov3": (dinov3, 512, 0), "dinov3_b": (functools.partial(dinov3, dim=768), 512, 0), "eomt": (eomt, 640, 150),
          "eomt_dinov3": (eomt_dinov3, 640, 150), "eomt_t16": (eomt_tiny, 512, 171), "eomt_t32": (functools.partial(eomt_tiny, patch=32), 512, 171),
          "depth_anything": (depth_anything, 518, 0), "depth_anything_b": (functools.partial(depth_anything, dim=768), 518, 0),
          "depth_anything_b_504x336": (functools.partial(depth_anything, dim=768), (336, 504), 0),
          "dpt": (dpt, 512, 150), "upernet": (upernet, 512, 150)}


def spread(model):
    """Weights by their fan-in. As transformers begins, results hardly depend on the image: one class, or depths of nearly 0."""
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, (torch.nn.Linear, torch.nn.Conv2d, torch.nn.ConvTranspose2d)):
                turned = isinstance(module, torch.nn.ConvTranspose2d)  # {in, out, rows, columns}
                fan_in = module.weight.shape[0] if turned else module.weight[0].numel()
                module.weight.normal_(std=fan_in**-0.5)
                if module.weight.shape[0] == 1:  # depths, which end with a ReLU
                    module.weight.abs_()
            elif isinstance(module, torch.nn.Embedding):  # queries
                module.weight.normal_()


def network(name, imposed=None, side=None, is_spread=False):
    """The module from an image to its outputs, their names, and the side of its image. Always with the same weights."""
    build, usual, _ = MODELS[name]
    torch.manual_seed(1)
    model, outputs = build(side or usual, imposed)
    if is_spread:
        spread(model)
    return from_transformers.network(torch, model, outputs), list(outputs.values()), side or usual


def export(path, name, imposed=None, side=None, is_spread=False):
    """Writes `path`, and beside it MODEL.json."""
    model, outputs, side = network(name, imposed, side, is_spread)
    size = side if isinstance(side, tuple) else (side, side)
    torch.onnx.export(model, (torch.rand(1, 3, *size),), str(path), opset_version=17, dynamo=False,
                      input_names=["image"], output_names=outputs)
    path.with_suffix(".json").write_text(make_segmenter.facts(path.stem, size, sidecar.IMAGENET, MODELS[name][2]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=MODELS, required=True)
    parser.add_argument("--impose-tokens", type=make_segmenter.token_counts, metavar="N1,N2")
    parser.add_argument("-o", "--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    export(arguments.out, arguments.model, arguments.impose_tokens)


if __name__ == "__main__":
    main()
