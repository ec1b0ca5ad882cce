# SPDX-License-Identifier: Apache-2.0
"""ViT-Adapter in PyTorch, written after its paper (arXiv 2205.08534) and the description of DINOv3's segmentor: convolutions see the image at three
more scales, and attention at a few places of each map exchanges features between them and the tokens of a plain ViT."""

import torch
import torch.nn.functional as F
import transformers
from torch import nn
from transformers.models.mask2former import modeling_mask2former as mask2former

class DeformableAttention(nn.Module):
    """Each query reads `points` places around its own in each of several maps."""

    def __init__(self, dim, heads, levels, points=2, ratio=0.5):
        super().__init__()
        self.heads, self.levels, self.points = heads, levels, points
        inner = int(dim * ratio)
        self.offsets = nn.Linear(dim, heads * levels * points * 2)
        self.weights = nn.Linear(dim, heads * levels * points)
        self.value = nn.Linear(dim, inner)
        self.proj = nn.Linear(inner, dim)

    def forward(self, query, places, features, shapes):
        """query {B, Q, dim}; places {1, Q, 1, 2} in 0..1; features {B, sum of h w, dim} of maps with these `shapes`."""
        batch, queries, _ = query.shape
        value = self.value(features)
        width = value.shape[-1] // self.heads
        value = value.view(batch, -1, self.heads, width)
        offsets = self.offsets(query).view(batch, queries, self.heads, self.levels, self.points, 2)
        weights = self.weights(query).view(batch, queries, self.heads, -1).softmax(dim=-1)
        sides = torch.tensor([[w, h] for h, w in shapes], dtype=query.dtype)
        where = 2 * (places[:, :, None, :, None, :] + offsets / sides[None, None, None, :, None, :]) - 1
        read = []
        for level, part in enumerate(value.split([h * w for h, w in shapes], dim=1)):
            maps = part.flatten(2).transpose(1, 2).reshape(batch * self.heads, width, *shapes[level])
            grid = where[:, :, :, level].transpose(1, 2).flatten(0, 1)  # {B heads, Q, points, 2}
            read.append(F.grid_sample(maps, grid, mode="bilinear", padding_mode="zeros", align_corners=False))
        weights = weights.transpose(1, 2).reshape(batch * self.heads, 1, queries, self.levels * self.points)
        mixed = (torch.stack(read, dim=-2).flatten(-2) * weights).sum(-1)
        return self.proj(mixed.view(batch, self.heads * width, queries).transpose(1, 2))


class PyramidMlp(nn.Module):
    """An MLP with a convolution of each channel in the middle, on three maps whose sides halve from one to the next."""

    def __init__(self, dim, hidden):
        super().__init__()
        self.fc1 = nn.Linear(dim, hidden)
        self.depthwise = nn.Conv2d(hidden, hidden, 3, padding=1, groups=hidden)
        self.fc2 = nn.Linear(hidden, dim)

    def forward(self, c, shapes):
        maps = []
        for part, (h, w) in zip(self.fc1(c).split([h * w for h, w in shapes], dim=1), shapes):
            maps.append(self.depthwise(part.transpose(1, 2).unflatten(2, (h, w))).flatten(2).transpose(1, 2))
        return self.fc2(F.gelu(torch.cat(maps, dim=1)))


