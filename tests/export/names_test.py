#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names, shapes and MODEL.json of models/export, without PyTorch."""

import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

EXPORT = pathlib.Path(__file__).resolve().parents[2] / "models" / "export"
sys.path.insert(0, str(EXPORT))

import published
import sidecar
import tensors
from tensors import ExportError, Layout

SMALL = {"dim": 128, "blocks": 2}
# Every source: shapes as published, with small sizes; its naming; options of read_layout; the layout that must come.
ENCODER = {"dim": 128, "heads": 2, "blocks": 2, "hidden": 512}
MASK = {"head": "mask_transformer", "classes": 5, "decoder_blocks": 2, "decoder_heads": 2}
SIZE = {**SMALL, "patch": 8, "grid": 3, "classes": 5}


def huggingface_case(kind, options, layout, **shape_options):
    shapes = published.huggingface(kind, **SIZE, **shape_options)
    return shapes, tensors.huggingface(kind, shapes), {"heads": 2, "grid": (3, 3), **options}, Layout(
        **ENCODER, patch=8, grid=(3, 3), **layout)


def cases():
    small = {**ENCODER, "patch": 8, "grid": (3, 3)}
    yield "segmenter mask", (published.segmenter(**SIZE), tensors.SEGMENTER, {"eps": 1e-5},
                             Layout(**small, **MASK, eps=1e-5))
    yield "segmenter mask, one decoder block", (published.segmenter(**SIZE, decoder_blocks=1), tensors.SEGMENTER, {},
                                                Layout(**small, **{**MASK, "decoder_blocks": 1}))
    yield "segmenter mask, 12 blocks", (published.segmenter(**{**SIZE, "blocks": 12}), tensors.SEGMENTER, {},
                                        Layout(**{**small, "blocks": 12}, **MASK))
    yield "segmenter linear, distilled", (
        published.segmenter(**SIZE, distilled=True, mask=False), tensors.SEGMENTER, {},
        Layout(**small, distillation_token=True, positioned=2, head="linear", classes=5))
    for title, options in ("mask", {}), ("mask, newer", {"conv_seg": False}):
        yield f"mmsegmentation {title}", (published.mmsegmentation(**SIZE, **options), tensors.MMSEGMENTATION, {},
                                          Layout(**small, **MASK))
    yield "mmsegmentation linear", (published.mmsegmentation(**SIZE, mask=False), tensors.MMSEGMENTATION, {},
                                    Layout(**small, head="linear", classes=5))
    classifier = {"head": "classifier", "pool": "token", "classes": 7}

    def timm(options, layout, tokens=10, classes=7, **shape_options):
        shapes = published.timm(**SMALL, patch=8, tokens=tokens, classes=classes, **shape_options)
        return shapes, tensors.TIMM, options, Layout(**{**small, **layout})

    yield "timm classifier", timm({}, classifier)
    yield "timm features", timm({"head": "features"}, {})
    yield "timm, not square", timm({"grid": (3, 5)}, {"grid": (3, 5), **classifier}, tokens=16)
    yield "timm distilled", timm({}, {"distillation_token": True, "positioned": 2, **classifier, "pool": "two"},
                                 tokens=11, distilled=True)
    yield "timm, mean", timm({"pool": "mean"}, {**classifier, "pool": "mean"})
    yield "timm deit3", timm({}, {"positioned": 0, "layer_scale": True, **classifier}, tokens=9, layer_scale=True)
    yield "timm registers", timm({"head": "features"},
                                 {"grid": (5, 5), "positioned": 0, "registers": 4, "layer_scale": True},
                                 tokens=25, classes=0, layer_scale=True, registers=4)
    yield "dinov2 registers", (published.dinov2(**SMALL, grid=3, registers=4), tensors.DINOV2, {"head": "features"},
                               Layout(**{**small, "patch": 14}, registers=4, layer_scale=True))
    yield "hf vit", huggingface_case("vit", {"pool": "token"}, {**classifier, "classes": 5})
    yield "hf vit backbone", huggingface_case("vit", {"head": "features"}, {}, root="")
    two_tokens = {**classifier, "classes": 5, "distillation_token": True, "positioned": 2}
    yield "hf deit", huggingface_case("deit", {"pool": "token"}, two_tokens)
    yield "hf deit, teacher", huggingface_case("deit", {"pool": "token"}, {**two_tokens, "pool": "two"}, teacher=True)
    both = {**classifier, "pool": "token+mean", "classes": 5, "layer_scale": True}
    yield "hf dinov2", huggingface_case("dinov2", {"pool": "token+mean"}, both)
    yield "hf dinov2 backbone", huggingface_case("dinov2", {"head": "features"}, {"layer_scale": True}, root="")
    yield "hf dinov2 registers", huggingface_case("dinov2_with_registers", {"pool": "token+mean"},
                                                  {**both, "registers": 4})


