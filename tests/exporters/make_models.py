#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small random-weight models of several libraries as ONNX files, with reference outputs.

    make_models.py --out tests/data        the selection that is kept in the tree
    make_models.py --out DIR --suite       these and more; writes the tables of docs/models.md

MPM_EXPORTED_MODELS=DIR build/bin/onnx_test --gtest_filter='Data/ExporterModel.*' tests the files of any folder.

NAME.reference.json has a seeded input of NAME.onnx and what ONNX Runtime computes for it, checked here against PyTorch. models.json lists
the files for the tests, README.md for readers. The same versions write the same bytes.
"""

import argparse
import base64
import json
import logging
import os
import pathlib
import re
import warnings
import zlib
from dataclasses import dataclass, field, replace

os.environ["HF_HUB_OFFLINE"] = "1"
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

import numpy as np
import onnx
import onnxruntime
import timm
import torch
import torchvision
import transformers
from onnx import TensorProto, helper, numpy_helper
from timm.layers import set_fused_attn
from torch import nn

import adapter
import depth_anything3
import segmenter

IMAGE, PATCH, DIM, DEPTH, HEADS, CLASSES = (32, 48), 8, 16, 3, 2, 10
SEGMENTER_IMAGE, SEGMENTER_CLASSES = (32, 64), 4
LARGEST_FILE = 400 * 1024
INPUT_STEP = 1 / 32


# What each source looks like. `fused`: scaled_dot_product_attention rather than softmax between two matmuls.


def timm_vit(name, fused, **changes):
    set_fused_attn(fused)
    settings = dict(img_size=IMAGE, patch_size=PATCH, embed_dim=DIM, depth=DEPTH, num_heads=HEADS, mlp_ratio=2,
                    num_classes=CLASSES)
    return timm.create_model(name, pretrained=False, **{**settings, **changes})


def hf_settings(fused, **changes):
    return {**dict(hidden_size=DIM, num_hidden_layers=DEPTH, num_attention_heads=HEADS, intermediate_size=2 * DIM,
                   mlp_ratio=2, image_size=IMAGE, patch_size=PATCH, num_labels=CLASSES,
                   attn_implementation="sdpa" if fused else "eager"), **changes}


class Fields(nn.Module):
    """Returns chosen fields of a Hugging Face output, so that both exporters see plain tensors."""

    def __init__(self, model, *fields):
        super().__init__()
        self.model, self.fields = model, fields

    def forward(self, x):
        result = self.model(x)
        return tuple(getattr(result, field) for field in self.fields)


class HalfInside(nn.Module):
    """float32 in and out, float16 inside: how people export a half-precision model."""

    def __init__(self, model):
        super().__init__()
        self.model = model.half()

    def forward(self, x):
        return self.model(x.half()).float()


class PostNorm(nn.Module):
    """The 2017 transformer on patches: LayerNorm after each residual sum."""

    def __init__(self):
        super().__init__()
        self.patch_embed = nn.Conv2d(3, DIM, PATCH, stride=PATCH)
        layer = nn.TransformerEncoderLayer(DIM, HEADS, 2 * DIM, activation="gelu", batch_first=True, norm_first=False)
        self.encoder = nn.TransformerEncoder(layer, DEPTH, enable_nested_tensor=False)
        self.head = nn.Linear(DIM, CLASSES)

    def forward(self, x):
        return self.head(self.encoder(self.patch_embed(x).flatten(2).transpose(1, 2)).mean(dim=1))


def torchvision_vit(fused):
    model = torchvision.models.VisionTransformer(image_size=32, patch_size=PATCH, num_layers=DEPTH, num_heads=HEADS,
                                                 hidden_dim=DIM, mlp_dim=2 * DIM, num_classes=CLASSES)
    nn.init.normal_(model.heads.head.weight)  # zeros otherwise
    return model


def hf_dinov2(fused, **changes):
    return transformers.Dinov2Config(**hf_settings(fused, image_size=32, **changes))


def hf_dinov3(fused, gated=False):
    return Fields(transformers.DINOv3ViTModel(transformers.DINOv3ViTConfig(**hf_settings(
        fused, num_register_tokens=2, use_gated_mlp=gated, hidden_act="silu" if gated else "gelu"))), "last_hidden_state")


def hf_aimv2(fused):
    return Fields(transformers.Aimv2VisionModel(transformers.Aimv2VisionConfig(**hf_settings(fused, image_size=32))),
                  "last_hidden_state")


def segmenter_encoder(**changes):
    return segmenter.Encoder(SEGMENTER_IMAGE, PATCH, DIM, DEPTH, HEADS, **changes)


def segmenter_mask(fused=False, labels=False):
    return segmenter.Segmenter(segmenter_encoder(), segmenter.MaskTransformer(DIM, HEADS, SEGMENTER_CLASSES), PATCH, labels)


def segmenter_linear(fused=False, labels=False):
    return segmenter.Segmenter(segmenter_encoder(), segmenter.LinearHead(DIM, SEGMENTER_CLASSES), PATCH, labels)


def segmenter_head_scale(fused=False):
    return segmenter.Segmenter(segmenter_encoder(head_scales=("logits", "q")), segmenter.LinearHead(DIM, SEGMENTER_CLASSES), PATCH)


def dpt(fused=False):
    return segmenter.Dpt(segmenter_encoder(), taps=[0, 1, 2], features=16)


def hf_dpt(fused, **changes):
    return transformers.DPTConfig(**hf_settings(
        fused, num_hidden_layers=4, image_size=32, backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[4, 4, 4, 4],
        fusion_hidden_size=6, is_hybrid=False, use_auxiliary_head=False, **changes))


def hf_depth_anything(fused):
    backbone = hf_dinov2(fused, num_hidden_layers=4, out_indices=[1, 2, 3, 4], reshape_hidden_states=False)
    return Fields(transformers.DepthAnythingForDepthEstimation(transformers.DepthAnythingConfig(
        backbone_config=backbone, patch_size=PATCH, reassemble_hidden_size=DIM, neck_hidden_sizes=[4, 4, 6, 8],
        fusion_hidden_size=6, head_hidden_size=4)), "predicted_depth")


def depth_anything_3(fused, start=None):
    encoder = depth_anything3.Encoder(IMAGE, PATCH, DIM, 4, HEADS, start)
    return depth_anything3.DepthAnything3(encoder, taps=[1, 3])


def hf_upernet(fused, image, **positions):
    return Fields(transformers.BeitForSemanticSegmentation(transformers.BeitConfig(**hf_settings(
        fused, num_hidden_layers=4, image_size=image, use_mean_pooling=False, out_indices=[1, 2, 3, 4], pool_scales=[1, 2, 3],
        use_auxiliary_head=False, num_labels=3, **positions))), "logits")


def hf_yolos(fused):
    return Fields(transformers.YolosForObjectDetection(transformers.YolosConfig(**hf_settings(
        fused, num_hidden_layers=4, image_size=list(IMAGE), num_detection_tokens=5))), "logits", "pred_boxes")


def hf_rf_detr(fused, kind="ObjectDetection", *fields):
    backbone = transformers.models.rf_detr.configuration_rf_detr.RfDetrDinov2Config(
        hidden_size=DIM, num_hidden_layers=4, num_attention_heads=HEADS, mlp_ratio=2, image_size=32, patch_size=PATCH, num_windows=2,
        out_indices=[2, 4], attn_implementation="sdpa" if fused else "eager")
    model = getattr(transformers, "RfDetrFor" + kind)(transformers.RfDetrConfig(
        backbone_config=backbone, d_model=DIM, num_queries=6, decoder_layers=2, decoder_ffn_dim=DIM, group_detr=1, num_labels=4,
        decoder_self_attention_heads=2, decoder_cross_attention_heads=2, decoder_n_points=2))
    return Fields(model, *fields or ("logits", "pred_boxes"))


def hf_eomt(fused, kind="Eomt"):
    for family in (transformers.models.eomt.modeling_eomt, transformers.models.eomt_dinov3.modeling_eomt_dinov3):
        family.requires_backends = lambda *_: None  # scipy, which only their loss needs
    settings = hf_settings(fused, num_hidden_layers=4, image_size=32, num_blocks=2, num_queries=6, num_upscale_blocks=2,
                           num_labels=4, num_register_tokens=2)
    if kind == "EomtDinov3":
        del settings["mlp_ratio"]
    config = getattr(transformers, kind + "Config")(**settings)
    model = getattr(transformers, kind + "ForUniversalSegmentation")(config)
    del model.attn_mask_probs  # a buffer, on which the exported graph would depend
    model.attn_mask_probs = (0.0,) * 2
    return Fields(model, "masks_queries_logits", "class_queries_logits")


ADAPTED = dict(hidden_size=8, num_hidden_layers=3, intermediate_size=16)


def dinov3_adapter(fused, image=(32, 32), head=None):
    backbone = transformers.DINOv3ViTModel(transformers.DINOv3ViTConfig(**hf_settings(fused, num_register_tokens=2, **ADAPTED)))
    parts = adapter.Adapter(8, HEADS, stages=2, width=2, image=image, grid=(image[0] // PATCH, image[1] // PATCH))
    return adapter.Dinov3Adapter(backbone, parts, head or adapter.SumHead(8, SEGMENTER_CLASSES), taps=[1, 2])


def dinov3_mask2former(fused):
    return dinov3_adapter(fused, (32, 64), adapter.Mask2FormerHead(
        8, feature_size=32, mask_feature_size=8, hidden_dim=32, encoder_layers=1, decoder_layers=4, num_attention_heads=2,
        encoder_feedforward_dim=16, dim_feedforward=16, num_queries=5, num_labels=SEGMENTER_CLASSES))


def vit_adapter(fused, **changes):
    set_fused_attn(fused)
    blocks = [timm.models.vision_transformer.Block(8, HEADS, mlp_ratio=2, qkv_bias=True) for _ in range(4)]
    image = (32, 64)
    parts = adapter.Adapter(8, HEADS, stages=3, width=2, image=image, grid=(image[0] // PATCH, image[1] // PATCH), injects=True)
    return adapter.VitAdapter(8, [blocks[:2], blocks[2:3], blocks[3:]], parts, adapter.SumHead(8, SEGMENTER_CLASSES), PATCH,
                              **changes)


GRID = (24, 40)  # of 3x5 patches: windows of 2x2 are padded on both sides
WINDOWS = dict(num_hidden_layers=2, hidden_size=DIM, num_attention_heads=HEADS, patch_size=PATCH, window_size=2)


def samvit(fused, name="samvit_base_patch16"):
    return timm_vit(name, fused, img_size=GRID, depth=2, mlp_ratio=1, window_size=2, global_attn_indexes=(1,), neck_chans=8)


def hf_sam(fused):
    return Fields(transformers.SamVisionModel(transformers.SamVisionConfig(
        **WINDOWS, mlp_dim=2 * DIM, output_channels=8, image_size=24, global_attn_indexes=[1],
        attn_implementation="sdpa" if fused else "eager")), "last_hidden_state")


def hf_vitdet(fused):
    return Fields(transformers.VitDetModel(transformers.VitDetConfig(
        **WINDOWS, mlp_ratio=2, image_size=list(GRID), pretrain_image_size=32, window_block_indices=[0],
        use_relative_position_embeddings=True)), "last_hidden_state")


@dataclass
class Source:
    """One architecture and what the converter should find in it."""

    what: str
    build: callable
    head: str = "classifier"
    special: int = 1
    blocks: int = DEPTH
    image: tuple = IMAGE
    outputs: tuple = ("logits",)
    refuse: str = ""  # why it cannot be converted; "" when it can
    merges: bool = True


SOURCES = {
    "timm_vit": Source("timm vit_small_patch16_224", lambda f: timm_vit("vit_small_patch16_224", f)),
    "timm_vit_gap": Source("timm vit_small_patch16_224, mean-pooled, no class token", special=0, build=lambda f: timm_vit(
        "vit_small_patch16_224", f, class_token=False, global_pool="avg")),
    "timm_vit_nobias": Source("timm vit_small_patch16_224, qkv without bias", lambda f: timm_vit(
        "vit_small_patch16_224", f, qkv_bias=False)),
    "timm_vit_qknorm": Source("timm vit_small_patch16_224 with normalised q and k", lambda f: timm_vit(
        "vit_small_patch16_224", f, qk_norm=True)),
    "timm_deit": Source("timm deit_small_patch16_224", lambda f: timm_vit("deit_small_patch16_224", f)),
    "timm_deit3": Source("timm deit3_small_patch16_224: LayerScale, positions added before the class token",
                         lambda f: timm_vit("deit3_small_patch16_224", f)),
    "timm_deit_distilled": Source("timm deit_small_distilled_patch16_224: mean of two classifiers", special=2, head="other",
                                  build=lambda f: timm_vit("deit_small_distilled_patch16_224", f)),
    "timm_dinov2_reg4": Source("timm vit_small_patch14_reg4_dinov2, all tokens", special=5, head="features",
                               outputs=("features",), build=lambda f: timm_vit(
                                   "vit_small_patch14_reg4_dinov2", f, global_pool="", num_classes=0)),
    "timm_clip_quickgelu": Source("timm vit_base_patch16_clip_quickgelu_224: norm before the blocks, quick GELU",
                                  lambda f: timm_vit("vit_base_patch16_clip_quickgelu_224", f)),
    "timm_eva": Source("timm eva_giant_patch14_224 (no rotary embedding)", build=lambda f: timm_vit(
        "eva_giant_patch14_224", f)),
    "timm_eva_swiglu": Source("timm eva_giant_patch14_224 with SwiGLU and norm inside the MLP", build=lambda f: timm_vit(
        "eva_giant_patch14_224", f, swiglu_mlp=True, scale_mlp=True, qkv_fused=False)),
    "timm_intern": Source("timm vit_intern300m_patch14_448: InternViT", lambda f: timm_vit("vit_intern300m_patch14_448", f)),
    "timm_vit_dynamic": Source("timm vit_small_patch16_224, dynamic_img_size: positions resized in the graph",
                               lambda f: timm_vit("vit_small_patch16_224", f, dynamic_img_size=True)),
    "hf_vit": Source("transformers ViTForImageClassification", build=lambda f: Fields(
        transformers.ViTForImageClassification(transformers.ViTConfig(**hf_settings(f))), "logits")),
    "hf_vit_features": Source("transformers ViTModel", head="features", outputs=("last_hidden_state",),
                              build=lambda f: Fields(transformers.ViTModel(
                                  transformers.ViTConfig(**hf_settings(f)), add_pooling_layer=False), "last_hidden_state")),
    "hf_deit": Source("transformers DeiTModel", special=2, head="features", outputs=("last_hidden_state",),
                      build=lambda f: Fields(transformers.DeiTModel(
                          transformers.DeiTConfig(**hf_settings(f)), add_pooling_layer=False), "last_hidden_state")),
    "hf_dinov2": Source("transformers Dinov2Model", head="features", image=(32, 32), outputs=("last_hidden_state",),
                        build=lambda f: Fields(transformers.Dinov2Model(hf_dinov2(f)), "last_hidden_state")),
    "hf_dinov2_classifier": Source("transformers Dinov2ForImageClassification: class token beside the mean patch",
                                   head="other", image=(32, 32), build=lambda f: Fields(
                                       transformers.Dinov2ForImageClassification(hf_dinov2(f)), "logits")),
    "hf_clip": Source("transformers CLIPVisionModel: norm before the blocks, quick GELU", head="features",
                      image=(32, 32), outputs=("last_hidden_state", "pooler_output"), build=lambda f: Fields(
                          transformers.CLIPVisionModel(transformers.CLIPVisionConfig(**hf_settings(f, image_size=32))),
                          "last_hidden_state", "pooler_output")),
    "hf_dinov3": Source("transformers DINOv3ViTModel: rotary positions, registers", special=3, head="features",
                        image=(40, 48), outputs=("last_hidden_state",), build=hf_dinov3),
    "hf_dinov3_gated": Source("transformers DINOv3ViTModel with a gated MLP", special=3, head="features",
                              outputs=("last_hidden_state",), build=lambda f: hf_dinov3(f, True)),
    "timm_dinov3": Source("timm vit_small_patch16_dinov3, all tokens", special=5, head="features", outputs=("features",),
                          build=lambda f: timm_vit("vit_small_patch16_dinov3", f, global_pool="", num_classes=0)),
    "timm_eva02": Source("timm eva02_base_patch14_224: rotary positions of neighbouring columns, SwiGLU, norm inside the MLP",
                         build=lambda f: timm_vit("eva02_base_patch14_224", f)),
    "timm_eva02_dynamic": Source("timm eva02_base_patch14_224, dynamic_img_size: positions resized, angles computed in the graph",
                                 image=(48, 32), build=lambda f: timm_vit("eva02_base_patch14_224", f, dynamic_img_size=True)),
    "timm_eva02_clip": Source("timm eva02_base_patch16_clip_224: norm inside attention too",
                              build=lambda f: timm_vit("eva02_base_patch16_clip_224", f)),
    "timm_pe_spatial": Source("timm vit_pe_spatial_tiny_patch16_512: norm before the blocks, columns before rows",
                              build=lambda f: timm_vit("vit_pe_spatial_tiny_patch16_512", f)),
    "timm_rope_mixed": Source("timm vit_small_patch16_rope_mixed_224: rotary positions of each block and head",
                              build=lambda f: timm_vit("vit_small_patch16_rope_mixed_224", f)),
    "hf_aimv2": Source("transformers Aimv2VisionModel: RMSNorm, SwiGLU", special=0, head="features", image=(32, 32),
                       outputs=("last_hidden_state",), build=hf_aimv2),
    "timm_aimv2": Source("timm aimv2_large_patch14_224: RMSNorm, SwiGLU", special=0,
                         build=lambda f: timm_vit("aimv2_large_patch14_224", f)),
    "torchvision_vit": Source("torchvision VisionTransformer", torchvision_vit, image=(32, 32)),
    "segmenter_mask": Source("Segmenter, mask transformer, logits", segmenter_mask, head="mask_transformer",
                             image=SEGMENTER_IMAGE),
    "segmenter_linear": Source("Segmenter, linear head, logits", segmenter_linear, head="linear", image=SEGMENTER_IMAGE),
    "segmenter_linear_labels": Source("Segmenter, linear head, argmax in the graph", lambda f: segmenter_linear(labels=True),
                                      head="linear", image=SEGMENTER_IMAGE, outputs=("labels",)),
    "segmenter_head_scale": Source("Segmenter, linear head, a learned scale for each head of attention", segmenter_head_scale,
                                   head="linear", image=SEGMENTER_IMAGE),
    "samvit": Source("timm samvit_base_patch16: SAM, with padded windows and relative positions", samvit, head="other",
                     special=0, image=GRID, blocks=2, merges=False),
    "samvit_224": Source("timm samvit_base_patch16_224", lambda f: samvit(f, "samvit_base_patch16_224"), head="other",
                         special=0, image=GRID, blocks=2, merges=False),
    "hf_sam": Source("transformers SamVisionModel", hf_sam, head="other", special=0, image=(24, 24), blocks=2,
                     outputs=("last_hidden_state",), merges=False),
    "hf_vitdet": Source("transformers VitDetModel: all positions resized from other grids", hf_vitdet, head="other", special=0,
                        image=GRID[::-1], blocks=2, outputs=("last_hidden_state",), merges=False),
    "dpt": Source("DPT-like: taps after every block, convolutions on the grid", dpt, head="other", image=SEGMENTER_IMAGE,
                  outputs=("depth",)),
    "hf_dpt_depth": Source("transformers DPTForDepthEstimation: the class token joined to every patch", head="other",
                           blocks=4, image=(32, 32), outputs=("predicted_depth",),
                           build=lambda f: Fields(transformers.DPTForDepthEstimation(hf_dpt(f)), "predicted_depth")),
    "hf_depth_anything": Source("transformers DepthAnythingForDepthEstimation: Depth Anything v2", hf_depth_anything,
                                head="other", blocks=4, image=(32, 32), outputs=("predicted_depth",)),
    "da3_mono": Source("Depth Anything 3, mono and metric: DINOv2, depth and sky", depth_anything_3, head="other", blocks=4,
                       outputs=("depth", "sky")),
    "da3": Source("Depth Anything 3, small and base: q and k normalised and rotated from block 2 on, a camera token, features of "
                  "two blocks side by side", lambda f: depth_anything_3(f, 2), head="other", blocks=4,
                  outputs=("depth", "depth_conf")),
    "hf_dpt_seg": Source("transformers DPTForSemanticSegmentation", head="other", blocks=4, image=(32, 32),
                         build=lambda f: Fields(transformers.DPTForSemanticSegmentation(hf_dpt(f, num_labels=3)), "logits")),
    "hf_upernet": Source("transformers BeitForSemanticSegmentation without relative positions: UPerNet", head="other",
                         image=(48, 48),
                         build=lambda f: hf_upernet(f, 48, use_absolute_position_embeddings=True)),
    "hf_rf_detr": Source("transformers RfDetrForObjectDetection: windows with a class token each, a deformable decoder", hf_rf_detr,
                         head="other", special=4, blocks=4, image=(32, 32), outputs=("logits", "boxes"), merges=False),
    "hf_rf_detr_seg": Source(
        "transformers RfDetrForInstanceSegmentation: RF-DETR with masks, outputs named as its authors do", head="box_queries",
        special=4, blocks=4, image=(32, 32), outputs=("dets", "labels", "masks"), merges=False,
        build=lambda f: hf_rf_detr(f, "InstanceSegmentation", "pred_boxes", "logits", "pred_masks")),
    "hf_eomt": Source("transformers EomtForUniversalSegmentation: queries join in front of the tokens before block 2",
                      hf_eomt, head="mask_queries", special=3, blocks=4, image=(32, 32),
                      outputs=("masks_queries_logits", "class_queries_logits")),
    "hf_eomt_dinov3": Source(
        "transformers EomtDinov3ForUniversalSegmentation: EoMT with rotary positions", head="mask_queries", special=3, blocks=4,
        image=(32, 32), outputs=("masks_queries_logits", "class_queries_logits"),
        build=lambda f: hf_eomt(f, "EomtDinov3")),
    "hf_siglip": Source("transformers SiglipVisionModel: attention pooling beside the features", head="features", special=0,
                        image=(32, 32), outputs=("last_hidden_state", "pooler_output"), build=lambda f: Fields(
                            transformers.SiglipVisionModel(transformers.SiglipVisionConfig(**hf_settings(f, image_size=32))),
                            "last_hidden_state", "pooler_output")),
    "timm_map": Source("timm vit_base_patch16_siglip_224: attention pooling before the classifier", special=0,
                       build=lambda f: timm_vit("vit_base_patch16_siglip_224", f)),
    "hf_vitpose": Source("transformers VitPoseForPoseEstimation: patches with padding", head="other", special=0,
                         outputs=("heatmaps",), build=lambda f: Fields(
                             transformers.VitPoseForPoseEstimation(transformers.VitPoseConfig(
                                 backbone_config=transformers.VitPoseBackboneConfig(**hf_settings(
                                     f, image_size=list(IMAGE), patch_size=[PATCH, PATCH], out_indices=[DEPTH])),
                                 num_labels=4, use_simple_decoder=True)), "heatmaps")),
    "hf_yolos": Source("transformers YolosForObjectDetection: detection tokens behind the patches, positions added again "
                       "between blocks", hf_yolos, head="other", special=6, blocks=4, outputs=("logits", "pred_boxes")),
    "dinov3_adapter": Source("DINOv3 with a ViT-Adapter: extractors only", dinov3_adapter, head="other", special=3,
                             image=(32, 32)),
    "dinov3_mask2former": Source("DINOv3 with a ViT-Adapter and the head of Mask2Former", dinov3_mask2former, head="other",
                                 special=3, image=(32, 64),
                                 outputs=("masks_queries_logits", "class_queries_logits")),
    "vit_adapter": Source("ViT-Adapter: injectors and extractors around the stages of a ViT", vit_adapter, head="other",
                          blocks=4, image=(32, 64)),
    "vit_adapter_patches": Source("ViT-Adapter, no class token", lambda f: vit_adapter(f, class_token=False), head="other",
                                  special=0, blocks=4, image=(32, 64)),
    "swin": Source("timm Swin", refuse="hierarchical: windows, and a grid that shrinks", image=(32, 32), blocks=0,
                   build=lambda f: timm.models.SwinTransformer(img_size=32, patch_size=4, num_classes=CLASSES, embed_dim=8,
                                                               depths=(1, 2), num_heads=(1, 2), window_size=4)),
    "pvt": Source("timm PVT v2", refuse="hierarchical: a grid that shrinks", image=(64, 64), blocks=0,
                  build=lambda f: timm.models.PyramidVisionTransformerV2(
                      num_classes=CLASSES, depths=(1, 1, 1, 1), embed_dims=(4, 8, 8, 16), num_heads=(1, 2, 2, 2),
                      mlp_ratios=(2, 2, 2, 2), sr_ratios=(4, 2, 2, 1))),
    "resnet": Source("timm ResNet", refuse="no transformer: convolutions", image=(64, 64), blocks=0,
                     build=lambda f: timm.models.ResNet(timm.models.resnet.BasicBlock, (1, 1, 1, 1), num_classes=CLASSES,
                                                        stem_width=4, channels=(4, 8, 8, 16))),
    "post_norm": Source("torch.nn.TransformerEncoder, norm_first=False", lambda f: PostNorm(), special=0,
                        refuse="post-norm: LayerNorm after the residual sum"),
    "eva02_rope": Source("timm eva02_tiny_patch14_224",
                         build=lambda f: timm_vit("eva02_tiny_patch14_224", f)),
    "beit": Source("timm beit_base_patch16_224: relative position bias", merges=False,
                   build=lambda f: timm_vit("beit_base_patch16_224", f)),
    "hf_beit_seg": Source("transformers BeitForSemanticSegmentation: relative position bias, UPerNet", head="other",
                          image=(32, 64), merges=False, build=lambda f: hf_upernet(f, [32, 64], use_relative_position_bias=True)),
}


@dataclass
class Spec:
    """One file: a source through one exporter."""

    source: str
    exporter: str  # torchscript or dynamo
    opset: int
    dynamic: tuple = ()  # axes that are symbolic: batch, size
    batch: int = 1
    variant: str = ""  # part of the name: what is done to the file afterwards, or a batch that is fixed in it
    fused: bool = True
    kept: bool = True  # in tests/data

    @property
    def name(self):
        short = {"torchscript": "ts", "dynamo": "dynamo"}[self.exporter]
        return "_".join(filter(None, (self.source, self.variant, f"{short}{self.opset}")))


SUITE = [
    Spec("timm_vit", "torchscript", 11, fused=False, kept=False),
    Spec("timm_vit", "torchscript", 17, dynamic=("batch",), batch=2),
    Spec("timm_vit", "dynamo", 18, variant="node_metadata", kept=False),
    Spec("timm_vit", "dynamo", 20, dynamic=("batch",), batch=2, kept=False),
    Spec("timm_vit", "dynamo", 23),
    Spec("timm_vit", "torchscript", 17, variant="batch2", batch=2),
    Spec("timm_vit", "torchscript", 13, variant="int8_weights", fused=False),
    Spec("timm_vit_gap", "torchscript", 15),
    Spec("timm_vit_nobias", "torchscript", 16, fused=False, kept=False),
    Spec("timm_vit_qknorm", "dynamo", 18),
    Spec("timm_deit", "torchscript", 13, fused=False, dynamic=("batch",), kept=False),
    Spec("timm_deit3", "torchscript", 20),
    Spec("timm_deit_distilled", "torchscript", 14, dynamic=("batch",), batch=2, kept=False),
    Spec("timm_deit_distilled", "dynamo", 19),
    Spec("timm_dinov2_reg4", "torchscript", 16, kept=False),
    Spec("timm_dinov2_reg4", "dynamo", 18, dynamic=("batch",)),
    Spec("timm_clip_quickgelu", "torchscript", 12, fused=False, kept=False),
    Spec("timm_clip_quickgelu", "dynamo", 18),
    Spec("timm_eva", "torchscript", 14, fused=False, kept=False),
    Spec("timm_eva", "dynamo", 20),
    Spec("timm_eva_swiglu", "torchscript", 17, fused=False),
    Spec("timm_intern", "dynamo", 18),
    Spec("timm_vit_dynamic", "torchscript", 17, dynamic=("batch", "size")),
    Spec("hf_vit", "torchscript", 14, fused=False, dynamic=("batch", "size"), kept=False),
    Spec("hf_vit", "dynamo", 18, dynamic=("batch",), batch=2),
    Spec("hf_vit_features", "torchscript", 11, fused=False),
    Spec("hf_deit", "torchscript", 17, kept=False),
    Spec("hf_deit", "dynamo", 20),
    Spec("hf_dinov2", "torchscript", 15, kept=False),
    Spec("hf_dinov2", "dynamo", 18, variant="int8_weights"),
    Spec("hf_dinov2_classifier", "dynamo", 18),
    Spec("hf_clip", "torchscript", 17, dynamic=("batch",)),
    Spec("hf_clip", "dynamo", 18, kept=False),
    Spec("hf_dinov3", "torchscript", 17, dynamic=("batch", "size"), batch=3),
    Spec("hf_dinov3", "dynamo", 18),
    Spec("hf_dinov3_gated", "torchscript", 17),
    Spec("timm_dinov3", "torchscript", 17, fused=False),
    Spec("timm_dinov3", "dynamo", 18, kept=False),
    Spec("timm_eva02", "torchscript", 17, fused=False),
    Spec("timm_eva02", "dynamo", 18, kept=False),
    Spec("timm_eva02_dynamic", "dynamo", 18, dynamic=("batch", "size"), kept=False),
    Spec("timm_eva02_clip", "torchscript", 17, fused=False, kept=False),
    Spec("timm_pe_spatial", "torchscript", 17, fused=False, kept=False),
    Spec("timm_rope_mixed", "dynamo", 18),
    Spec("hf_aimv2", "torchscript", 17, kept=False),
    Spec("hf_aimv2", "dynamo", 18, kept=False),
    Spec("timm_aimv2", "dynamo", 18),
    Spec("torchvision_vit", "torchscript", 17, dynamic=("batch",), kept=False),
    Spec("torchvision_vit", "torchscript", 17, variant="batch2", batch=2, fused=False, kept=False),
    Spec("torchvision_vit", "dynamo", 18),
    Spec("segmenter_mask", "torchscript", 17, dynamic=("batch",), batch=2),
    Spec("segmenter_mask", "torchscript", 13, variant="fp16_weights", kept=False),
    Spec("segmenter_mask", "dynamo", 18, kept=False),
    Spec("segmenter_mask", "dynamo", 18, variant="batch3", batch=3, kept=False),
    Spec("segmenter_linear", "torchscript", 12),
    Spec("segmenter_linear", "torchscript", 17, variant="external_data"),
    Spec("segmenter_linear", "torchscript", 17, variant="half", kept=False),
    Spec("segmenter_linear_labels", "dynamo", 20),
    Spec("segmenter_head_scale", "torchscript", 17, kept=False),
    Spec("segmenter_head_scale", "dynamo", 18),
    Spec("dpt", "torchscript", 16),
    Spec("dpt", "dynamo", 18, kept=False),
    Spec("hf_dpt_depth", "torchscript", 17, dynamic=("batch",)),
    Spec("hf_dpt_depth", "dynamo", 18, kept=False),
    Spec("hf_dpt_seg", "dynamo", 18),
    Spec("hf_depth_anything", "dynamo", 18),
    Spec("hf_upernet", "dynamo", 18),
    Spec("da3_mono", "torchscript", 17, dynamic=("batch",), batch=2, kept=False),
    Spec("da3_mono", "dynamo", 18, kept=False),
    Spec("da3", "torchscript", 17, dynamic=("batch",), batch=2),
    Spec("da3", "dynamo", 18, kept=False),
    Spec("hf_rf_detr", "dynamo", 18),
    Spec("hf_rf_detr_seg", "dynamo", 18),
    Spec("hf_eomt", "torchscript", 17, dynamic=("batch",), batch=3),
    Spec("hf_eomt", "dynamo", 18, kept=False),
    Spec("hf_eomt_dinov3", "torchscript", 17, dynamic=("batch",), batch=3, kept=False),
    Spec("hf_eomt_dinov3", "dynamo", 18, kept=False),
    Spec("hf_siglip", "torchscript", 17, dynamic=("batch",), batch=3, kept=False),
    Spec("timm_map", "torchscript", 13, fused=False, kept=False),
    Spec("timm_map", "dynamo", 18),
    Spec("hf_vitpose", "torchscript", 17, dynamic=("batch",)),
    Spec("hf_vitpose", "dynamo", 18, kept=False),
    Spec("hf_yolos", "torchscript", 17, dynamic=("batch",), batch=3, kept=False),
    Spec("hf_yolos", "dynamo", 18),
    Spec("vit_adapter", "dynamo", 18, variant="no_shapes"),
    Spec("vit_adapter_patches", "torchscript", 17, dynamic=("batch",), batch=3, kept=False),
    Spec("dinov3_adapter", "torchscript", 17, dynamic=("batch",), batch=3, kept=False),
    Spec("dinov3_adapter", "dynamo", 18, kept=False),
    Spec("dinov3_mask2former", "dynamo", 18, kept=False),
    Spec("beit", "torchscript", 17, fused=False),
    Spec("beit", "dynamo", 23, kept=False),
    Spec("hf_beit_seg", "dynamo", 18, dynamic=("batch",), batch=3, kept=False),
    Spec("samvit", "torchscript", 17, dynamic=("batch",), batch=3),
    Spec("samvit_224", "dynamo", 18, fused=False),
    Spec("hf_sam", "torchscript", 17, variant="batch2", batch=2, fused=False, kept=False),
    Spec("hf_sam", "dynamo", 18, dynamic=("batch",), batch=3),
    Spec("hf_vitdet", "torchscript", 17, kept=False),
    Spec("hf_vitdet", "dynamo", 18, dynamic=("batch",), batch=3),
    Spec("swin", "torchscript", 17),
    Spec("pvt", "torchscript", 17, kept=False),
    Spec("resnet", "torchscript", 13),
    Spec("post_norm", "torchscript", 17),
    Spec("eva02_rope", "torchscript", 17, fused=False, kept=False),
]
KEPT = [spec for spec in SUITE if spec.kept]  # at most 6 MB: each part of a plain ViT once, each exporter


def diversify(model, generator):
    """Weights whose outputs depend on every token: fresh models start near-constant, and would hide a converter's faults."""

    def normal(shape, std):
        return torch.randn(shape, generator=generator) * std

    with torch.no_grad():
        for name, parameter in model.named_parameters():
            last = name.split(".")[-1]
            if any(word in name for word in ("pos_embed", "position_embedding", "token", "class_embedding", "cls_emb", "reg_")):
                value = normal(parameter.shape, 0.5)
            elif "lambda" in last or "gamma" in last:
                value = 0.5 + 0.5 * torch.rand(parameter.shape, generator=generator)
            elif last == "relative_position_bias_table":
                value = normal(parameter.shape, 0.5)
            elif parameter.ndim >= 2:
                fan_in = parameter.shape[1:].numel() if last != "proj_patch" and last != "proj_classes" else parameter.shape[0]
                value = normal(parameter.shape, 1.5 * fan_in**-0.5)
            elif last == "weight":
                value = 1 + normal(parameter.shape, 0.2)
            else:
                value = normal(parameter.shape, 0.2)
            parameter.copy_(value)
        for name, buffer in model.named_buffers():
            if name.endswith("running_var"):
                buffer.copy_(0.5 + torch.rand(buffer.shape, generator=generator))


