#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints with random weights through the scripts of models/export, `mpm convert` and `mpm run`, against PyTorch.

    numerics_test.py build/bin/mpm

What must come out is computed by timm and transformers themselves and, for Segmenter and mmsegmentation, by a network
made of torch.nn.TransformerEncoderLayer here.
"""

import collections
import contextlib
import importlib.util
import io
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest

NEEDED = ("torch", "numpy", "onnx", "onnxscript", "onnxruntime", "PIL")
MISSING = [name for name in NEEDED if not importlib.util.find_spec(name)]
if MISSING:
    print(f"skipped: {', '.join(MISSING)} not installed (-DMPM_EXPORT_PYTHON=... names a Python that has them)")
    sys.exit(77)
os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import onnx
import onnxruntime
import torch
import torch.nn.functional as F
from PIL import Image
from torch import nn

EXPORT = pathlib.Path(__file__).resolve().parents[2] / "models" / "export"
sys.path.insert(0, str(EXPORT))

import flat_windows
import from_huggingface
import from_mmsegmentation
import from_segmenter
import from_timm
import from_transformers
import published
import recipe

if tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 6):
    print(f"skipped: PyTorch {torch.__version__} is older than 2.6")
    sys.exit(77)

MPM = None
DIM, HEADS, BLOCKS, PATCH, CLASSES = 128, 2, 2, 8, 6
PREPROCESSOR = json.dumps({"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]})
SMALL = {"dim": DIM, "blocks": BLOCKS, "patch": PATCH, "classes": CLASSES}


def needs(library):
    return unittest.skipUnless(importlib.util.find_spec(library), f"{library} is not installed")


def random_state(shapes):
    """Weights that make every tensor count: norms near 1, large enough positions and embeddings."""
    state = {}
    for name, shape in shapes.items():
        if "num_batches" in name:
            state[name] = torch.tensor(100)
        elif len(shape) == 1 and name.endswith(("weight", "running_var", "gamma", "lambda1")):
            state[name] = 1 + 0.2 * torch.randn(shape).abs()
        elif len(shape) > 1 and name.endswith("weight"):
            state[name] = torch.randn(shape) * (2 / np.prod(shape[1:])) ** 0.5
        else:
            state[name] = (1 if "pos" in name else 0.3) * torch.randn(shape)
    return state


def randomise(model):
    """The same for a model of a library, whose initial weights leave classifiers and biases at zero."""
    model.load_state_dict(random_state({name: tuple(value.shape) for name, value in model.state_dict().items()}))
    return model.eval()


class Layers(nn.Module):
    """Blocks as PyTorch ships them."""

    def __init__(self, count, eps):
        super().__init__()
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(
            DIM, HEADS, 4 * DIM, 0.0, "gelu", eps, batch_first=True, norm_first=True) for _ in range(count))

    def load(self, state, prefix, names):
        """names: norm 1, attention in, attention out, norm 2, MLP in, MLP out, as in published.py"""
        theirs = ("norm1.%s", "self_attn.in_proj_%s", "self_attn.out_proj.%s", "norm2.%s", "linear1.%s", "linear2.%s")
        for i, layer in enumerate(self.layers):
            layer.load_state_dict({mine % kind: state[f"{prefix}{i}.{name}" % kind]
                                   for mine, name in zip(theirs, names) for kind in ("weight", "bias")})
        return self

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def segment(image, state, eps, distilled, mask, resize):
    """Segmenter after its paper, from tensors in its own names. `resize`: how positions are brought to another grid."""
    x = F.conv2d(image, state["encoder.patch_embed.proj.weight"], state["encoder.patch_embed.proj.bias"], stride=PATCH)
    rows, columns = x.shape[2:]
    positions, special = state["encoder.pos_embed"], 1 + distilled
    side = round((positions.shape[1] - special) ** 0.5)
    if (rows, columns) != (side, side):
        plane = positions[:, special:].transpose(1, 2).reshape(1, DIM, side, side)
        plane = F.interpolate(plane, size=(rows, columns), mode=resize)
        positions = torch.cat((positions[:, :special], plane.flatten(2).transpose(1, 2)), 1)
    tokens = [state["encoder.cls_token"]] + ([state["encoder.dist_token"]] if distilled else [])
    x = torch.cat([*tokens, x.flatten(2).transpose(1, 2)], 1) + positions
    x = Layers(BLOCKS, eps).load(state, "encoder.blocks.", published.TIMM_LAYER).eval()(x)
    x = F.layer_norm(x, (DIM,), state["encoder.norm.weight"], state["encoder.norm.bias"], eps)[:, special:]
    if mask:
        x = F.linear(x, state["decoder.proj_dec.weight"], state["decoder.proj_dec.bias"])
        x = torch.cat((x, state["decoder.cls_emb"]), 1)
        x = Layers(2, 1e-5).load(state, "decoder.blocks.", published.TIMM_LAYER).eval()(x)
        x = F.layer_norm(x, (DIM,), state["decoder.decoder_norm.weight"], state["decoder.decoder_norm.bias"], 1e-5)
        patches = F.normalize(x[:, :-CLASSES] @ state["decoder.proj_patch"], dim=-1)
        classes = F.normalize(x[:, -CLASSES:] @ state["decoder.proj_classes"], dim=-1)
        scores = F.layer_norm(patches @ classes.transpose(1, 2), (CLASSES,), state["decoder.mask_norm.weight"],
                              state["decoder.mask_norm.bias"], 1e-5)
    else:
        scores = F.linear(x, state["decoder.head.weight"], state["decoder.head.bias"])
    return upsampled(scores, (rows, columns))


def picture(height, width):
    pixels = np.random.default_rng(5).integers(0, 256, (height // PATCH, width // PATCH, 3), dtype=np.uint8)
    return np.asarray(Image.fromarray(pixels).resize((width, height), Image.BILINEAR))


def normalised(pixels, mean, std):
    values = (pixels / 255 - np.array(mean)) / np.array(std)
    return torch.from_numpy(values.transpose(2, 0, 1)[None].astype(np.float32))


def balance(bias, logits_of, size):
    """Makes every class as likely as the others: `bias` is what logits_of() adds to each class last."""
    with torch.no_grad():
        bias -= logits_of(normalised(picture(*size), [0.5] * 3, [0.5] * 3)).mean(dim=(0, 2, 3))


def upsampled(scores, grid):
    scores = scores.transpose(1, 2).reshape(1, -1, *grid)
    return F.interpolate(scores, scale_factor=PATCH, mode="bilinear", align_corners=False)


def in_segmenters_names(state):
    """Weights of mmsegmentation for segment(): by hand, not by the table under test."""
    result = {}
    for name, value in state.items():
        for theirs, ours in (("backbone.layers.", "encoder.blocks."), ("decode_head.layers.", "decoder.blocks."),
                             ("attn.attn.in_proj_", "attn.qkv."), ("attn.attn.out_proj", "attn.proj"),
                             (".ln2.", ".norm2."), ("backbone.ln1.", "encoder.norm."), (".ln1.", ".norm1."),
                             ("ffn.layers.0.0", "mlp.fc1"),
                             ("ffn.layers.1", "mlp.fc2"), ("patch_embed.projection", "patch_embed.proj"),
                             ("dec_proj", "proj_dec"), ("conv_seg", "head"), ("decode_head.", "decoder."),
                             ("backbone.", "encoder.")):
            name = name.replace(theirs, ours)
        for part in ("patch", "classes"):
            if name == f"decoder.{part}_proj.weight":
                name, value = f"decoder.proj_{part}", value.T
        result[name] = value[:, :, 0, 0] if name == "decoder.head.weight" else value
    return result


class ExportTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(3)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "model.onnx"

    def export(self, script, *arguments, status=0):
        """Runs a script in this process; what it said on stderr. `shown` is what stdout has."""
        said, shown = io.StringIO(), io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(shown):
            found = recipe.run(script.main, [str(a) for a in arguments] + ["-o", str(self.out)])
        self.assertEqual(found, status, said.getvalue())
        self.shown = shown.getvalue()
        return said.getvalue()

    def refused(self, script, *arguments, about):
        said = self.export(script, *arguments, status=1)
        lines = [line for line in said.splitlines() if not line.startswith("left out: ")]
        self.assertEqual(len(lines), 1, said)
        self.assertIn(about, lines[0])

    def mpm(self, *arguments):
        done = subprocess.run([MPM, *map(str, arguments)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def image(self, height, width):
        """A picture and the network's input under MODEL.json's normalisation."""
        pixels = picture(height, width)
        Image.fromarray(pixels).save(self.folder / "picture.png")
        facts = json.loads(self.out.with_suffix(".json").read_text())
        self.assertEqual((facts["input"]["height"], facts["input"]["width"]), (height, width))
        return normalised(pixels, facts["mean"], facts["std"])

    def check_epsilons(self, *wanted):
        """Too small a difference for the logits of random weights."""
        norms = [node for node in onnx.load(self.out).graph.node if node.op_type == "LayerNormalization"]
        found = {attribute.f for node in norms for attribute in node.attribute if attribute.name == "epsilon"}
        self.assertEqual(sorted(found), sorted(float(np.float32(value)) for value in wanted))

    def onnx(self, image):
        session = onnxruntime.InferenceSession(str(self.out), providers=["CPUExecutionProvider"])
        return torch.from_numpy(session.run(None, {"image": image.numpy()})[0])

    def check_logits(self, image, wanted):
        spread = float(wanted.std())
        self.assertGreater(spread, 0.01)
        np.testing.assert_allclose(self.onnx(image), wanted, rtol=0, atol=1e-3 * spread)
        both = torch.cat((image, image.flip(3)))  # any batch
        np.testing.assert_allclose(self.onnx(both)[:1], wanted, rtol=0, atol=1e-3 * spread)

    def check_labels(self, wanted):
        """mpm convert, then mpm run on picture.png, with no merging: the labels are PyTorch's."""
        wanted = wanted.argmax(dim=1)[0].numpy()
        self.assertGreater(len(np.unique(wanted)), 2)  # or anything would pass
        converted, pictures = self.folder / "converted.onnx", self.folder / "pictures"
        self.mpm("convert", self.out, "-o", converted, "--reduce", "none")
        self.mpm("run", self.folder / "picture.png", "--model", converted, "--out", pictures)
        labels = np.asarray(Image.open(pictures / "picture_labels.png"))
        self.assertEqual(labels.shape, wanted.shape)
        self.assertGreaterEqual((labels == wanted).mean(), 0.999)

    def check_model(self, size, logits_of):
        image = self.image(*size)
        with torch.no_grad():
            wanted = logits_of(image)
        self.check_logits(image, wanted)
        return wanted

    def check_segmentation(self, size, logits_of):
        self.check_labels(self.check_model(size, logits_of))

    def check_classifier(self, size, logits_of):
        self.check_model(size, logits_of)
        self.mpm("convert", self.out, "-o", self.folder / "converted.onnx", "--reduce", "mpm:blocks=1")


