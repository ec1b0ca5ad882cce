#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The depth and the objects that `mpm run` writes beside those of the authors' own packages, on three pictures.

    pip install --no-deps depth-anything-3==0.1.1 rfdetr==1.11.2
    pip install addict einops omegaconf 'pydantic<3' 'pyDeprecate<0.10' supervision
    python bench/models/compare_authors.py --mpm build/bin/mpm

The models have random weights. rfdetr writes its own ONNX file; Depth Anything 3 has no exporter, so torch.onnx exports what
its authors' code computes. Both sides get the same pixels: of a picture that is resized beforehand, and of one at the size of
the network input.
"""
import argparse
import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import types

import cv2
import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/exporters"))
import make_models  # noqa: E402

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def pictures(folder, size):
    """Three pictures, the last one at the size {height, width} of the network input, and that input for each."""
    for seed, (height, width) in enumerate([(size[0] + 45, size[1] + 61), (size[0] - 40, size[1] + 7), size]):
        numbers = np.random.default_rng(seed)
        image = cv2.resize(numbers.integers(0, 256, (9, 13, 3), dtype=np.uint8), (width, height), interpolation=cv2.INTER_CUBIC)
        image = np.clip(image + numbers.normal(0, 12, image.shape), 0, 255).astype(np.uint8)
        path = folder / f"{seed}.png"
        cv2.imwrite(str(path), image)
        small = cv2.resize(image, size[::-1], interpolation=cv2.INTER_LINEAR)[:, :, ::-1].astype(np.float32)
        scaled = (small / 255 - np.float32(MEAN)) / np.float32(DEVIATION)
        yield path, image.shape[:2], torch.from_numpy(np.ascontiguousarray(scaled.transpose(2, 0, 1)[None]))


def run(mpm, model, picture, folder):
    """What `mpm run --json` says of the picture; files are beside it."""
    told = subprocess.run([mpm, "run", picture, "--model", model, "--reduce", "none", "--json", "--out", folder], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return json.loads(told.splitlines()[0])


def describe(model, **facts):
    model.with_suffix(".json").write_text(json.dumps({"mean": MEAN, "std": DEVIATION, **facts}))


class Depth(torch.nn.Module):
    """Depth Anything 3 for one picture {1, 3, H, W}."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, image):
        features, _ = self.net.backbone(image[:, None], cam_token=None, export_feat_layers=[], ref_view_strategy="first")
        return self.net._process_depth_head(features, *image.shape[-2:]).depth