class Extractor(nn.Module):
    """The maps read the tokens."""

    def __init__(self, dim, heads):
        super().__init__()
        self.query_norm, self.feature_norm, self.mlp_norm = (nn.LayerNorm(dim, eps=1e-6) for _ in range(3))
        self.attention = DeformableAttention(dim, heads, levels=1)
        self.mlp = PyramidMlp(dim, dim // 4)

    def forward(self, c, places, tokens, grid, shapes):
        c = c + self.attention(self.query_norm(c), places, self.feature_norm(tokens), [grid])
        return c + self.mlp(self.mlp_norm(c), shapes)


class Injector(nn.Module):
    """The tokens read the maps."""

    def __init__(self, dim, heads):
        super().__init__()
        self.query_norm, self.feature_norm = (nn.LayerNorm(dim, eps=1e-6) for _ in range(2))
        self.attention = DeformableAttention(dim, heads, levels=3)
        self.gamma = nn.Parameter(torch.zeros(dim))

    def forward(self, tokens, places, c, shapes):
        return tokens + self.gamma * self.attention(self.query_norm(tokens), places, self.feature_norm(c), shapes)


class SpatialPrior(nn.Module):
    """The image at strides 4, 8, 16 and 32 through a small convolutional net."""

    def __init__(self, width, dim):
        super().__init__()

        def step(inputs, outputs, stride):
            return [nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]

        self.stem = nn.Sequential(*step(3, width, 2), *step(width, width, 1), *step(width, width, 1),
                                  nn.MaxPool2d(3, stride=2, padding=1))
        self.steps = nn.ModuleList(nn.Sequential(*step(width * a, width * b, 2)) for a, b in ((1, 2), (2, 4), (4, 4)))
        self.project = nn.ModuleList(nn.Conv2d(width * a, dim, 1) for a in (1, 2, 4, 4))

    def forward(self, image):
        maps = [self.stem(image)]
        for step in self.steps:
            maps.append(step(maps[-1]))
        return [project(x) for project, x in zip(self.project, maps)]


def places_in(shapes):
    """The centres of the pixels of these maps {1, sum of h w, 1, 2}, x and y in 0..1."""
    rows = [torch.stack(((torch.arange(h * w) % w + 0.5) / w, (torch.arange(h * w) // w + 0.5) / h), dim=-1) for h, w in shapes]
    return torch.cat(rows)[None, :, None, :]


class Adapter(nn.Module):
    """The maps beside a ViT of `stages` stages. -> four maps {B, dim, h, w}, of strides 4, 8, 16 and 32."""

    def __init__(self, dim, heads, stages, width, image, grid, injects=False):
        super().__init__()
        self.grid, self.shapes = grid, [(image[0] // s, image[1] // s) for s in (8, 16, 32)]
        self.prior = SpatialPrior(width, dim)
        self.level_embed = nn.Parameter(torch.zeros(3, dim))
        self.injectors = nn.ModuleList(Injector(dim, heads) for _ in range(stages if injects else 0))
        self.extractors = nn.ModuleList(Extractor(dim, heads) for _ in range(stages))
        self.up = nn.ConvTranspose2d(dim, dim, 2, stride=2)
        self.norms = nn.ModuleList(nn.BatchNorm2d(dim) for _ in range(4))
        self.register_buffer("token_places", places_in([grid]), persistent=False)
        self.register_buffer("map_places", places_in(self.shapes), persistent=False)

    def start(self, image):
        """-> the map of stride 4, and the others as rows."""
        first, *maps = self.prior(image)
        rows = [x.flatten(2).transpose(1, 2) + self.level_embed[i] for i, x in enumerate(maps)]
        return first, torch.cat(rows, dim=1)

    def inject(self, stage, tokens, c):
        return self.injectors[stage](tokens, self.token_places, c, self.shapes)

    def extract(self, stage, tokens, c):
        return self.extractors[stage](c, self.map_places, tokens, self.grid, self.shapes)

    def finish(self, first, c, tokens):
        """tokens: those behind each stage, which join the maps."""
        parts = c.split([h * w for h, w in self.shapes], dim=1)
        maps = [x.transpose(1, 2).unflatten(2, shape) for x, shape in zip(parts, self.shapes)]
        maps = [self.up(maps[0]) + first, *maps]
        for i, x in enumerate(tokens[-4:]):
            x = x.transpose(1, 2).unflatten(2, self.grid)
            maps[i] = maps[i] + F.interpolate(x, maps[i].shape[2:], mode="bilinear", align_corners=False)
        return [norm(x) for norm, x in zip(self.norms, maps)]


class SumHead(nn.Module):
    """The four maps, projected, at the size of the first, and added."""

    def __init__(self, dim, classes):
        super().__init__()
        self.project = nn.ModuleList(nn.Conv2d(dim, classes, 1) for _ in range(4))

    def forward(self, maps):
        size = maps[0].shape[2:]
        return sum(F.interpolate(project(x), size, mode="bilinear", align_corners=False)
                   for project, x in zip(self.project, maps))


class Dinov3Adapter(nn.Module):
    """DINOv3 with extractors only: the adapter reads the tokens behind some blocks, normalised, and writes nothing back."""

    def __init__(self, backbone, adapter, head, taps):
        super().__init__()
        self.model, self.adapter, self.head, self.taps = backbone, adapter, head, taps
        self.special = 1 + backbone.config.num_register_tokens

    def forward(self, image):
        x, positions = self.model.embeddings(image), self.model.rope_embeddings(image)
        depths = []
        for layer in self.model.model.layer:
            x = layer(x, position_embeddings=positions)
            depths.append(x)
        first, c = self.adapter.start(image)
        tokens = [self.model.norm(depths[tap])[:, self.special :] for tap in self.taps]
        for stage, x in enumerate(tokens):
            c = self.adapter.extract(stage, x, c)
        return self.head(self.adapter.finish(first, c, tokens))


class VitAdapter(nn.Module):
    """A ViT with injectors before its stages and extractors behind them. The class token, if any, takes no part in that."""

    def __init__(self, dim, stages, adapter, head, patch, class_token=True):
        """stages: lists of blocks."""
        super().__init__()
        self.patch_embed = nn.Conv2d(3, dim, patch, stride=patch)
        self.pos_embed = nn.Parameter(torch.zeros(1, adapter.grid[0] * adapter.grid[1], dim))
        self.cls_token = nn.Parameter(torch.zeros(1, 1 if class_token else 0, dim))
        self.stages = nn.ModuleList(nn.ModuleList(blocks) for blocks in stages)
        self.blocks = [block for blocks in stages for block in blocks]
        self.adapter, self.head = adapter, head

    def forward(self, image):
        x = self.patch_embed(image).flatten(2).transpose(1, 2) + self.pos_embed
        special = self.cls_token.expand(x.shape[0], -1, -1)
        first, c = self.adapter.start(image)
        behind = []
        for stage, blocks in enumerate(self.stages):
            x = self.adapter.inject(stage, x, c)
            if special.shape[1]:
                x = torch.cat((special, x), dim=1)
            for block in blocks:
                x = block(x)
            special, x = x[:, : special.shape[1]], x[:, special.shape[1] :]
            c = self.adapter.extract(stage, x, c)
            behind.append(x)
        return self.head(self.adapter.finish(first, c, behind))


class Mask2FormerHead(nn.Module):
    """Mask2Former of transformers on the four maps. -> masks {B, queries, h, w}, classes {B, queries, classes + 1}."""

    def __init__(self, dim, **settings):
        super().__init__()
        config = transformers.Mask2FormerConfig(**settings)
        self.pixels = mask2former.Mask2FormerPixelDecoder(config, [dim] * 4)
        nn.init.zeros_(self.pixels.level_embed)  # uninitialised otherwise
        self.queries = mask2former.Mask2FormerTransformerModule(config.feature_size, config)
        self.classes = nn.Linear(config.hidden_dim, config.num_labels + 1)

    def forward(self, maps):
        pixels = self.pixels(maps, return_dict=True)
        queries = self.queries(list(pixels.multi_scale_features), pixels.mask_features)
        return queries.masks_queries_logits[-1], self.classes(queries.intermediate_hidden_states[-1].transpose(0, 1))