def seeded(*words):
    return torch.Generator().manual_seed(zlib.crc32("/".join(map(str, words)).encode()))


def make_input(spec, source):
    """Smooth patches with noise: what neighbours in an image have in common gives merging something to find. Multiples of
    1 / 32, which fit into a byte each."""
    generator = seeded(spec.name, "input", 0)
    coarse = torch.randn(spec.batch, 3, 4, 6, generator=generator)
    smooth = nn.functional.interpolate(coarse, source.image, mode="bilinear", align_corners=False)
    noisy = smooth + 0.3 * torch.randn(smooth.shape, generator=generator)
    return (noisy / INPUT_STEP).round().clamp(-127, 127) * INPUT_STEP


def export(spec, source, model, image, path):
    names = dict(input_names=["image"], output_names=list(source.outputs))
    axes = ({0: "batch"} if "batch" in spec.dynamic else {}) | (
        {2: "height", 3: "width"} if "size" in spec.dynamic else {})
    if spec.exporter == "torchscript":
        dynamic = {}
        if axes:
            dynamic = {"image": axes} | {name: {0: "batch"} for name in source.outputs if "batch" in spec.dynamic}
        torch.onnx.export(model, (image,), str(path), dynamo=False, opset_version=spec.opset, dynamic_axes=dynamic, **names)
    else:
        shapes = ({axis: torch.export.Dim(name) for axis, name in axes.items()},) if axes else None
        example = image if image.shape[0] > 1 or not axes else torch.cat((image, image))  # one would be taken for a constant
        torch.onnx.export(model, (example,), str(path), dynamo=True, opset_version=spec.opset, dynamic_shapes=shapes,
                          external_data=False, verbose=False, **names)


