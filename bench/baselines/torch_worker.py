# SPDX-License-Identifier: Apache-2.0
"""PyTorch on the CPU: Segmenter rebuilt from the initialisers of a Segmenter ONNX (this project's naming).

Variants: eager, attention as softmax between two products; sdpa, scaled_dot_product_attention. With --reduce, Mutual Pair
Merging as the paper publishes it: vectorised eager code, images of a batch padded to the longest, every token restored
before the head.
"""

import pathlib
import sys

import torch
import torch.nn.functional as F

import worker

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))
import segmenter_weights  # noqa: E402  (installed in the same folder)

HEAD_DIM = 64  # in every Segmenter of the paper


class Weights:
    """Weights by layer name, on demand, with Linear's as {out, in}."""

    def __init__(self, path, dtype):
        self.file = segmenter_weights.SegmenterFile(path)
        self.arrays = {name: torch.from_numpy(array.copy()).to(dtype)
                       for name, array in self.file.weights.items() if array.dtype.kind == "f"}

    def __contains__(self, name):
        return name in self.arrays

    def __getitem__(self, name):
        return self.arrays[name]

    def linear(self, layer):
        return self[f"{layer}.weight"].T.contiguous(), self[f"{layer}.bias"]

    def norm(self, layer):
        return (self[f"{layer}.weight"].shape, self[f"{layer}.weight"], self[f"{layer}.bias"],
                self.file.epsilon(layer))

    def count(self, prefix):
        return len({name.split(".")[2] for name in self.arrays if name.startswith(prefix)})


class Block:
    def __init__(self, weights, name, fused):
        self.norm1, self.norm2 = weights.norm(f"{name}.norm1"), weights.norm(f"{name}.norm2")
        self.qkv, self.proj, self.fc1, self.fc2 = (
            weights.linear(f"{name}.{layer}") for layer in ("attn.qkv", "attn.proj", "mlp.fc1", "mlp.fc2"))
        self.fused = fused

    def __call__(self, x, live=None):
        """live {B, T}: False for padding, which must not be a key."""
        batch, tokens, dim = x.shape
        qkv = F.linear(F.layer_norm(x, *self.norm1), *self.qkv)
        q, k, v = qkv.reshape(batch, tokens, 3, -1, HEAD_DIM).permute(2, 0, 3, 1, 4)
        mask = None if live is None else live[:, None, None, :]
        if self.fused:
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        else:
            logits = (q @ k.transpose(-2, -1)) * HEAD_DIM**-0.5
            if mask is not None:
                logits = logits.masked_fill(~mask, -torch.inf)
            y = logits.softmax(dim=-1) @ v
        x = x + F.linear(y.transpose(1, 2).reshape(batch, tokens, dim), *self.proj)
        return x + F.linear(F.gelu(F.linear(F.layer_norm(x, *self.norm2), *self.fc1)), *self.fc2)


def mutual_pair_merge(x, live):
    """x {B, N, dim}, live {B, N} or None -> merged {B, longest N', dim}, its live rows, the cluster of each token."""
    batch, tokens, dim = x.shape
    unit = F.normalize(x, dim=-1)
    similarity = unit @ unit.transpose(1, 2)
    similarity.diagonal(dim1=1, dim2=2).fill_(-torch.inf)
    if live is not None:
        similarity.masked_fill_(~live[:, None, :], -torch.inf)
    best = similarity.argmax(dim=-1)
    index = torch.arange(tokens)[None]
    partner = (best.gather(1, best) == index) & (best < index)  # the second token of a mutual pair
    representative = ~partner if live is None else ~partner & live
    ids = representative.cumsum(dim=1) - 1
    cluster = torch.where(partner, ids.gather(1, best), ids)
    if live is not None:
        cluster = torch.where(live, cluster, 0)
        x = x * live[..., None]
    counts = representative.sum(dim=1)
    longest = int(counts.max())
    ones = torch.ones_like(x[..., 0]) if live is None else live.to(x.dtype)
    sums = x.new_zeros(batch, longest, dim).scatter_add_(1, cluster[..., None].expand(-1, -1, dim), x)
    sizes = x.new_zeros(batch, longest).scatter_add_(1, cluster, ones)
    merged_live = None
    if batch > 1 and int(counts.min()) < longest:
        merged_live = torch.arange(longest)[None] < counts[:, None]
    return sums / sizes.clamp_min(1)[..., None], merged_live, cluster