def rotate_by_constants(net, grid):
    """Places of patches that do not depend on the values of tensors, which no exporter can follow."""
    encoder = net.backbone.pretrained
    places = torch.cartesian_prod(*(torch.arange(side) for side in grid))[None]
    encoder.position_getter = lambda batch, height, width, device: places.expand(batch, -1, -1).clone()

    def forward(self, tokens, positions):
        tables = self._compute_frequency_components(tokens.shape[-1] // 2, max(grid) + 1, tokens.device, tokens.dtype)
        parts = zip(tokens.chunk(2, dim=-1), positions.unbind(-1))
        return torch.cat([self._apply_1d_rope(part, place, *tables) for part, place in parts], dim=-1)

    for block in encoder.blocks:
        if block.attn.rope is not None:
            block.attn.rope.forward = types.MethodType(forward, block.attn.rope)


def depth_anything_3(kind):
    from depth_anything_3.model.da3 import DepthAnything3Net
    from depth_anything_3.model.dinov2.dinov2 import DinoV2
    from depth_anything_3.model.dpt import DPT
    from depth_anything_3.model.dualdpt import DualDPT
    head = {"features": 32, "out_channels": [24, 24, 32, 32]}
    if kind == "mono":  # the same network as metric, with the smallest encoder
        return DepthAnything3Net(DinoV2("vits", [2, 5, 8, 11], cat_token=False), DPT(dim_in=384, output_dim=1, **head))
    return DepthAnything3Net(DinoV2("vits", [5, 7, 9, 11], alt_start=4, qknorm_start=4, rope_start=4),
                             DualDPT(dim_in=768, output_dim=2, **head))


def compare_depth(mpm, folder, kind, dynamo, size=(98, 126)):
    net = depth_anything_3(kind).eval()
    make_models.diversify(net, make_models.seeded("authors", kind))
    exact = Depth(net)
    for _, _, image in pictures(folder, size):
        with torch.no_grad():
            before = exact(image)
    if kind != "mono":
        rotate_by_constants(net, [side // 14 for side in size])
    with torch.no_grad():
        assert torch.equal(exact(image), before), "constant places change nothing"
    path = folder / "depth.onnx"
    options = {"dynamo": True, "external_data": False} if dynamo else {"dynamo": False}
    with torch.no_grad():
        torch.onnx.export(exact, (image,), str(path), input_names=["image"], output_names=["depth"], opset_version=18, **options)
    describe(path, task="depth")
    worst = np.zeros(2)  # of mpm, and of PyTorch in fp32, beside PyTorch in float64
    for picture, (height, width), image in pictures(folder, size):
        with torch.no_grad():
            rough, wanted = (cv2.resize(exact.to(kind)(image.to(kind))[0, 0].numpy(), (width, height),
                                        interpolation=cv2.INTER_LINEAR) for kind in (torch.float32, torch.float64))
        told = run(mpm, path, picture, folder)["depth"]
        found = told["offset"] + told["step"] * cv2.imread(str(folder / f"{picture.stem}_depth.png"), cv2.IMREAD_UNCHANGED)
        span = wanted.max() - wanted.min()
        assert span > 0.01 * wanted.max(), "the depth is flat"
        ends = (abs(told[name] - of(wanted)) for name, of in (("min", np.min), ("max", np.max)))
        worst = np.maximum(worst, [max(np.abs(found - wanted).max(), *ends) / span, np.abs(rough - wanted).max() / span])
    return worst


def compare_objects(mpm, folder, name):
    import rfdetr
    from rfdetr.models import PostProcess
    model = getattr(rfdetr, name)(pretrain_weights=None)
    net = model.model.model.cpu().eval()
    make_models.diversify(net, make_models.seeded("authors", name))
    side, objects, far, pixels = model.model_config.resolution, 0, 0.0, 0
    with torch.no_grad():
        for parameter in net.parameters():
            if parameter.ndim > 1:
                parameter *= 0.6  # else rounding grows from block to block
        _, _, image = next(pictures(folder, (side, side)))
        net.class_embed.bias -= net(image)["pred_logits"].flatten().topk(8).values[-1]
    model.export(output_dir=str(folder), verbose=False)
    path = next(folder.glob("rfdetr*.onnx"))
    describe(path)
    for picture, size, image in pictures(folder, (side, side)):
        with torch.no_grad():
            outputs = net(image)
            wanted = PostProcess(num_select=outputs["pred_logits"].shape[1])(outputs, torch.tensor([size]))[0]  # clamps boxes
        run(mpm, path, picture, folder)
        own = json.loads((folder / f"{picture.stem}_segments.json").read_text())["segments"]
        kept = wanted["scores"] > 0.5
        scores, labels, boxes = (wanted[key][kept].numpy() for key in ("scores", "labels", "boxes"))
        if "masks" in wanted:
            ids = cv2.imread(str(folder / f"{picture.stem}_segments.png"), cv2.IMREAD_UNCHANGED)
            own_of = np.zeros(size, np.int64)  # the best object of each pixel
            for index in reversed(np.flatnonzero(kept.numpy())):
                own_of[wanted["masks"][index].squeeze(0).numpy() > 0] = index + 1
            visible = [i for i in range(len(scores)) if (own_of == i + 1).any()]
            scores, labels, boxes = (values[visible] for values in (scores, labels, boxes))
            renumbered = np.zeros(len(kept) + 1, np.int64)
            renumbered[np.array(visible, int) + 1] = [one["id"] for one in own][:len(visible)]
            pixels += int((renumbered[own_of] != ids).sum())
        assert [one["class"] for one in own] == [f"class_{label}" for label in labels], f"{name}, {picture.name}: other classes"
        # Of two places whose scores are nearly equal either may become the last query, in ONNX Runtime too. Queries see it.
        assert np.allclose([one["score"] for one in own], scores, atol=1e-3), f"{name}, {picture.name}: other scores"
        for one, box in zip(own, boxes, strict=True):
            inside = np.clip(one["box"], 0, [size[1], size[0]] * 2)
            far = max(far, float(np.abs(inside - box).max()))
        objects += len(own)
    assert objects > 5, f"{name}: {objects} objects say little"
    return objects, far, pixels


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpm", type=pathlib.Path, required=True, help="the command")
    parser.add_argument("--only", choices=["depth", "objects"], help="one of the two packages")
    options = parser.parse_args()
    mpm = options.mpm.resolve()
    torch.set_num_threads(1)
    for kind in ("mono", "small") if options.only != "objects" else ():
        for dynamo in (False, True):
            with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
                own, rough = compare_depth(mpm, pathlib.Path(folder), kind, dynamo)
            exporter = "dynamo" if dynamo else "TorchScript"
            print(f"Depth Anything 3, {kind}, by {exporter}: depth is right to {own:.1e} of its range, PyTorch's in fp32 to "
                  f"{rough:.1e}", flush=True)
            if own > 3 * rough + 2e-5:
                sys.exit("that is too much")
    for name in ("RFDETRNano", "RFDETRSegNano") if options.only != "depth" else ():
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            objects, far, pixels = compare_objects(mpm, pathlib.Path(folder), name)
        print(f"{name}: {objects} objects are equal, boxes to {far:.1e} px, masks to {pixels} pixels", flush=True)
        if far > 0.05 or pixels > 0:
            sys.exit("that is too much")


if __name__ == "__main__":
    main()