class Segmenter(ExportTest):
    def write(self, state, distilled, **changes):
        variant = f"""\
net_kwargs:
  backbone: vit_tiny_patch16_384
  d_model: {DIM}
  distilled: {str(distilled).lower()}
  image_size: !!python/tuple
  - 40
  - 40
  n_cls: {CLASSES}
  n_heads: {HEADS}
  n_layers: {changes.get("blocks", BLOCKS)}
  normalization: {"deit" if distilled else "vit"}
  patch_size: {PATCH}
"""
        (self.folder / "variant.yml").write_text(variant)
        optimizer = {"state": {0: {"momentum_buffer": torch.zeros(3)}}, "param_groups": [{"lr": 1e-3}]}
        torch.save({"model": collections.OrderedDict(state), "optimizer": optimizer, "n_cls": CLASSES, "epoch": 3},
                   self.folder / "checkpoint.pth")
        return self.folder / "checkpoint.pth"

    @needs("yaml")
    def test_mask_transformer(self):
        state = random_state(published.segmenter(**SMALL, grid=5))
        logits_of = lambda image: segment(image, state, 1e-5, False, True, "bilinear")
        balance(state["decoder.mask_norm.bias"], logits_of, (40, 40))
        names = self.folder / "names.txt"
        names.write_text("\n".join(f"thing {i}" for i in range(CLASSES)))
        said = self.export(from_segmenter, self.write(state, False), "--classes", names)
        self.assertIn("left out: encoder.head.weight", said)
        self.check_epsilons(1e-5)
        self.check_segmentation((40, 40), logits_of)
        self.assertIn("mask_transformer", self.mpm("info", self.out).replace(" ", "_"))
        lines = self.mpm("run", self.folder / "picture.png", "--model", self.out, "--reduce", "none", "--json")
        self.assertTrue(set(json.loads(lines)["classes"]) <= {f"thing {i}" for i in range(CLASSES)})

    @needs("yaml")
    def test_linear_distilled_at_another_size(self):
        state = random_state(published.segmenter(**SMALL, grid=5, distilled=True, mask=False))
        logits_of = lambda image: segment(image, state, 1e-5, True, False, "bilinear")
        balance(state["decoder.head.bias"], logits_of, (32, 56))
        self.export(from_segmenter, self.write(state, True), "--input-size", "32x56")
        self.check_segmentation((32, 56), logits_of)

    @needs("yaml")
    def test_what_does_not_fit(self):
        state = random_state(published.segmenter(**SMALL, grid=5))
        path = self.write(state, False, blocks=3)
        self.refused(from_segmenter, path, about="variant.yml says 3")
        path = self.write(state, False)
        self.refused(from_segmenter, path, "--input-size", "30x40", about="multiples of the patch")
        (self.folder / "two.txt").write_text("a\nb\n")
        self.refused(from_segmenter, path, "--classes", self.folder / "two.txt", about="2 class names")
        (self.folder / "variant.yml").unlink()
        self.refused(from_segmenter, path, about="variant.yml: no such file")
        self.assertEqual(list(self.folder.glob("*model*")), [])