def without_traces(model):
    """Stack traces name folders of the machine that exported, and are larger than the weights here."""
    del model.metadata_props[:]
    for graph in [model.graph, *model.functions]:
        for node in graph.node:
            del node.metadata_props[:]
            node.doc_string = ""
    for value in [*model.graph.value_info, *model.graph.input, *model.graph.output, *model.graph.initializer]:
        del value.metadata_props[:]
    del model.graph.metadata_props[:]


def with_short_traces(model):
    """Metadata on every node, as the exporter leaves it, cut to what does not name folders."""
    for node in model.graph.node:
        kept = [entry for entry in node.metadata_props if "stack_trace" not in entry.key]
        if not kept:
            raise SystemExit("the dynamo exporter no longer writes metadata on nodes")
        del node.metadata_props[:]
        node.metadata_props.extend(kept)


def with_fp16_weights(model):
    """Weights stored in float16, a Cast before each use: what weight compression does."""
    casts = []
    for tensor in model.graph.initializer:
        if tensor.data_type == TensorProto.FLOAT and np.prod(tensor.dims) >= 16:
            values = numpy_helper.to_array(tensor).astype(np.float16)
            name = tensor.name
            tensor.CopyFrom(numpy_helper.from_array(values, name + "_fp16"))
            casts.append(helper.make_node("Cast", [name + "_fp16"], [name], name=name + "_widen", to=TensorProto.FLOAT))
    nodes = casts + list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend(nodes)