CASES = dict(cases())


def mapped(shapes, naming, options):
    return tensors.plan(shapes, naming, tensors.read_layout(shapes, naming, **options))


class Mapping(unittest.TestCase):
    def test_layout_is_read_from_the_shapes(self):
        for title, (shapes, naming, options, layout) in CASES.items():
            with self.subTest(title):
                self.assertEqual(tensors.read_layout(shapes, naming, **options), layout)

    def test_every_tensor_is_used_once_or_left_out(self):
        for title, (shapes, naming, options, layout) in CASES.items():
            with self.subTest(title):
                pieces, dropped = mapped(shapes, naming, options)
                self.assertEqual(set(pieces), set(tensors.parameters(layout)))
                used = [name for piece in pieces.values() for name in piece.parts]
                self.assertEqual(sorted(used + list(dropped)), sorted(shapes))
                self.assertTrue(all(dropped.values()))

    def test_only_these_are_left_out(self):
        expected = {"segmenter mask": r"encoder\.head\.", "mmsegmentation mask": r"decode_head\.conv_seg\.",
                    "timm features": r"head\.", "hf vit backbone": r"pooler\.", "hf dinov2": r".*mask_token",
                    "dinov2 registers": "mask_token", "mmsegmentation linear": None, "hf deit, teacher": None}
        for title, pattern in expected.items():
            with self.subTest(title):
                _, dropped = mapped(*CASES[title][:3])
                self.assertEqual(bool(dropped), pattern is not None)
                for name in dropped:
                    self.assertRegex(name, pattern)

    def refused(self, shapes, naming, options, about):
        with self.assertRaises(ExportError) as caught:
            mapped(shapes, naming, options)
        message = str(caught.exception)
        self.assertNotIn("\n", message)
        self.assertIn(about, message)

    def test_any_missing_tensor_is_named(self):
        for title, (shapes, naming, options, _) in CASES.items():
            pieces, dropped = mapped(shapes, naming, options)
            # Tensors whose absence is another model of the same family: no token, no bias of qkv, no layer scale, fewer
            # blocks, another head. There a neighbour that does not fit is named instead, or the model is a valid one.
            decides = re.compile(r".*(cls_token|dist\w*_token|reg\w*_tokens?|cls_emb|conv_seg\.weight|"
                                 r"head(_dist)?\.weight|\w*classifier\.weight|(qkv|in_proj|query)[._]bias|"
                                 r"(ls|layer_scale)1\.\w+|(norm1|ln1|layernorm_before)\.weight)")
            for name in shapes:
                with self.subTest(title, missing=name):
                    fewer = {key: shape for key, shape in shapes.items() if key != name}
                    if name in dropped:
                        mapped(fewer, naming, options)
                    elif not decides.fullmatch(name):
                        self.refused(fewer, naming, options, f"'{name}'")

    def test_a_missing_tensor_of_the_layout_is_refused(self):
        for title, name in (("segmenter mask", "encoder.blocks.1.norm1.weight"),
                            ("segmenter mask", "encoder.cls_token"), ("segmenter mask", "decoder.cls_emb"),
                            ("segmenter mask", "decoder.blocks.1.norm1.weight"),
                            ("segmenter mask", "encoder.blocks.0.attn.qkv.bias"),
                            ("timm deit3", "blocks.0.ls1.gamma"), ("timm distilled", "head_dist.weight"),
                            ("hf vit", "vit.encoder.layer.1.layernorm_before.weight")):
            with self.subTest(title, missing=name):
                shapes, naming, options, _ = CASES[title]
                self.refused({key: shape for key, shape in shapes.items() if key != name}, naming, options, "")

    def test_any_unknown_tensor_is_named(self):
        for title, (shapes, naming, options, _) in CASES.items():
            for name in ("blocks.0.attn.rel_pos", "encoder.blocks.7.norm2.weight", "backbone.norm_pre.weight", "zzz"):
                with self.subTest(title, extra=name):
                    self.refused({**shapes, name: (3,)}, naming, options, f"'{name}'")

    def test_any_wrong_shape_is_refused(self):
        for title, (shapes, naming, options, layout) in CASES.items():
            pieces, _ = mapped(shapes, naming, options)
            free = {part for ours in ("encoder.patch_embed.proj.weight", "encoder.pos_embed", "encoder.reg_token")
                    if ours in pieces for part in pieces[ours].parts}  # these tell the layout: others are named then
            for name in {part for piece in pieces.values() for part in piece.parts} - free:
                with self.subTest(title, wrong=name):
                    shape = shapes[name]
                    self.refused({**shapes, name: (*shape[:-1], shape[-1] + 1)}, naming, options, "expected")

    def test_another_source_is_recognised_as_such(self):
        for title, naming in (("timm classifier", tensors.SEGMENTER), ("segmenter mask", tensors.MMSEGMENTATION),
                              ("mmsegmentation mask", tensors.TIMM)):
            with self.subTest(title):
                self.refused(CASES[title][0], naming, {}, "this is not")
        self.refused({}, tensors.TIMM, {}, "this is not a ViT of timm")

    def test_positions_must_be_a_square_or_told(self):
        for tokens in (13, 16 + 1 + 4):  # of no square; of 4x4 with 5 special tokens, but this model has 1
            self.refused(published.timm(**SMALL, patch=8, tokens=tokens, classes=7), tensors.TIMM, {}, "--trained-size")
        shapes = published.timm(**SMALL, patch=8, tokens=10, classes=7, registers=5)  # 3x3 and 1, or 2x2 and 6
        self.refused(shapes, tensors.TIMM, {}, "more than one")
        self.refused(shapes, tensors.TIMM, {"grid": (4, 5)}, "do not fit")

    def test_heads_of_the_usual_widths(self):
        self.assertEqual([tensors.heads_of_width(dim) for dim in (192, 384, 768, 1024, 1280)], [3, 6, 12, 16, 16])
        with self.assertRaisesRegex(ExportError, "--heads"):
            tensors.heads_of_width(200)