class Mmsegmentation(ExportTest):
    def write(self, state, meta):
        torch.save({"meta": meta, "state_dict": collections.OrderedDict(state)}, self.folder / "segmenter.pth")
        return self.folder / "segmenter.pth"

    def test_mask_transformer_at_another_size(self):
        state = random_state(published.mmsegmentation(**SMALL, grid=5))
        logits_of = lambda image: segment(image, in_segmenters_names(state), 1e-6, False, True, "bicubic")
        balance(state["decode_head.mask_norm.bias"], logits_of, (32, 56))
        names = tuple(f"thing {i}" for i in range(CLASSES))
        meta = {"mmseg_version": "0.20.2", "config": "", "CLASSES": names,
                "PALETTE": [[i, 9, 255] for i in range(CLASSES)]}
        self.export(from_mmsegmentation, self.write(state, meta), "--input-size", "32x56")
        self.check_epsilons(1e-6, 1e-5)
        facts = json.loads(self.out.with_suffix(".json").read_text())
        self.assertEqual(facts["classes"][1], {"name": "thing 1", "color": "#0109ff"})
        self.check_segmentation((32, 56), logits_of)

    def test_linear(self):
        state = random_state(published.mmsegmentation(**SMALL, grid=5, mask=False))
        logits_of = lambda image: segment(image, in_segmenters_names(state), 1e-6, False, False, "bicubic")
        balance(state["decode_head.conv_seg.bias"], logits_of, (40, 40))
        meta = {"dataset_meta": {"classes": list("abcdef"), "palette": None}}
        self.export(from_mmsegmentation, self.write(state, meta))
        self.assertEqual(json.loads(self.out.with_suffix(".json").read_text())["classes"][5]["name"], "f")
        self.check_segmentation((40, 40), logits_of)