def with_int8_weights(model):
    """Weights as whole numbers with a scale each or one per slice, a DequantizeLinear before each use: QDQ files of hubs."""
    nodes, constants = [], []
    for k, tensor in enumerate(list(model.graph.initializer)):
        values = numpy_helper.to_array(tensor)
        if tensor.data_type != TensorProto.FLOAT or values.ndim < 2 or values.size < 16:
            constants.append(tensor)
            continue
        name, axis = tensor.name, values.ndim - 1 if values.ndim < 4 else 0
        if k % 3:
            others = tuple(a for a in range(values.ndim) if a != axis)
            scale = (np.abs(values).max(axis=others) / 127).astype(np.float32)
            zero, wide = np.zeros(len(scale), np.int8), np.expand_dims(scale, others)
        else:
            scale = wide = np.float32((values.max() - values.min()) / 255)
            zero = np.uint8(np.clip(np.round(-values.min() / scale), 0, 255))
        limits = np.iinfo(zero.dtype)
        whole = np.clip(np.round(values / wide) + np.float32(0 if k % 3 else zero), limits.min, limits.max).astype(zero.dtype)
        for array, part in ((whole, "_quantized"), (scale, "_scale"), (zero, "_zero")):
            constants.append(numpy_helper.from_array(np.asarray(array), name + part))
        nodes.append(helper.make_node("DequantizeLinear", [name + p for p in ("_quantized", "_scale", "_zero")], [name],
                                      name=name + "_widen", axis=axis))
    nodes += list(model.graph.node)
    del model.graph.node[:], model.graph.initializer[:]
    model.graph.node.extend(nodes)
    model.graph.initializer.extend(constants)