class Segmenter:
    def __init__(self, path, dtype, fused, schedule):
        w = Weights(path, dtype)
        self.schedule, self.dtype = schedule, dtype
        self.patch_weight, self.patch_bias = w["encoder.proj.weight"], w["encoder.proj.bias"]
        self.patch = self.patch_weight.shape[-1]
        self.cls_token, self.positions = w["encoder.cls_token"], w["encoder.pos_embed"]
        self.blocks = [Block(w, f"encoder.blocks.{i}", fused) for i in range(w.count("encoder.blocks."))]
        if schedule and schedule[-1] >= len(self.blocks):
            raise worker.Refused(f"--reduce names block {schedule[-1]}, the model has {len(self.blocks)}")
        self.norm = w.norm("encoder.norm")
        self.kind = "mask" if "decoder.cls_emb" in w else "linear" if "decoder.bias" in w else "features"
        if self.kind == "linear":
            self.head = w.linear("decoder")
        if self.kind == "mask":
            self.proj_dec, self.classes = w.linear("decoder.proj_dec"), w["decoder.cls_emb"]
            self.head_blocks = [Block(w, f"decoder.blocks.{i}", fused) for i in range(w.count("decoder.blocks."))]
            self.decoder_norm, self.mask_norm = w.norm("decoder.decoder_norm"), w.norm("decoder.mask_norm")
            self.proj_patch, self.proj_classes = w["decoder.proj_patch"], w["decoder.proj_classes"]

    def encode(self, image):
        """Tokens {B, 1 + N, dim} after the last norm, every token restored."""
        x = F.conv2d(image, self.patch_weight, self.patch_bias, stride=self.patch).flatten(2).transpose(1, 2)
        if x.shape[1] + 1 != self.positions.shape[1]:
            raise worker.Refused(f"the model is for {self.positions.shape[1] - 1} patches, the image has {x.shape[1]}")
        x = torch.cat((self.cls_token.expand(len(x), -1, -1), x), dim=1) + self.positions
        live, composed = None, None
        for i, block in enumerate(self.blocks):
            if i in self.schedule:
                patches, live, cluster = mutual_pair_merge(x[:, 1:], live)
                composed = cluster if composed is None else cluster.gather(1, composed)
                x = torch.cat((x[:, :1], patches), dim=1)
            x = block(x, None if live is None else F.pad(live, (1, 0), value=True))
        x = F.layer_norm(x, *self.norm)
        if composed is not None:
            patches = x[:, 1:].gather(1, composed[..., None].expand(-1, -1, x.shape[-1]))
            x = torch.cat((x[:, :1], patches), dim=1)
        return x

    def decode(self, x):
        """Scores {B, N, classes}."""
        if self.kind == "linear":
            return F.linear(x, *self.head)
        classes = self.classes.shape[1]
        x = torch.cat((F.linear(x, *self.proj_dec), self.classes.expand(len(x), -1, -1)), dim=1)
        for block in self.head_blocks:
            x = block(x)
        x = F.layer_norm(x, *self.decoder_norm)
        patches = F.normalize(x[:, :-classes] @ self.proj_patch, dim=-1)
        masks = patches @ F.normalize(x[:, -classes:] @ self.proj_classes, dim=-1).transpose(1, 2)
        return F.layer_norm(masks, *self.mask_norm)

    @torch.inference_mode()
    def __call__(self, array):
        image = torch.from_numpy(array).to(self.dtype)
        x = self.encode(image)
        if self.kind == "features":
            return x.float().numpy()
        grid = (image.shape[2] // self.patch, image.shape[3] // self.patch)
        # Channels last: upsampling and argmax of 150 classes at 512x512 take 80 ms on 2 cores, 520 ms channels first.
        scores = self.decode(x[:, 1:]).unflatten(1, grid).permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last)
        logits = F.interpolate(scores, image.shape[2:], mode="bilinear")
        return logits.argmax(dim=1).numpy()


def load(arguments):
    if arguments.precision == "int8":
        raise worker.Refused("PyTorch has no int8 path for this model")
    worker.require_bf16("PyTorch", arguments.precision)
    torch.set_num_threads(arguments.threads)
    dtype = {"fp32": torch.float32, "bf16": torch.bfloat16}[arguments.precision]
    try:
        model = Segmenter(arguments.model, dtype, arguments.variant == "sdpa", arguments.schedule)
    except (ValueError, KeyError) as error:
        raise worker.Refused(f"{arguments.model} is no Segmenter that can be rebuilt in PyTorch: {error}") from None
    return torch.__version__, model


if __name__ == "__main__":
    worker.serve("PyTorch", load, ("eager", "sdpa"), merges=True)