@needs("timm")
class Timm(ExportTest):
    NORMAL = ("--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225")

    def model(self, name, **changes):
        import timm
        settings = {"img_size": 40, "patch_size": PATCH, "embed_dim": DIM, "depth": BLOCKS, "num_heads": HEADS,
                    "num_classes": CLASSES, **changes}
        return randomise(timm.create_model(name, pretrained=False, **settings))

    def write(self, model):
        from safetensors.torch import save_file
        save_file(model.state_dict(), self.folder / "model.safetensors")
        return self.folder / "model.safetensors"

    def test_classifiers_as_they_are(self):
        for name, changes in (("vit_tiny_patch16_384", {}), ("deit_tiny_distilled_patch16_224", {}),
                              ("deit3_small_patch16_224", {}), ("vit_medium_patch16_gap_256", {}),
                              ("vit_medium_patch16_reg4_gap_256", {}),
                              ("vit_base_patch16_224_miil", {"qkv_bias": False})):
            with self.subTest(name):
                model = self.model(name, **changes)
                self.export(from_timm, self.write(model), *self.NORMAL)
                self.check_epsilons(1e-6)
                self.check_classifier((40, 40), model)

    def test_config_beside_the_file(self):
        model = self.model("vit_tiny_patch16_384")
        path = self.write(model)
        config = {"architecture": "vit_tiny_patch16_384", "num_classes": CLASSES, "global_pool": "avg",
                  "pretrained_cfg": {"mean": [0.1, 0.2, 0.3], "std": [0.5, 0.6, 0.7], "label_names": list("abcdef")}}
        (self.folder / "config.json").write_text(json.dumps(config))
        self.export(from_timm, path)
        facts = json.loads(self.out.with_suffix(".json").read_text())
        self.assertEqual((facts["mean"], facts["std"]), ([0.1, 0.2, 0.3], [0.5, 0.6, 0.7]))
        self.assertEqual(facts["classes"][2]["name"], "c")
        self.check_classifier((40, 40), lambda image: model.head(model.forward_features(image)[:, 1:].mean(1)))
        config["architecture"] = "vit_base_patch32_clip_quickgelu_224"
        (self.folder / "config.json").write_text(json.dumps(config))
        self.refused(from_timm, path, about="another activation")

    def test_own_linear_head_at_another_size(self):
        for name in ("vit_tiny_patch16_384", "deit_tiny_distilled_patch16_224", "vit_small_patch14_reg4_dinov2"):
            with self.subTest(name):
                model = self.model(name)
                path = self.write(model)
                model.set_input_size((32, 56))  # timm resizes the positions itself
                head = nn.Linear(DIM, CLASSES)
                special = model.num_prefix_tokens
                logits_of = lambda image: upsampled(head(model.forward_features(image)[:, special:]), (4, 7))
                balance(head.bias, logits_of, (32, 56))
                torch.save(head.state_dict(), self.folder / "head.pth")
                self.export(from_timm, path, "--head", self.folder / "head.pth", "--input-size", "32x56", *self.NORMAL)
                self.check_segmentation((32, 56), logits_of)

    def test_dinov2s_own_files_with_its_segmentation_head(self):
        """Its names and batch norm; the backbone is timm's port of it."""
        model = self.model("vit_small_patch14_dinov2")
        backbone = model.state_dict() | {"mask_token": torch.zeros(1, DIM)}
        backbone = {name: value for name, value in backbone.items() if not name.startswith("head.")}
        torch.save(backbone, self.folder / "dinov2.pth")
        head = random_state(published.dinov2_head(DIM, CLASSES))
        norm, convolution = nn.BatchNorm2d(DIM).eval(), nn.Conv2d(DIM, CLASSES, 1)
        for module, name in ((norm, "bn"), (convolution, "conv_seg")):
            module.load_state_dict({key.removeprefix(f"decode_head.{name}."): value for key, value in head.items()
                                    if key.startswith(f"decode_head.{name}.")})

        def logits(image):
            plane = model.forward_features(image)[:, 1:].transpose(1, 2).reshape(1, DIM, 5, 5)
            return F.interpolate(convolution(norm(plane)), scale_factor=PATCH, mode="bilinear", align_corners=False)

        balance(convolution.bias, logits, (40, 40))
        head["decode_head.conv_seg.bias"] = convolution.bias.detach()
        torch.save({"meta": {}, "state_dict": collections.OrderedDict(head)}, self.folder / "head.pth")
        self.export(from_timm, self.folder / "dinov2.pth", "--head", self.folder / "head.pth", *self.NORMAL)
        self.check_segmentation((40, 40), logits)

    def test_registers_as_dinov2_calls_them(self):
        """The class token has a position, the registers behind it have none; timm adds the one to the other."""
        model = self.model("vit_small_patch14_reg4_dinov2", num_classes=0)
        state = model.state_dict()
        position = torch.randn(1, 1, DIM)
        theirs = {name: value for name, value in state.items() if name != "reg_token"} | {
            "cls_token": state["cls_token"] - position, "register_tokens": state["reg_token"],
            "pos_embed": torch.cat((position, state["pos_embed"]), 1), "mask_token": torch.zeros(1, DIM)}
        torch.save(theirs, self.folder / "dinov2.pth")
        head = nn.Linear(2 * DIM, CLASSES)
        torch.save(head.state_dict(), self.folder / "head.pth")
        self.export(from_timm, self.folder / "dinov2.pth", "--head", self.folder / "head.pth", *self.NORMAL)

        def logits(image):
            x = model.forward_features(image)
            return head(torch.cat((x[:, 0], x[:, 5:].mean(1)), 1))

        self.check_classifier((40, 40), logits)