def encode_array(name, array):
    array = np.ascontiguousarray(array)
    return {"name": name, "dtype": str(array.dtype), "shape": list(array.shape),
            "data_b64": base64.b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode()}


def encode_input(name, image):
    return {**encode_array(name, (image.numpy() / INPUT_STEP).astype(np.int8)), "scale": INPUT_STEP}


def run_onnxruntime(path, image):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run([o.name for o in session.get_outputs()], {session.get_inputs()[0].name: image.numpy()})


def difference(got, wanted):
    """Largest difference, in units of the wanted values' spread; share of differing elements for whole numbers."""
    if wanted.dtype.kind in "iu":
        return float((got != wanted).mean())
    return float(np.abs(got.astype(np.float64) - wanted).max() / (wanted.std() + 1e-12))


def plain_outputs(result):
    return [r.numpy() for r in (result if isinstance(result, tuple) else (result,))]


def make(spec, folder):
    source = SOURCES[spec.source]
    torch.manual_seed(0)
    model = source.build(spec.fused).eval()
    diversify(model, seeded(spec.source, "weights"))
    path = folder / f"{spec.name}.onnx"
    # The convolutions of OpenCV 5.0 give 1.2e-4. GroupNorm over two pixels makes rounding larger: 3e-4 with OpenCV 4.10.
    tolerance = {"hf_depth_anything": 2e-4, "dinov3_mask2former": 5e-4}.get(spec.source, 1e-4)
    with torch.no_grad():
        image = make_input(spec, source)
        if spec.variant == "half":
            model = HalfInside(model).eval()
        export(spec, source, model, image, path)
        if spec.variant == "half":
            model, tolerance = model.model.float(), 3e-2  # the reference: float32 over weights rounded to float16
        wanted = plain_outputs(model(image))

    exported = onnx.load(path)
    if spec.variant == "node_metadata":
        with_short_traces(exported)
    else:
        without_traces(exported)
    if spec.variant == "no_shapes":
        del exported.graph.value_info[:]
    if spec.variant == "fp16_weights":
        with_fp16_weights(exported)
    if spec.variant == "int8_weights":
        with_int8_weights(exported)
    if spec.variant == "external_data":
        external = path.with_suffix(".weights")
        external.unlink(missing_ok=True)
        onnx.save(exported, path, save_as_external_data=True, location=external.name, size_threshold=256)
    else:
        onnx.save(exported, path)
    onnx.checker.check_model(str(path))

    got = run_onnxruntime(path, image)
    worst = max(difference(g, w) for g, w in zip(got, wanted, strict=True))
    limit = {"fp16_weights": 3e-2, "int8_weights": 0.3}.get(spec.variant, tolerance)
    if worst > limit:
        raise SystemExit(f"{spec.name}: ONNX Runtime and PyTorch differ by {worst:.2g}")
    if any(w.dtype.kind == "f" and w.std() < 1e-2 for w in wanted):
        raise SystemExit(f"{spec.name}: the outputs hardly vary")

    verdict = "refuse" if source.refuse else "convert"
    reference = None
    if verdict != "refuse":
        outputs = wanted if spec.variant == "half" else got
        document = {"inputs": [encode_input(exported.graph.input[0].name, image)],
                    "outputs": [encode_array(o.name, a) for o, a in zip(exported.graph.output, outputs, strict=True)]}
        reference = path.with_suffix(".reference.json")
        reference.write_text(json.dumps(document) + "\n")
    return {"file": path.name, "source": source.what, "exporter": spec.exporter,
            "opset": next(o.version for o in exported.opset_import if o.domain == ""), "verdict": verdict,
            "reason": source.refuse, "head": source.head if verdict != "refuse" else None,
            "blocks": source.blocks if verdict != "refuse" else None,
            "special_tokens": source.special if verdict != "refuse" else None, "merges": source.merges,
            "dynamic": list(spec.dynamic), "variant": spec.variant, "tolerance": tolerance,
            "reference": reference.name if reference else None}