class Head(unittest.TestCase):
    def test_linear_layers_and_convolutions(self):
        for shapes in ({"weight": (5, 128), "bias": (5,)}, {"a.b.weight": (5, 128, 1, 1), "a.b.bias": (5,)}):
            head = tensors.read_head(shapes)
            self.assertEqual((head.classes, head.inputs, head.batch_norm), (5, 128, ""))
            self.assertEqual(tensors.with_head(CASES["timm features"][3], head).head, "linear")

    def test_dinov2_head_has_a_batch_norm(self):
        head = tensors.read_head(published.dinov2_head())
        self.assertEqual(head, tensors.LinearHead("decode_head.conv_seg.weight", "decode_head.conv_seg.bias",
                                                  "decode_head.bn", 150, 384))

    def test_a_head_over_token_and_mean_is_a_classifier(self):
        layout = tensors.with_head(CASES["timm features"][3], tensors.read_head({"weight": (9, 256), "bias": (9,)}))
        self.assertEqual((layout.head, layout.pool, layout.classes), ("classifier", "token+mean", 9))

    def test_what_is_no_head_is_refused(self):
        for shapes, about in (({}, "no matrix"), ({"weight": (5, 128)}, "'bias' is missing"),
                              ({"weight": (5, 128), "bias": (4,)}, "expected"),
                              ({"weight": (5, 128, 3, 3), "bias": (5,)}, "weight"),
                              ({"a.weight": (5, 128), "a.bias": (5,), "b.weight": (5, 5)}, "b.weight"),
                              ({"weight": (5, 128), "bias": (5,), "scale": (1,)}, "'scale'"),
                              ({name: shape for name, shape in published.dinov2_head().items()
                                if "running_var" not in name}, "running_var")):
            with self.subTest(shapes), self.assertRaisesRegex(ExportError, about):
                tensors.read_head(shapes)
        with self.assertRaisesRegex(ExportError, "100 features"):
            tensors.with_head(CASES["timm features"][3], tensors.read_head({"weight": (5, 100), "bias": (5,)}))


@unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")
class Values(unittest.TestCase):
    def setUp(self):
        import numpy
        self.numpy, self.random = numpy, numpy.random.default_rng(7)

    def draw(self, shapes):
        return {name: self.random.standard_normal(shape) for name, shape in shapes.items()}

    def test_values_arrive_in_place(self):
        np = self.numpy
        for title, (shapes, naming, options, layout) in CASES.items():
            with self.subTest(title):
                theirs = self.draw(shapes)
                pieces, _ = mapped(shapes, naming, options)
                ours = tensors.assemble(pieces, theirs, np.concatenate)
                self.assertEqual({name: value.shape for name, value in ours.items()}, tensors.parameters(layout))
                for name, piece in pieces.items():
                    together = np.concatenate([theirs[part].ravel() for part in piece.parts])
                    self.assertTrue(np.array_equal(np.sort(together), np.sort(ours[name].ravel())))

    def test_query_key_and_value_lie_in_this_order(self):
        np = self.numpy
        shapes, naming, options, _ = CASES["hf vit"]
        theirs = self.draw(shapes)
        ours = tensors.assemble(mapped(shapes, naming, options)[0], theirs, np.concatenate)
        for i, part in enumerate(("query", "key", "value")):
            for kind in ("weight", "bias"):
                self.assertTrue(np.array_equal(ours[f"encoder.blocks.1.attn.qkv.{kind}"][128 * i : 128 * (i + 1)],
                                               theirs[f"vit.encoder.layer.1.attention.attention.{part}.{kind}"]))

    def test_linear_layers_become_matrices(self):
        np = self.numpy
        shapes, naming, options, _ = CASES["mmsegmentation mask"]
        theirs, x = self.draw(shapes), self.random.standard_normal(128)
        ours = tensors.assemble(mapped(shapes, naming, options)[0], theirs, np.concatenate)
        for name in "patch", "classes":
            np.testing.assert_allclose(x @ ours[f"decoder.proj_{name}"],
                                       theirs[f"decode_head.{name}_proj.weight"] @ x, rtol=1e-12)

    def test_a_batch_norm_is_folded_in(self):
        np = self.numpy
        theirs = self.draw(published.dinov2_head(128, 5))
        theirs["decode_head.bn.running_var"] **= 2
        weight, bias = tensors.head_tensors(tensors.read_head(published.dinov2_head(128, 5)), theirs)
        x = self.random.standard_normal(128)
        part = {name: theirs[f"decode_head.bn.{name}"] for name in ("weight", "bias", "running_mean", "running_var")}
        normal = (x - part["running_mean"]) / np.sqrt(part["running_var"] + 1e-5) * part["weight"] + part["bias"]
        wanted = theirs["decode_head.conv_seg.weight"][:, :, 0, 0] @ normal + theirs["decode_head.conv_seg.bias"]
        np.testing.assert_allclose(weight @ x + bias, wanted, rtol=1e-9)