@needs("transformers")
class HuggingFace(ExportTest):
    def save(self, model):
        model.save_pretrained(self.folder)
        (self.folder / "preprocessor_config.json").write_text(PREPROCESSOR)

    def model(self, name, **changes):
        import transformers
        kind = name.split("For")[0].removesuffix("Model")
        config = getattr(transformers, f"{kind}Config")(
            hidden_size=DIM, num_hidden_layers=BLOCKS, num_attention_heads=HEADS, intermediate_size=4 * DIM,
            mlp_ratio=4, image_size=40, patch_size=PATCH, num_labels=CLASSES, **changes)
        return randomise(getattr(transformers, name)(config))

    def test_classifiers_as_they_are(self):
        for name in ("ViTForImageClassification", "DeiTForImageClassification", "DeiTForImageClassificationWithTeacher",
                     "Dinov2ForImageClassification", "Dinov2WithRegistersForImageClassification"):
            with self.subTest(name):
                model = self.model(name)
                self.save(model)
                self.export(from_huggingface, self.folder)
                self.assertEqual(json.loads(self.out.with_suffix(".json").read_text())["classes"][3]["name"], "LABEL_3")
                self.check_classifier((40, 40), lambda image: model(image).logits)

    def test_own_linear_head_at_another_size(self):
        for name, special in (("ViTModel", 1), ("DeiTModel", 2), ("Dinov2Model", 1), ("Dinov2WithRegistersModel", 5)):
            with self.subTest(name):
                model = self.model(name, layer_norm_eps=1e-4)
                self.save(model)
                head = nn.Conv2d(DIM, CLASSES, 1)
                torch.save({"classifier": head.weight, "bias": head.bias}, self.folder / "head.pth")
                self.refused(from_huggingface, self.folder, "--head", self.folder / "head.pth", about="'weight'")
                def logits(image):
                    asked = {"interpolate_pos_encoding": True} if name in ("ViTModel", "DeiTModel") else {}
                    x = model(image, **asked)
                    plane = x.last_hidden_state[:, special:].transpose(1, 2).reshape(1, DIM, 4, 7)
                    return F.interpolate(head(plane), scale_factor=PATCH, mode="bilinear", align_corners=False)

                balance(head.bias, logits, (32, 56))
                torch.save({f"decoder.classifier.{key}": value for key, value in head.state_dict().items()},
                           self.folder / "head.pth")
                self.export(from_huggingface, self.folder, "--head", self.folder / "head.pth", "--input-size", "32x56")
                self.check_epsilons(1e-4)
                self.check_segmentation((32, 56), logits)

    def test_what_tensors_do_not_show_is_refused(self):
        self.save(self.model("Dinov2Model"))
        config = json.loads((self.folder / "config.json").read_text())
        for change, about in (({"hidden_act": "quick_gelu"}, "quick_gelu"),
                              ({"model_type": "beit"}, "model_type 'beit'"), ({"apply_layernorm": False}, "LayerNorm"),
                              ({"image_size": 48}, "do not fit"),
                              ({}, "give --head")):
            with self.subTest(change):
                (self.folder / "config.json").write_text(json.dumps(config | change))
                self.refused(from_huggingface, self.folder, about=about)