TABLE = "| file | source | exporter | opset | dynamic | verdict | head | special tokens |\n|---|---|---|---|---|---|---|---|\n"
FAMILIES = "| model | exporters, opsets | head | merged |\n|---|---|---|---|\n"
REFUSED = "| model | reason |\n|---|---|\n"
TESTS = pathlib.Path(__file__).resolve().parents[1]


def with_rows(text, heading, rows):
    """The page `text` with these rows below the heading of a table."""
    before, behind = text.split(heading)
    return before + heading + "".join(rows) + re.sub(r"^(\|.*\n)*", "", behind)


def write_lists(folder, entries):
    """models.json, and README.md with the words of tests/data/README.md."""
    (folder / "models.json").write_text(json.dumps(entries, indent=1) + "\n")
    rows = []
    for e in entries:
        verdict = e["verdict"] + (f": {e['reason']}" if e["reason"] else "")
        head, special = ("", "") if e["verdict"] == "refuse" else (e["head"], e["special_tokens"])
        rows.append(f"| `{e['file']}` | {e['source']} | {e['exporter']} | {e['opset']} | {', '.join(e['dynamic'])} | "
                    f"{verdict} | {head} | {special} |\n")
    text = (TESTS / "data/README.md").read_text()
    text = re.sub(r"ONNX Runtime [\d.]+", f"ONNX Runtime {onnxruntime.__version__}", text, count=1)
    (folder / "README.md").write_text(with_rows(text, TABLE, rows))