class Sidecar(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        return self.folder / name

    def test_class_files(self):
        names = ["sky", "road, route"]
        model = {"name": "x", "classes": [{"name": name, "color": "#010203"} for name in names]}
        for path in (self.write("a.txt", "sky\n\nroad, route\n"), self.write("b.json", json.dumps(names)),
                     self.write("c.json", json.dumps({"1": names[1], "0": names[0]})),
                     self.write("d.json", json.dumps(model))):
            with self.subTest(path.name):
                self.assertEqual([entry["name"] for entry in sidecar.read_classes(path)], names)
        self.assertEqual(sidecar.read_classes(path)[0]["color"], "#010203")

    @unittest.skipUnless(importlib.util.find_spec("yaml"), "PyYAML is not installed")
    def test_yaml_of_segmenter(self):
        path = self.write("ade20k.yml", "- color:\n  - 120\n  - 0\n  - 255\n  id: 0\n  isthing: 0\n  name: wall\n")
        self.assertEqual(sidecar.read_classes(path), [{"name": "wall", "color": "#7800ff"}])
        variant = self.write("variant.yml", "net_kwargs:\n  image_size: !!python/tuple\n  - 512\n  - 480\n")
        self.assertEqual(list(sidecar.read_yaml(variant)["net_kwargs"]["image_size"]), [512, 480])
        with self.assertRaises(ExportError):
            sidecar.read_yaml(self.write("evil.yml", "a: !!python/object/apply:os.getcwd []\n"))

    def test_bad_class_files_are_refused_in_one_line(self):
        for name, text in (("a.txt", "\n"), ("b.json", "{"), ("c.json", '{"0": "a", "2": "b"}'),
                           ("d.json", '[{"id": 1}]'), ("e.json", "7"), ("f.json", '[{"name": "a", "color": [1, 2]}]'),
                           ("g.json", '{"x": "a"}')):
            with self.subTest(text), self.assertRaises(ExportError) as caught:
                sidecar.read_classes(self.write(name, text))
            self.assertNotIn("\n", str(caught.exception))
            self.assertIn(name, str(caught.exception))

    def test_document(self):
        classes = sidecar.class_list(["sky", "road"], "")
        facts = json.loads(sidecar.document("street", (352, 480), sidecar.IMAGENET, classes, 2))
        self.assertEqual(facts["input"], {"height": 352, "width": 480, "channels": "RGB"})
        self.assertEqual((facts["name"], facts["ignore"], facts["classes"]), ("street", 255, classes))
        self.assertEqual((facts["mean"], facts["std"]), ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))
        self.assertNotIn("classes", json.loads(sidecar.document("street", (8, 8), sidecar.HALF, [], 9)))
        with self.assertRaisesRegex(ExportError, "2 class names for a network of 3"):
            sidecar.document("street", (8, 8), sidecar.HALF, classes, 3)

    def test_made_up_colours_differ(self):
        colours = [sidecar.colour(i) for i in range(150)]
        self.assertEqual(len(set(colours)), 150)
        self.assertTrue(all(re.fullmatch("#[0-9a-f]{6}", one) for one in colours))


class CommandLine(unittest.TestCase):
    def test_help_needs_no_torch_and_names_a_file(self):
        for script in sorted(EXPORT.glob("from_*.py")):
            with self.subTest(script.name):
                # -S: no site-packages.
                shown = subprocess.run([sys.executable, "-S", str(script), "--help"], capture_output=True, text=True,
                                       check=True)
                self.assertIn("https://", shown.stdout)
                self.assertIn(f"python3 models/export/{script.name}", shown.stdout)
                self.assertIn("--input-size", shown.stdout)
                self.assertEqual(shown.stderr, "")

    def test_a_bad_option_is_wrong_usage(self):
        said = subprocess.run([sys.executable, str(EXPORT / "from_timm.py"), "a.pth", "-o", "a.onnx", "--input-size",
                               "0x8"], capture_output=True, text=True, check=False)
        self.assertEqual(said.returncode, 2)
        self.assertIn("HxW", said.stderr)


if __name__ == "__main__":
    unittest.main()