@needs("transformers")
class Transformers(ExportTest):
    """The library's own code: the outputs of the file are the model's, and the JSON says what a person gets of them."""

    def configuration(self, kind):
        import transformers
        small = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, image_size=32, patch_size=PATCH)
        if kind == "dinov3":
            return transformers.DINOv3ViTConfig(**small, intermediate_size=32, num_register_tokens=2)
        queries = dict(num_blocks=1, num_queries=5, num_upscale_blocks=1, num_labels=CLASSES, num_register_tokens=2)
        if kind == "eomt":
            return transformers.EomtConfig(**small, mlp_ratio=2, **queries)
        if kind == "eomt_dinov3":
            return transformers.EomtDinov3Config(**small, intermediate_size=32, **queries)
        if kind.startswith("rf_detr"):
            backbone = transformers.models.rf_detr.configuration_rf_detr.RfDetrDinov2Config(
                **{**small, "num_hidden_layers": 4}, mlp_ratio=2, num_windows=2, out_indices=[2, 4])
            return transformers.RfDetrConfig(
                backbone_config=backbone, d_model=16, num_queries=6, decoder_layers=2, decoder_ffn_dim=16, group_detr=1,
                num_labels=CLASSES, decoder_self_attention_heads=2, decoder_cross_attention_heads=2, decoder_n_points=2)
        backbone = transformers.Dinov2Config(**{**small, "num_hidden_layers": 4}, mlp_ratio=2, out_indices=[1, 2, 3, 4],
                                             reshape_hidden_states=False)
        return transformers.DepthAnythingConfig(
            backbone_config=backbone, patch_size=PATCH, reassemble_hidden_size=16, neck_hidden_sizes=[4, 4, 6, 8],
            fusion_hidden_size=6, head_hidden_size=4, depth_estimation_type="metric", max_depth=20)

    def save(self, folder, kind):
        import transformers
        for family in (transformers.models.eomt.modeling_eomt, transformers.models.eomt_dinov3.modeling_eomt_dinov3):
            family.requires_backends = lambda *_: None  # scipy, which only their loss needs
        config = self.configuration(kind)
        name = {"dinov3": "DINOv3ViTModel", "eomt": "EomtForUniversalSegmentation",
                "eomt_dinov3": "EomtDinov3ForUniversalSegmentation",
                "depth": "DepthAnythingForDepthEstimation", "rf_detr": "RfDetrForObjectDetection",
                "rf_detr_seg": "RfDetrForInstanceSegmentation"}[kind]
        model = randomise(getattr(transformers, name)(config))
        model.save_pretrained(folder)
        (folder / "preprocessor_config.json").write_text(PREPROCESSOR)
        return model

    def check(self, kind, folder, *options):
        """Exports and compares; the JSON and what mpm info says."""
        folder = self.folder / folder
        folder.mkdir(exist_ok=True)
        model = self.save(folder, kind)
        self.export(from_transformers, folder, *options)
        facts = json.loads(self.out.with_suffix(".json").read_text())
        image = self.image(facts["input"]["height"], facts["input"]["width"])
        if hasattr(model, "attn_mask_probs"):
            model.attn_mask_probs.zero_()
        with torch.no_grad():
            result = model(pixel_values=image)
        output = {"dinov3": "last_hidden_state", "depth": "predicted_depth"}.get(kind, "masks_queries_logits")
        self.check_logits(image, getattr(result, output))
        return facts, json.loads(self.mpm("info", self.out, "--json"))

    def test_features_of_dinov3(self):
        facts, info = self.check("dinov3", "dinov3", "--input-size", "40x56")
        self.assertNotIn("task", facts)
        self.assertEqual((info["head"], info["task"]), ("features", None))

    def test_segments_of_eomt(self):
        facts, info = self.check("eomt", "coco_panoptic_eomt")
        self.assertEqual((facts["task"], info["task"], info["head"]), ("panoptic", "panoptic", "mask_queries"))
        self.assertNotIn("classes", facts, "LABEL_0 is no name")
        (self.folder / "names.txt").write_text("\n".join("abcdef"))
        facts, info = self.check("eomt", "eomt", "--task", "instance", "--classes", self.folder / "names.txt",
                                 "--stuff", "1,4-5")
        self.assertEqual(info["task"], "instance")
        self.assertEqual([one.get("thing", True) for one in facts["classes"]], [True, False, True, True, False, False])
        self.export(from_transformers, self.folder / "eomt", "--stuff", "5")
        classes = json.loads(self.out.with_suffix(".json").read_text())["classes"]
        self.assertEqual((classes[5]["name"], classes[5]["thing"], "thing" in classes[4]), ("class_5", False, False))
        self.refused(from_transformers, self.folder / "eomt", "--stuff", "6", "--classes", self.folder / "names.txt",
                     about="there are 6 classes")
        self.refused(from_transformers, self.folder / "eomt", "--input-size", "48x48", about="trained with")

    def test_segments_of_eomt_with_dinov3(self):
        facts, info = self.check("eomt_dinov3", "eomt-dinov3-coco-panoptic")
        self.assertEqual((facts["task"], info["task"], info["head"]), ("panoptic", "panoptic", "mask_queries"))
        self.refused(from_transformers, self.folder / "eomt-dinov3-coco-panoptic", "--input-size", "48x48", about="trained with")

    def test_depth_of_depth_anything(self):
        facts, info = self.check("depth", "depth", "--input-size", "32x48")
        self.assertEqual((info["task"], info["depth"]), ("depth", "metre"))
        folder = self.folder / "depth"
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | {"depth_estimation_type": "relative"}))
        (folder / "model.safetensors").unlink()
        self.assertIn("random weights", self.export(from_transformers, folder, "--random"))
        self.assertEqual(json.loads(self.out.with_suffix(".json").read_text())["depth"], "inverse")
        self.refused(from_transformers, folder, "--task", "instance", about="--task is for EoMT")

    def test_objects_of_rf_detr(self):
        for kind, task, fields in (("rf_detr", "boxes", ("pred_boxes", "logits")),
                                   ("rf_detr_seg", "instance", ("pred_boxes", "logits", "pred_masks"))):
            with self.subTest(kind):
                folder = self.folder / kind
                folder.mkdir()
                model = self.save(folder, kind)
                self.export(from_transformers, folder, "--input-size", "32x64")
                facts = json.loads(self.out.with_suffix(".json").read_text())
                info = json.loads(self.mpm("info", self.out, "--json"))
                self.assertEqual((facts["task"], info["task"], info["head"]), (task, task, "box_queries"))
                image = self.image(32, 64)
                with torch.no_grad():
                    result = model(pixel_values=image)
                session = onnxruntime.InferenceSession(str(self.out), providers=["CPUExecutionProvider"])
                self.assertEqual(tuple(output.name for output in session.get_outputs()), fields)
                for field, found in zip(fields, session.run(None, {"image": image.numpy()})):
                    wanted = getattr(result, field)
                    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-3 * float(wanted.std()), err_msg=field)
        written = json.loads((folder / "preprocessor_config.json").read_text())
        for size, height in (({"height": 48, "width": 32}, 48), ({"shortest_edge": 40}, 32)):
            (folder / "preprocessor_config.json").write_text(json.dumps(written | {"size": size}))
            self.export(from_transformers, folder)
            self.assertEqual(json.loads(self.out.with_suffix(".json").read_text())["input"]["height"], height)
        self.refused(from_transformers, folder, "--input-size", "40x32", about="a patch in each window, 16")
        self.refused(from_transformers, folder, "--task", "instance", about="--task is for EoMT")

    def test_other_models_are_refused(self):
        (self.folder / "config.json").write_text('{"model_type": "swin"}')
        (self.folder / "preprocessor_config.json").write_text("{}")
        self.refused(from_transformers, self.folder, about="type 'swin'; known are dinov3_vit, eomt, eomt_dinov3, depth_anything, rf_detr")