def write_families(entries):
    """The tables of docs/models.md."""
    families, refused = {}, []
    for e in entries:
        if e["verdict"] == "refuse":
            refused.append(f"| {e['source']} | {e['reason']} |\n")
            continue
        family = families.setdefault(e["source"], {"exports": {}, "head": e["head"], "merged": "yes" if e["merges"] else "no"})
        family["exports"][f"{e['exporter']} {e['opset']}"] = True
    rows = [f"| {source} | {', '.join(family['exports'])} | {family['head'].replace('_', ' ')} | {family['merged']} |\n"
            for source, family in families.items()]
    page = TESTS.parent / "docs/models.md"
    page.write_text(with_rows(with_rows(page.read_text(), FAMILIES, rows), REFUSED, refused))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the files")
    parser.add_argument("--suite", action="store_true", help="more exports than the tree keeps")
    parser.add_argument("--only", help="only files whose name contains this; the lists keep the others")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    torch.backends.mha.set_fastpath_enabled(False)  # an operator that no exporter knows
    torch.set_num_threads(1)  # one order of summation, the same bytes on every machine
    entries = []
    specs = SUITE if arguments.suite else KEPT
    for spec in specs:
        if arguments.only and arguments.only not in spec.name:
            continue
        entries.append(make(spec, arguments.out))
        size = (arguments.out / entries[-1]["file"]).stat().st_size
        print(f"{spec.name}: {size / 1024:.0f} KiB, opset {entries[-1]['opset']}", flush=True)
        if spec.kept and size > LARGEST_FILE:
            raise SystemExit(f"{spec.name} is larger than {LARGEST_FILE} bytes: too large to keep")
    lists = arguments.out / "models.json"
    old = json.loads(lists.read_text()) if arguments.only and lists.exists() else []
    known = {entry["file"]: entry for entry in old + entries}
    entries = [known[f"{spec.name}.onnx"] for spec in specs if f"{spec.name}.onnx" in known]
    write_lists(arguments.out, entries)
    if arguments.suite and len(entries) == len(specs):
        write_families(entries)


if __name__ == "__main__":
    main()
