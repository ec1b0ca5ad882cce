# SPDX-License-Identifier: Apache-2.0
"""Models with rotary positions of other libraries, taken apart for mpm_reference.py: embedding, blocks, positions, the rest.
The rotation itself stays the library's."""

import torch
from transformers.models.dinov3_vit.modeling_dinov3_vit import get_patches_center_coordinates


class Parts:
    """An encoder and what follows it, as mpm_reference.run() takes them apart."""

    def __init__(self, model):
        self.model, self.encoder = model, self


class Dinov3(Parts):
    """transformers DINOv3ViTModel, or a module that keeps one as `model`."""

    def __init__(self, model):
        super().__init__(model.model)
        self.special = 1 + self.model.config.num_register_tokens
        self.blocks = [self.block(layer) for layer in self.model.model.layer]
        self.halves = [self.halves_of(layer) for layer in self.model.model.layer]

    @staticmethod
    def block(layer):
        def run(x, key_bias, positions):
            mask = None if key_bias is None else key_bias[:, None, None, :]
            return layer(x, attention_mask=mask, position_embeddings=positions.chunk(2))

        return run

    @staticmethod
    def halves_of(layer):
        def attention(x, key_bias, positions):
            mask = None if key_bias is None else key_bias[:, None, None, :]
            mixed, _ = layer.attention(layer.norm1(x), attention_mask=mask, position_embeddings=positions.chunk(2))
            return x + layer.layer_scale1(mixed)

        return attention, lambda x: x + layer.layer_scale2(layer.mlp(layer.norm2(x)))

    def centroids(self, image, weights):
        """positions() at the mean places {N', N} of clusters of patches."""
        patch, rope = self.model.config.patch_size, self.model.rope_embeddings
        places = get_patches_center_coordinates(image.shape[2] // patch, image.shape[3] // patch, torch.float32, "cpu")
        angles = 2 * torch.pi * (weights @ places.to(weights.dtype))[:, :, None] * rope.inv_freq
        angles = angles.flatten(1).tile(2)
        return [torch.stack((angles.cos(), angles.sin()))] * len(self.blocks)

    def embed(self, image):
        return self.model.embeddings(image)

    def keys(self, depth, x):
        """The mean over the heads of the keys of a block, before rotation {B, T, head_dim}."""
        layer = self.model.model.layer[depth]
        keys = layer.attention.k_proj(layer.norm1(x))
        return keys.unflatten(-1, (self.model.config.num_attention_heads, -1)).mean(dim=-2)

    def positions(self, image):
        """Cosines and sines {2, N, head_dim} of each block."""
        return [torch.stack(self.model.rope_embeddings(image))] * len(self.blocks)

    def decode(self, depths):
        return self.model.norm(depths[-1])


class Eva(Parts):
    """timm's Eva: DINOv3, EVA-02, Perception Encoder, rope."""

    def __init__(self, model):
        super().__init__(model)
        self.special = model.num_prefix_tokens
        self.blocks = [self.block(block) for block in model.blocks]

    @staticmethod
    def block(block):
        def run(x, key_bias, positions):
            return block(x, rope=positions, attn_mask=None if key_bias is None else key_bias[:, None, None, :])

        return run

    def embed(self, image):
        return self.model.norm_pre(self.model._pos_embed(self.model.patch_embed(image))[0])

    def positions(self, image):
        """Sines and cosines {N, 2 head_dim} of each block."""
        table = self.model._pos_embed(self.model.patch_embed(image))[1].to(image.dtype)  # dynamic sizes: always float
        return list(table) if getattr(self.model, "rope_mixed", False) else [table] * len(self.blocks)

    def decode(self, depths):
        return self.model.forward_head(self.model.norm(depths[-1]))