class Touch:
    """Unpickling this creates a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (pathlib.Path.touch, (pathlib.Path(self.path),))


class Files(ExportTest):
    NORMAL = Timm.NORMAL

    def test_a_checkpoint_runs_no_code(self):
        path, witness = self.folder / "evil.pth", self.folder / "witness"
        torch.save({"model": {"x": Touch(str(witness))}}, path)
        self.refused(from_timm, path, *self.NORMAL, about="not opened")
        self.assertFalse(witness.exists())
        path.write_bytes(pickle.dumps(Touch(str(witness))))
        self.refused(from_timm, path, *self.NORMAL, about="evil.pth")
        self.assertFalse(witness.exists())

    def test_broken_files_are_one_line(self):
        whole = self.folder / "whole.pth"
        torch.save(random_state(published.timm(DIM, BLOCKS, PATCH, 26, CLASSES)), whole)
        content = whole.read_bytes()
        page = b"<!DOCTYPE html>\n" * 9
        header = b'{"x":{"dtype":"F32","shape":[9,9],"data_offsets":[0,324]}}'
        for name, bytes_of in (("cut.pth", content[: len(content) // 2]), ("empty.pth", b""), ("text.pth", page),
                               ("short.safetensors", b"\x10"), ("text.safetensors", page),
                               ("cut_header.safetensors", len(header).to_bytes(8, "little") + header[:20]),
                               ("cut.safetensors", len(header).to_bytes(8, "little") + header + bytes(323))):
            with self.subTest(name):
                (self.folder / name).write_bytes(bytes_of)
                self.refused(from_timm, self.folder / name, *self.NORMAL, about=name)
        torch.save([1, 2], whole)
        self.refused(from_timm, whole, *self.NORMAL, about="no table of tensors")
        self.refused(from_timm, self.folder / "absent.pth", *self.NORMAL, about="no such file")

    def test_a_failure_leaves_the_old_model_alone(self):
        state = random_state(published.timm(DIM, BLOCKS, PATCH, 26, CLASSES))
        torch.save(state, self.folder / "vit.pth")
        self.out.write_text("old")
        self.refused(from_timm, self.folder / "vit.pth", about="give --mean")
        torch.save(state | {"norm.bias": torch.full((DIM,), float("nan"))}, self.folder / "nan.pth")
        self.refused(from_timm, self.folder / "nan.pth", *self.NORMAL, about="'norm.bias' has a NaN")
        self.assertEqual(self.out.read_text(), "old")
        self.assertEqual(self.export(from_timm, self.folder / "vit.pth", *self.NORMAL), "")
        self.assertEqual(self.shown, f"{self.out}: ViT of 2 blocks, width 128, 2 heads, patch 8, 40x40 px, "
                         "classifier, 6 classes\n")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                         ["model.json", "model.onnx", "nan.pth", "vit.pth"])

    def test_half_precision_files(self):
        from safetensors.torch import save_file
        state = random_state(published.timm(DIM, BLOCKS, PATCH, 26, CLASSES))
        for kind in (torch.float16, torch.bfloat16):
            with self.subTest(kind):
                save_file({name: value.to(kind) for name, value in state.items()}, self.folder / "half.safetensors")
                loaded = recipe.tensors_in(recipe.load(self.folder / "half.safetensors"))
                self.assertEqual(set(loaded), set(state))
                for name, value in state.items():
                    self.assertTrue(torch.equal(loaded[name], value.to(kind).float()))

    def test_flat_windows_have_the_highest_scores(self):
        policy = self.folder / "policy.onnx"
        flat_windows.main(["--patch", "4", "-o", str(policy)])
        onnx.checker.check_model(str(policy), full_check=True)
        image = np.random.default_rng(1).normal(size=(2, 3, 16, 24)).astype(np.float32)
        image[1, :, 8:16, 16:24] = 0.5  # a flat window
        scores, = onnxruntime.InferenceSession(policy, providers=["CPUExecutionProvider"]).run(None, {"image": image})
        windows = image.reshape(2, 3, 2, 8, 3, 8).astype(np.float64)
        np.testing.assert_allclose(scores[:, 0], -windows.var(axis=(3, 5)).mean(1), atol=1e-5)
        self.assertEqual(scores[1].argmax(), 5)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: numerics_test.py build/bin/mpm [TEST...]")
    MPM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    torch.set_num_threads(2)
    unittest.main()
