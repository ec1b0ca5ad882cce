# SPDX-License-Identifier: Apache-2.0
"""Tests of the installed package. The models are those of the C++ tests."""
import concurrent.futures
import copy
import gc
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import time
import types
import weakref

import numpy as np
import pytest

import mpm

ROOT = pathlib.Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
SEGMENTER = DATA / "segmenter_mask_ts17.onnx"
LINEAR = DATA / "segmenter_linear_ts12.onnx"
CLIP = DATA / "hf_clip_ts17.onnx"
DEPTH = DATA / "hf_depth_anything_dynamo18.onnx"
QUERIES = DATA / "hf_eomt_ts17.onnx"
OBJECTS = DATA / "hf_rf_detr_seg_dynamo18.onnx"
SHARED = pathlib.Path(os.environ.get("MPM_SHARED_DIR", ROOT.parent / "shared"))


def picture(height=40, width=70, seed=3):
    coarse = np.random.default_rng(seed).integers(0, 256, (height // 8 + 1, width // 8 + 1, 3), np.uint8)
    return np.ascontiguousarray(coarse.repeat(8, 0).repeat(8, 1)[:height, :width])


def run_python(code, *arguments):
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def test_version_is_that_of_the_header():
    header = (ROOT / "mpm_layer/include/mpm/version.hpp").read_text()
    assert f'MPM_VERSION "{mpm.__version__}"' in header


def test_segment_gives_labels_of_the_images_size():
    estimator = mpm.Estimator(SEGMENTER, schedule=(1, 2))
    image = picture()
    result = estimator.estimate(image)
    count = estimator.info["tokens"]
    assert result.labels.shape == (40, 70) and result.labels.dtype == np.uint8
    assert result.labels.max() < estimator.info["classes"]
    assert result.grid == estimator.info["grid"] and result.grid[0] * result.grid[1] == count
    assert result.tokens[0] == count and len(result.tokens) == 3 and result.tokens[0] > result.tokens[2]
    assert {type(one) for one in result.tokens} == {int}
    assert result.maps.shape == (2, count) and result.maps.dtype == np.int32
    assert [row.max() + 1 for row in result.maps] == list(result.tokens[1:])
    assert set(result.ms) == {"total", "preprocess", "backbone", "merge", "restore", "head", "postprocess"}
    assert 0 < result.ms["merge"] < result.ms["total"]


def test_other_methods_reduce_tokens_too():
    assert mpm.Estimator(SEGMENTER, reduce="mpm:blocks=1").estimate(picture()).tokens == \
        mpm.Estimator(SEGMENTER, schedule=(1,)).estimate(picture()).tokens
    tokens = mpm.Estimator(SEGMENTER, reduce="gradual:count=3").estimate(picture()).tokens
    assert len(tokens) == mpm.info(SEGMENTER)["blocks"] + 1 and tokens[-1] < tokens[0]
    with pytest.raises(mpm.Error):
        mpm.Estimator(SEGMENTER, schedule=(1,), reduce="tome")


def test_merged_positions_are_those_of_rotary_models():
    model = DATA / "timm_dinov3_ts17.onnx"
    image = np.random.default_rng(3).normal(size=(1, 3, *mpm.info(model)["input"])).astype(np.float32)
    mean, centroid, first = (mpm.Net(model, reduce=f"mpm:blocks=1:positions={rule}").forward(image)[0]
                             for rule in ("mean", "centroid", "first"))
    assert (mean != first).any() and (centroid != first).any()
    np.testing.assert_array_equal(mean, mpm.Net(model, schedule=(1,)).forward(image)[0])


def test_windows_slide_over_the_resized_image():
    image = picture(64, 120)
    whole = mpm.Estimator(SEGMENTER, fit="window", window_stride=16).estimate(image)
    same = mpm.Estimator(SEGMENTER, fit="window", window_stride=16, short_side=64).estimate(image)
    np.testing.assert_array_equal(whole.labels, same.labels)
    half = mpm.Estimator(SEGMENTER, fit="window", window_stride=16, short_side=32).estimate(image)
    assert {type(one) for one in half.tokens + whole.tokens} == {int}
    assert half.labels.shape == image.shape[:2] and (half.labels != whole.labels).any()


def test_info_names_the_task():
    assert mpm.info(SEGMENTER)["task"] == "semantic"
    assert mpm.info(DEPTH)["task"] == "depth" and mpm.info(DEPTH)["depth"] == "relative"
    assert mpm.info(CLIP)["task"] is None and mpm.info(CLIP)["depth"] is None


def test_depth_is_a_map_at_image_size():
    estimator = mpm.Estimator(DEPTH, schedule=(1,), channels="RGB")
    results = estimator.estimate([picture(30, 50), picture(64, 32)])
    assert [one.depth.shape for one in results] == [(30, 50), (64, 32)] and results[0].depth.dtype == np.float32
    assert len(results[0].tokens) == 2 and results[0].maps.shape == (1, estimator.info["tokens"])
    assert (mpm.Estimator(DEPTH, schedule=(1,)).estimate(picture(30, 50)).depth != results[0].depth).any()


def test_refined_labels_are_asked_for():
    image = picture(120, 180)
    plain, guided = (mpm.Estimator(SEGMENTER, refine=how).estimate(image).labels for how in (None, "guided"))
    assert mpm.info(SEGMENTER)["refine"] == "none"
    assert guided.shape == plain.shape and (guided != plain).any()
    with pytest.raises(mpm.Error, match="refinement"):
        mpm.Estimator(SEGMENTER, refine="sharp")


def test_the_patches_to_compute_may_be_named():
    estimator, image = mpm.Estimator(SEGMENTER, schedule=(), reuse="threshold=255"), picture()
    tokens = estimator.info["tokens"]
    assert estimator.estimate(image).reuse["rows"] == 1
    assert estimator.estimate(255 - image, patches=np.array([0, tokens - 1])).reuse["rows"] == 2 / tokens
    assert estimator.estimate(image).reuse["rows"] == 0, "a threshold of 255 finds nothing"
    for wrong in ([5, 3], [tokens], [-1], [2, 2]):
        with pytest.raises(mpm.ArgumentError, match="ascending numbers from 0 to"):
            estimator.estimate(image, patches=wrong)
    for wrong in ([0.7, 1.9], "12", 5, [2**40]):
        with pytest.raises(mpm.ArgumentError, match="patches is a list of whole numbers, got"):
            estimator.estimate(image, patches=wrong)
    with pytest.raises(mpm.ArgumentError, match="patches are those of one image"):
        estimator.estimate([image], patches=[0])
    with pytest.raises(mpm.ArgumentError, match="an Estimator that reuses rows"):
        mpm.Estimator(SEGMENTER).estimate(image, patches=[0])


def test_reuse_repeats_a_frame_without_change():
    estimator = mpm.Estimator(DEPTH, schedule=(), reuse="threshold=12")
    height, width = estimator.info["input"]
    image = picture(height, width)
    first, second = estimator.estimate(image), estimator.estimate(image)
    assert first.reuse["key_frame"] and first.reuse["rows"] == 1
    assert not second.reuse["key_frame"] and second.reuse["rows"] == 0 and second.reuse["kept_bytes"] > 0
    np.testing.assert_array_equal(first.depth, second.depth)
    estimator.reset()
    assert estimator.estimate(image).reuse["key_frame"]
    for wrong in ({"image": image, "patches": [-1]}, {"image": None}):
        with pytest.raises(mpm.ArgumentError):
            estimator.estimate(**wrong)
        assert estimator.estimate(image).reuse["key_frame"], "after an error"
    assert mpm.Estimator(DEPTH).estimate(image).reuse is None
    with pytest.raises(mpm.Error, match="threshold"):
        mpm.Estimator(DEPTH, reuse="threshold=many")


def test_segments_cover_their_ids():
    image = picture()
    for task in ("panoptic", "instance"):
        estimator = mpm.Estimator(QUERIES, schedule=(1,), task=task, min_score=0, min_overlap=0)
        result = estimator.estimate(image)
        assert result.ids.dtype == np.uint16 and result.ids.shape == image.shape[:2]
        assert [one.id for one in result.segments] == list(range(1, len(result.segments) + 1)) and result.segments
        assert set(np.unique(result.ids)) <= set(range(len(result.segments) + 1))
        for one in result.segments:
            assert one.area == (result.ids == one.id).sum() and 0 <= one.score <= 1
            assert 0 <= one.label < len(estimator.info["class_names"]) == len(estimator.colors)
        assert len(result.tokens) == 2 and result.maps.shape == (1, estimator.info["tokens"])
    strict = mpm.Estimator(QUERIES, task="panoptic", min_score=1).estimate([image])[0]
    assert strict.segments == [] and (strict.ids == 0).all()


def test_objects_have_boxes():
    image = picture()
    instances = mpm.Estimator(OBJECTS).estimate(image)
    boxes = mpm.Estimator(OBJECTS, task="boxes", min_score=0).estimate(image)
    assert mpm.info(OBJECTS)["task"] == "instance" and instances.segments
    for result in (instances, boxes):
        scores = [one.score for one in result.segments]
        assert scores == sorted(scores, reverse=True)
        for one in result.segments:
            left, top, right, bottom = one.box
            assert left < right and top < bottom and one.area == (result.ids == one.id).sum()
    assert min(one.score for one in instances.segments) > 0.5
    assert len(boxes.segments) == 6, "as many as there are queries"
    assert mpm.Estimator(QUERIES, task="instance", min_score=0).estimate(image).segments[0].box is None


def test_batches_are_lists_of_results():
    estimator = mpm.Estimator(SEGMENTER, schedule=(1,))
    images = [picture(seed=i) for i in range(3)]
    alone = [estimator.estimate(image) for image in images]
    for batch in (images, np.stack(images)):
        for one, other in zip(estimator.estimate(batch), alone):
            np.testing.assert_array_equal(one.labels, other.labels)
            np.testing.assert_array_equal(one.maps, other.maps)
    assert [r.labels.shape for r in estimator.estimate([picture(30, 50), picture(64, 32)])] == [(30, 50), (64, 32)]


def test_channels_and_strides():
    image = picture()
    expected = mpm.Estimator(SEGMENTER).estimate(image).labels
    rgb = mpm.Estimator(SEGMENTER, channels="RGB")
    np.testing.assert_array_equal(rgb.estimate(image[:, :, ::-1]).labels, expected)
    assert (rgb.estimate(image).labels != expected).any()
    np.testing.assert_array_equal(image, picture())
    wide = np.zeros((40, 90, 3), np.uint8)
    wide[:, :70] = image
    for same in (wide[:, :70], memoryview(image)):
        np.testing.assert_array_equal(mpm.Estimator(SEGMENTER).estimate(same).labels, expected)


def test_results_outlive_the_estimator():
    estimator = mpm.Estimator(SEGMENTER)
    result = estimator.estimate(picture())
    before = result.labels.copy()
    estimator.estimate(picture(seed=9))
    del estimator
    np.testing.assert_array_equal(result.labels, before)


def mutual_pairs(rows, sizes, info):
    """Mutual Pair Merging as a rule."""
    unit = rows / np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    similarity = unit @ unit.T
    np.fill_diagonal(similarity, -np.inf)
    nearest = similarity.argmax(axis=1)
    own = np.arange(len(rows))
    return np.where(nearest[nearest] == own, np.minimum(own, nearest), own)


IMAGE = "an image is an array (height, width, 3) of uint8"


@pytest.mark.parametrize(("kind", "call", "message"), [
    (FileNotFoundError, lambda: mpm.Estimator("nowhere.onnx"), "nowhere.onnx: no such file"),
    (FileNotFoundError, lambda: mpm.Net(pathlib.Path("nowhere.onnx")), "nowhere.onnx: no such file"),
    (FileNotFoundError, lambda: mpm.Estimator(SEGMENTER, reduce="cts:policy=no.onnx"), "no.onnx: no such file"),
    (FileNotFoundError, lambda: mpm.convert(SEGMENTER, "/nowhere/x.onnx"), "there is no folder '/nowhere'"),
    (mpm.Error, lambda: mpm.Estimator(DATA / "swin_ts17.onnx"), "swin_ts17.onnx"),
    (ValueError, lambda: mpm.Estimator(None), "a model is the path of an ONNX file, got None"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER, schedule=2), "schedule is blocks such as (2, 5) or '2,5', got 2"),
    (ValueError, lambda: mpm.Net(SEGMENTER, schedule=(2, "x")), "schedule is blocks such as (2, 5) or '2,5', got (2, 'x')"),
    (ValueError, lambda: mpm.convert(SEGMENTER, 3), "output_file is the path of a file, got 3"),
    (ValueError, lambda: mpm.convert(SEGMENTER, "/tmp/a.onnx\0b"), "output_file is the path of a file, got '/tmp/a.onnx\\x00b'"),
    (mpm.Error, lambda: mpm.convert(SEGMENTER, ""), "cannot write ''"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER, schedule=(1,), reduce="tome"), "give one of the two"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER, reduce=3), "reduce is a text such as 'tome:count=8', got 3"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER, input_size=32), "input_size is (height, width) in px, got 32"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER, precision="fp8"), "fp8"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER, device=0), "device is a text such as 'cpu', got 0"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER, threads="4"), "threads is a whole number, got '4'"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER, threads=10**12), "threads is out of range: 1000000000000"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER, short_side=32), "short_side needs fit='window'"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER, channels="GBR"), "GBR"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER, task="dreams"), "dreams"),
    (ValueError, lambda: mpm.Estimator(QUERIES, min_score=2), "limits of segments"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER).estimate(None), IMAGE + ", got None: cv2.imread gives None"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER).estimate("street.png"), IMAGE + ", got 'street.png': read the file"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER).estimate(pathlib.Path("a.png")), "got PosixPath('a.png'): read the file"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER).estimate([picture(), None]), IMAGE + ", got None"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER).estimate(np.zeros((4, 4), np.uint8)), IMAGE + ", got shape (4, 4) of uint8"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER).estimate(np.zeros((4, 4, 3))), "got shape (4, 4, 3) of float64"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER).estimate(np.zeros((4, 4, 3), bool)), "got shape (4, 4, 3) of bool8"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER).estimate(np.zeros((4, 4, 3), complex)), "got shape (4, 4, 3) of complex128"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER).estimate(np.zeros((0, 4, 3), np.uint8)), "the image is empty"),
    (ValueError, lambda: mpm.Net(SEGMENTER).forward(np.zeros((3, 32, 64), np.float32)), "got shape (3, 32, 64) of float32"),
    (ValueError, lambda: mpm.Net(SEGMENTER).forward(np.zeros((1, 3, 8, 64), np.float32)), "(batch, 3, 32, 64) of float32, got"),
    (ValueError, lambda: mpm.Net(SEGMENTER).forward(None), "(batch, 3, 32, 64) of float32, got None"),
    (mpm.Error, lambda: mpm.Net(SEGMENTER, outputs=["logits"]), "no value 'logits'"),
    (ValueError, lambda: mpm.Net(SEGMENTER).forward(np.zeros((1, 3, 32, 64), np.float32), ["x"]), "no output 'x'"),
    (ValueError, lambda: mpm.Net(SEGMENTER).forward(np.zeros((1, 3, 32, 64), np.float32), 5), "outputs is a list of names, got 5"),
    (ValueError, lambda: mpm.Net(SEGMENTER).forward(np.zeros((1, 3, 32, 64), np.float32), "labels"), "list of names, got 'labels'"),
    (ValueError, lambda: mpm.info(None), "a model is the path of an ONNX file, got None"),
    (ValueError, lambda: mpm.merge(None), "tokens are an array (special + N, dim) of float32, got None"),
    (ValueError, lambda: mpm.merge(np.zeros((4, 4))), "got shape (4, 4) of float64"),
    (ValueError, lambda: mpm.merge(np.zeros((4, 4), np.float32), "x"), "special is a whole number, got 'x'"),
    (ValueError, lambda: mpm.overlay(picture(), None), "a label map is an array (height, width) of uint8, got None"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER, scores=2.5), "scores is True or False, got 2.5"),
    (mpm.Error, lambda: mpm.Estimator(DEPTH, scores=True), "no probabilities of classes"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER, reduce=mpm.Rule(3)), "a rule is a function of rows, sizes and info, got 3"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER, schedule=(1,), reduce=mpm.Rule(len)), "give one of the two"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER, reduce=mpm.Rule(len, 3)), "blocks of a rule are such as (2, 5) or '2,5', got 3"),
    (ValueError, lambda: mpm.convert(SEGMENTER, "/tmp/rule.onnx", reduce=mpm.Rule(len, (1,))), "which no file holds"),
    (ValueError, lambda: mpm.Estimator(SEGMENTER, reduce=mpm.Rule(mutual_pairs, (1,)), reuse="auto"), "'rule'"),
    (ValueError, lambda: mpm.convert(SEGMENTER, SEGMENTER), "is the model or a part of it"),
    (ValueError, lambda: mpm.convert(SEGMENTER, "/tmp/mean.onnx", mean=(0.5, 0.5, 0.5)), "given together"),
    (ValueError, lambda: mpm.convert(SEGMENTER, "/tmp/mean.onnx", mean=0.5, std=0.5), "mean is three numbers, got 0.5"),
    (ValueError, lambda: mpm.evaluate([], [], classes="x"), "classes is a whole number, got 'x'"),
    (ValueError, lambda: mpm.evaluate([np.zeros((2, 2), np.uint8)], [None], classes=2), "a label map is an array"),
    (ValueError, lambda: mpm.evaluate([np.zeros((2, 2), np.uint8)], [], classes=2), "not as many images as label maps"),
])
def test_errors_are_one_line(kind, call, message, capfd):
    with pytest.raises(mpm.Error) as error:
        call()
    text = str(error.value)
    assert isinstance(error.value, kind) and message in text
    assert "\n" not in text and "--" not in text and "arg0" not in text and len(text) <= 300
    assert capfd.readouterr() == ("", ""), "OpenCV says it too"


@pytest.mark.parametrize("text", ["\x1b[31mred", "x" * 100_000, "a\nb", "\u202e"])
def test_errors_show_no_control_characters_and_no_long_texts(text, tmp_path):
    def wrong_json(name):
        model = tmp_path / "model.onnx"
        model.write_bytes(SEGMENTER.read_bytes())
        model.with_suffix(".json").write_text(json.dumps({"task": name}))
        return mpm.info(model)

    for call in (lambda: mpm.Estimator(SEGMENTER, precision=text), lambda: mpm.Estimator(SEGMENTER, device=text),
                 lambda: mpm.Net(SEGMENTER, outputs=[text]), lambda: mpm.info(text), lambda: wrong_json(text),
                 lambda: mpm.Net(SEGMENTER).forward(np.zeros((1, 3, 32, 64), np.float32), [text])):
        with pytest.raises(mpm.Error) as error:
            call()
        assert str(error.value).isprintable() and len(str(error.value)) <= 500


@pytest.mark.parametrize("kind", [mpm.Estimator, mpm.Net])
def test_a_rule_that_refers_to_its_caller_is_freed_with_it(kind):
    class Owner:
        def rule(self, rows, sizes, info):
            return np.arange(len(rows))

    owner = Owner()
    owner.caller = kind(SEGMENTER, reduce=mpm.Rule(owner.rule, (1,)))
    freed = weakref.ref(owner)
    del owner
    gc.collect()
    assert freed() is None


def test_features_are_the_tokens_of_the_last_block():
    for model in (CLIP, QUERIES):  # queries join the special tokens between blocks
        estimator = mpm.Estimator(model, schedule=(), features=True)
        info = estimator.info
        image = picture(*info["input"])
        features = estimator.estimate(image).features
        assert features.shape == (info["tokens"], info["dim"]) and features.dtype == np.float32
        planes = ((image[:, :, ::-1] / 255 - info["mean"]) / info["std"]).transpose(2, 0, 1)[None].astype(np.float32)
        rows = mpm.Net(model, schedule=(), outputs=[f"backbone/block{info['blocks'] - 1}"]).forward(planes)[0]
        np.testing.assert_allclose(features, rows[0, -info["tokens"]:], atol=1e-5)
    assert mpm.Estimator(CLIP).estimate(picture()).features is None
    with pytest.raises(ValueError, match="sliding windows"):
        mpm.Estimator(SEGMENTER, fit="window", features=True)


def test_a_schedule_may_be_a_text_or_empty():
    text, blocks, full = (mpm.Estimator(SEGMENTER, schedule=one).estimate(picture()) for one in ("1,2", (1, 2), ()))
    assert text.tokens == blocks.tokens and len(full.tokens) == 1 and full.maps.shape[0] == 0
    assert mpm.Net(SEGMENTER, schedule="none").info["reduce"] == "none"
    assert mpm.Net(SEGMENTER, schedule=np.array([1, 2])).info["reduce"] == "mpm:blocks=1,2"


def test_a_rule_in_python_can_be_mpm():
    image = picture()
    usual = mpm.Estimator(SEGMENTER, reduce=mpm.Rule(mutual_pairs)).estimate(image)
    assert usual.tokens == mpm.Estimator(SEGMENTER).estimate(image).tokens, "block 2 of the default 2,5; there is no block 5"
    for model in (SEGMENTER, DATA / "timm_dinov3_ts17.onnx"):
        rule = mpm.Estimator(model, reduce=mpm.Rule(mutual_pairs, (1, 2), weighted=False))
        assert rule.info["reduce"] == "rule:blocks=1,2:mean=plain:attention=plain"
        found, expected = rule.estimate(image), mpm.Estimator(model, schedule=(1, 2)).estimate(image)
        assert found.tokens == expected.tokens and found.tokens[2] < found.tokens[1] < found.tokens[0]
        np.testing.assert_array_equal(found.maps, expected.maps)
        if expected.labels is not None:
            np.testing.assert_array_equal(found.labels, expected.labels)
    same = pickle.loads(pickle.dumps(mpm.Estimator(SEGMENTER, reduce=mpm.Rule(mutual_pairs, "1,2"))))
    assert same.estimate(image).tokens[2] < same.info["tokens"]


@pytest.mark.parametrize("weighted", [True, False])
def test_a_rule_averages_by_the_sizes(weighted):
    seen = []

    def rule(rows, sizes, info):
        seen.append((rows, sizes))
        groups = np.arange(len(rows)) // 3 if len(seen) <= 2 else -np.arange(len(rows), dtype=np.int8) // 2
        return groups.tolist()

    names = ["backbone/block1", "merge/before_block2", "merge_map", "token_counts"]
    net = mpm.Net(SEGMENTER, reduce=mpm.Rule(rule, (1, 2), weighted=weighted), outputs=names)
    images = np.random.default_rng(1).standard_normal((2, 3, *net.info["input"])).astype(np.float32)
    before, after, maps, counts = net.forward(images)
    count, special = net.info["tokens"], net.info["special_tokens"]
    first = -(-count // 3)
    assert len(seen) == 4 and (counts == [count, first, len(set(-np.arange(first) // 2))]).all()
    for image in range(2):
        rows, sizes = seen[2 + image]
        np.testing.assert_array_equal(rows, before[image, special:special + first])
        np.testing.assert_array_equal(sizes, np.bincount(maps[image, 0].astype(int)))
        groups = np.unique(np.arange(first) // 2 + np.arange(first) % 2, return_inverse=True)[1]  # -i // 2 in int8
        weights = sizes.astype(np.float64) if weighted else np.ones(first)
        for group in range(groups.max() + 1):
            mean = np.average(rows[groups == group].astype(np.float64), axis=0, weights=weights[groups == group])
            np.testing.assert_allclose(after[image, special + group], mean, atol=1e-6)


@pytest.mark.parametrize("inside", [True, False])
def test_a_rule_sees_the_grid_the_map_the_keys_and_the_image(inside):
    seen = []

    def rule(rows, sizes, info):
        seen.append(info)
        np.testing.assert_array_equal(np.bincount(info.row_of_patch), sizes)
        return mutual_pairs(rows, sizes, info)

    estimator = mpm.Estimator(SEGMENTER, reduce=mpm.Rule(rule, (1, 2), inside=inside))
    result = estimator.estimate(np.full((64, 64, 3), (0, 255, 0), np.uint8))
    assert [info.block for info in seen] == [1, 2] and seen[0].grid == result.grid
    np.testing.assert_array_equal(seen[1].row_of_patch, result.maps[0])
    blue, green, red = (np.ptp(seen[0].image[channel]) for channel in range(3))
    assert blue == green == red == 0 and seen[0].image[1, 0, 0] > seen[0].image[0, 0, 0]
    assert seen[0].image.shape == (3, *estimator.info["input"])
    assert seen[1].keys.shape[0] == result.tokens[1] if inside else seen[1].keys is None
    full = mpm.Estimator(SEGMENTER, schedule=())
    assert 0.0005 < estimator.gflop(result) < full.gflop(full.estimate(picture())) < 0.002


def test_what_a_rule_raises_reaches_the_caller():
    image = picture()

    def one(rule):
        return mpm.Estimator(SEGMENTER, reduce=mpm.Rule(rule, (1,))).estimate(image)

    with pytest.raises(ZeroDivisionError, match="by zero"):
        one(lambda rows, sizes, info: 1 // 0)
    with pytest.raises(TypeError, match="argument"):
        one(lambda rows: rows)
    for wrong in (None, "ab", np.zeros(3, int), lambda rows: np.zeros(len(rows)), lambda rows: np.zeros((len(rows), 1), int)):
        with pytest.raises(mpm.Error, match="a rule returns an integer for each of its 32 rows, got shape") as error:
            one(lambda rows, sizes, info: wrong(rows) if callable(wrong) else wrong)
        assert "\n" not in str(error.value)
    estimator = None

    def again(rows, sizes, info):
        estimator.estimate(image)

    estimator = mpm.Estimator(SEGMENTER, reduce=mpm.Rule(again, (1,)))
    with pytest.raises(mpm.Error, match="cannot use the object that runs it"):
        estimator.estimate(image)
    failing = [False, True]
    estimator = mpm.Estimator(SEGMENTER, reduce=mpm.Rule(lambda *seen: 1 // 0 if failing.pop() else mutual_pairs(*seen), (1,)))
    with pytest.raises(ZeroDivisionError):
        estimator.estimate(image)
    assert estimator.estimate(image).tokens[1] < 32


def test_the_page_of_methods_is_true(tmp_path, monkeypatch):
    page = ROOT / "docs" / "adding-a-method.md"
    if not page.exists():
        pytest.skip("only the Python package is here")
    page = page.read_text()
    files = [name for row in re.findall(r"^\| (`.*?) \|", page, re.M) for name in re.findall(r"`([^`]+)`", row)]
    assert len(files) > 15 and files.count("mpm_layer/src/merging/NAME.h") == 1
    assert [name for name in files if not (ROOT / name).exists()] == ["mpm_layer/src/merging/NAME.h"]
    for name, part in (("merging/merge_tokens.cpp", "planFor"), ("base/reduction.cpp", "stepOf"), ("base/merge_rule.h", "MergeGroups")):
        assert part in page and part in (ROOT / "mpm_layer/src" / name).read_text()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vit.onnx").write_bytes(SEGMENTER.read_bytes())
    names = {}
    exec(re.search(r"```python\n(.*?)```", page, re.S)[1].replace("(2, 5)", "(1, 2)"), names)
    assert names["estimator"].estimate(picture()).tokens == (32, 16, 8)


def test_scores_are_probabilities():
    image = picture()
    for model, options in ((SEGMENTER, {}), (SEGMENTER, {"fit": "window", "window_stride": 16}), (QUERIES, {})):
        estimator = mpm.Estimator(model, scores=True, task="semantic", **options)
        result = estimator.estimate(image)
        assert result.scores.dtype == np.float32 and result.scores.shape == (len(estimator.classes), *image.shape[:2])
        np.testing.assert_allclose(result.scores.sum(axis=0), 1, atol=1e-5)
        assert result.scores.min() >= 0
        best = np.take_along_axis(result.scores, result.labels[None].astype(int), axis=0)[0]
        np.testing.assert_allclose(best, result.scores.max(axis=0), atol=1e-6)
        plain = mpm.Estimator(model, task="semantic", **options).estimate(image)
        np.testing.assert_array_equal(plain.labels, result.labels)
        assert plain.scores is None


def test_models_show_what_they_are():
    estimator = mpm.Estimator(SEGMENTER, schedule=(1,))
    assert estimator.classes == estimator.info["class_names"] and len(estimator.classes) == estimator.info["classes"]
    assert {type(name) for name in estimator.classes} == {str}
    for model in (estimator, mpm.Net(SEGMENTER, schedule=(1,))):
        text = repr(model)
        assert text.startswith(f"<mpm.{type(model).__name__} {SEGMENTER}: semantic, {len(model.classes)} classes, ")
        assert "input 32 x 64 px (height x width), reduction mpm:blocks=1, fp32" in text
    assert "classes" not in repr(mpm.Estimator(DEPTH))
    assert ": panoptic, 4 classes" in repr(mpm.Estimator(QUERIES, task="panoptic"))


def test_models_travel_as_pickles(tmp_path, monkeypatch):
    monkeypatch.chdir(DATA)
    estimator = mpm.Estimator(SEGMENTER.name, schedule=(1,), channels="RGB")
    net = mpm.Net(pathlib.Path(SEGMENTER.name), output="logits", schedule=())
    pickles = pickle.dumps(estimator), pickle.dumps(net)
    assert len(pickles[0]) < 1000, "a pickle holds the arguments, not the weights"
    monkeypatch.chdir(tmp_path)
    image = picture()
    assert estimator.gflop(estimator.estimate(image)) > 0, "it reads the model again"
    pickles += (pickle.dumps(estimator),)
    same, same_net, late = map(pickle.loads, pickles)
    assert late.info == estimator.info
    np.testing.assert_array_equal(same.estimate(image).labels, estimator.estimate(image).labels)
    np.testing.assert_array_equal(copy.copy(same).estimate(image).labels, estimator.estimate(image).labels)
    blob = np.zeros((1, 3, 32, 64), np.float32)
    np.testing.assert_array_equal(same_net.forward(blob)[0], net.forward(blob)[0])
    for kind in (mpm.ArgumentError, mpm.FileError):
        assert str(pickle.loads(pickle.dumps(kind("a line")))) == "a line"


def test_a_policy_travels_with_its_folder(tmp_path, monkeypatch):
    onnx = pytest.importorskip("onnx")
    from onnx import helper
    weight = onnx.numpy_helper.from_array(np.random.default_rng(1).standard_normal((1, 3, 16, 16)).astype(np.float32), "w")
    graph = helper.make_graph([helper.make_node("Conv", ["x", "w"], ["y"], strides=[16, 16])], "policy",
                              [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 3, 32, 64])],
                              [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 1, 2, 4])], [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.save(model, str(tmp_path / "p.onnx"))
    monkeypatch.chdir(tmp_path)
    estimator = mpm.Estimator(SEGMENTER, reduce="cts:policy=p.onnx:share=0.5")
    result = estimator.estimate(picture())
    pickled = pickle.dumps(estimator)
    monkeypatch.chdir(DATA)
    assert estimator.gflop(result) > 0
    assert pickle.loads(pickled).estimate(picture()).tokens == result.tokens


def test_a_name_need_not_be_utf8(tmp_path):
    model = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.onnx")
    pathlib.Path(model).write_bytes(SEGMENTER.read_bytes())
    assert mpm.info(model)["name"] == "\\xff" and repr(mpm.Estimator(model)).startswith(f"<mpm.Estimator {model}: ")


def test_dir_lists_what_is_for_users():
    assert set(dir(mpm)) == set(mpm.__all__)
    assert all(name == "__version__" or not name.startswith("_") for name in dir(mpm))


def test_net_gives_its_outputs_by_name(tmp_path):
    converted = tmp_path / "fast.onnx"
    info = mpm.convert(SEGMENTER, converted, schedule=(1, 2))
    assert info["reduce"] == "mpm:blocks=1,2" and info["converted"] and not mpm.info(SEGMENTER)["converted"]
    assert info == mpm.info(converted)
    images = np.random.default_rng(1).standard_normal((2, 3, *info["input"])).astype(np.float32)
    net = mpm.Net(converted)
    assert net.outputs == ["labels", "merge_map", "token_counts"]
    labels, merge_map, counts = net.forward(images)
    assert labels.shape == (2, 1, *info["input"]) and merge_map.shape == (2, 2, info["tokens"]) and counts.shape == (2, 3)
    assert (merge_map.max(axis=2) + 1 == counts[:, 1:]).all()
    for found, expected in zip(net.forward(images, ["merge_map", "labels"]), (merge_map, labels), strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(mpm.Net(converted, outputs=["token_counts"]).forward(images)[0], counts)
    scores = mpm.Net(SEGMENTER, schedule=(1, 2), scores=True)
    assert scores.forward(images, ["scores"])[0].shape == (2, info["tokens"], info["classes"])
    assert mpm.Net(SEGMENTER, output="logits", schedule=()).outputs[0] not in ("labels", "merge_map", "token_counts")


def test_net_leaves_the_arrays_that_it_gave_as_they_are():
    net = mpm.Net(SEGMENTER, schedule=(), output="logits")
    images = np.random.default_rng(4).standard_normal((5, 1, 3, *net.info["input"])).astype(np.float32)
    first = net.forward(images[0])[0]
    view = net.forward(images[1])[0][0, 0]
    copies = first.copy(), view.copy()
    alone = [mpm.Net(SEGMENTER, schedule=(), output="logits").forward(image)[0] for image in images[2:]]
    for image, expected in zip(images[2:], alone, strict=True):
        np.testing.assert_array_equal(net.forward(image)[0], expected)
    np.testing.assert_array_equal(first, copies[0])
    np.testing.assert_array_equal(view, copies[1])


def test_merge_and_restore():
    rng = np.random.default_rng(5)
    tokens = rng.standard_normal((1 + 50, 16)).astype(np.float32)
    merged, clusters = mpm.merge(tokens, special=1)
    np.testing.assert_array_equal(clusters, np.unique(mutual_pairs(tokens[1:], None, None), return_inverse=True)[1])
    for cluster in range(clusters.max() + 1):
        np.testing.assert_allclose(merged[1 + cluster], tokens[1:][clusters == cluster].mean(axis=0), atol=1e-6)
    batch = mpm.merge(np.stack([tokens, tokens[::-1]]), special=1)
    for (one, ids), alone in zip(batch, (tokens, tokens[::-1]), strict=True):
        for found, expected in zip((one, ids), mpm.merge(alone, special=1), strict=True):
            np.testing.assert_array_equal(found, expected)
    restored = mpm.restore(merged, clusters, special=1)
    assert restored.shape == tokens.shape
    np.testing.assert_array_equal(restored[0], tokens[0])
    np.testing.assert_array_equal(restored[1:], merged[1 + clusters])


def test_sides_beyond_an_int_are_refused(tmp_path):
    tall = np.memmap(tmp_path / "sparse", np.uint8, "w+", shape=(2**32 + 40, 1))  # not one of 40 rows
    with pytest.raises(mpm.ArgumentError, match="sides below 2\\^31, got shape"):
        mpm.evaluate([tall], [tall[:40]], classes=2)


def test_evaluate_counts_as_numpy_does():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 4, (3, 20, 30), np.uint8)
    predicted = np.where(rng.random(truth.shape) < 0.7, truth, rng.integers(0, 3, truth.shape)).astype(np.uint8)
    truth[:, :4] = 255
    result = mpm.evaluate(iter(predicted), iter(truth), classes=4)
    counted = truth != 255
    expected = np.zeros((4, 4), np.int64)
    np.add.at(expected, (truth[counted], predicted[counted]), 1)
    np.testing.assert_array_equal(result.confusion, expected)
    both = expected.diagonal()
    iou = both / (expected.sum(0) + expected.sum(1) - both)
    np.testing.assert_allclose(result.iou, iou)
    assert result.mean_iou == pytest.approx(iou.mean()) and result.images == 3
    assert result.pixel_accuracy == pytest.approx(both.sum() / expected.sum())
    estimator = mpm.Estimator(SEGMENTER)
    image = picture()
    assert mpm.evaluate([image], [estimator.estimate(image).labels], estimator).pixel_accuracy == 1
    other = types.SimpleNamespace(info={"classes": 2, "ignore": 1}, estimate=lambda one: types.SimpleNamespace(labels=one))
    assert mpm.evaluate([truth[0] * 0], [truth[0].clip(0, 1)], other).confusion.sum() == (truth[0] == 0).sum()


def test_evaluate_passes_errors_of_a_generator_on():
    def images():
        yield np.zeros((2, 2), np.uint8)
        raise ValueError("my zip() broke")

    with pytest.raises(ValueError, match="my zip"):
        mpm.evaluate(images(), [np.zeros((2, 2), np.uint8)] * 2, classes=2)


def test_overlay_blends():
    image, labels = picture(), np.zeros((40, 70), np.uint8)
    labels[:20] = 1
    colors = np.array([[0, 0, 0], [10, 20, 250]], np.uint8)
    painted = mpm.overlay(image, labels, colors, opacity=1)
    assert (painted[:20] == colors[1]).all() and (painted[20:] == 0).all()
    np.testing.assert_array_equal(mpm.overlay(image, labels, colors, opacity=0), image)
    assert mpm.overlay(image, labels).shape == image.shape
    assert mpm.Estimator(SEGMENTER).colors.shape == (mpm.info(SEGMENTER)["classes"], 3)


def test_threads_share_a_segmenter():
    estimator = mpm.Estimator(SEGMENTER)
    images = [picture(seed=i) for i in range(4)]
    expected = [estimator.estimate(image).labels for image in images]

    def work(i):
        return all((estimator.estimate(images[i]).labels == expected[i]).all() for _ in range(20))

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [True] * 4


def test_the_gil_is_released():
    estimator = mpm.Estimator(SEGMENTER, fit="window", window_stride=1)
    image = picture(72, 104)
    estimator.estimate(image)
    ticks = 0
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        work = pool.submit(estimator.estimate, image)
        while not work.done():
            ticks += 1
            time.sleep(0.001)
    assert ticks > 5, "this thread stood still while the other computed"


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(method, tmp_path):
    code = """
import multiprocessing, sys
import numpy as np
import mpm
def work(seed):
    image = np.random.default_rng(seed).integers(0, 256, (40, 70, 3), np.uint8)
    return int(mpm.Estimator(sys.argv[1]).estimate(image).labels.sum())
if __name__ == "__main__":
    alone = [work(i) for i in range(4)]
    with multiprocessing.get_context(sys.argv[2]).Pool(2) as pool:
        assert pool.map(work, range(4)) == alone
    print("equal")
"""
    script = tmp_path / "processes.py"
    script.write_text(code)
    done = subprocess.run([sys.executable, script, SEGMENTER, method], capture_output=True, text=True, timeout=120)
    assert done.stdout == "equal\n", done.stderr


def test_python_ends_while_a_daemon_computes():
    code = """
import sys, threading
import numpy as np
import mpm
estimator, image = mpm.Estimator(sys.argv[1]), np.zeros((400, 700, 3), np.uint8)
started = threading.Event()
def work():
    while True:
        estimator.estimate(image)
        started.set()
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
started.wait()
"""
    for _ in range(5):
        done = run_python(code, SEGMENTER)
        assert (done.returncode, done.stderr) == (0, "")


def test_a_child_computes_what_a_thread_began():
    code = """
import os, signal, sys, threading, warnings
import numpy as np
import mpm
warnings.simplefilter("ignore")  # Python 3.12 and later: a process with threads forks
estimator = mpm.Estimator(sys.argv[1])
image = np.random.default_rng(3).integers(0, 256, (200, 300, 3), np.uint8)
labels = estimator.estimate(image).labels
stop, started = threading.Event(), threading.Event()
def work():
    while not stop.is_set():
        estimator.estimate(image)
        started.set()
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
started.wait()
for _ in range(20):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(not (estimator.estimate(image).labels == labels).all())
    assert os.waitpid(child, 0)[1] == 0
stop.set()
for thread in threads:
    thread.join()
assert (estimator.estimate(image).labels == labels).all()
print("equal")
"""
    done = run_python(code, SEGMENTER)
    assert (done.stdout, done.stderr) == ("equal\n", "")


def test_ctrl_c_stops_an_evaluation():
    code = """
import itertools, signal, sys, threading, time, os
import numpy as np
import mpm
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores Ctrl-C
estimator = mpm.Estimator(sys.argv[1])
image, labels = np.zeros((40, 70, 3), np.uint8), np.zeros((40, 70), np.uint8)
try:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    mpm.evaluate(itertools.repeat(image), itertools.repeat(labels), estimator)
except KeyboardInterrupt:
    print("stopped")
"""
    assert run_python(code, SEGMENTER).stdout == "stopped\n"


def test_stubs_and_docstrings_are_there():
    folder = pathlib.Path(mpm.__file__).parent
    stub = (folder / "_mpm.pyi").read_text()
    assert (folder / "py.typed").exists() and "class Estimator" in stub
    for name in ("class Error(RuntimeError)", "class ArgumentError(Error, ValueError)",
                 "class FileError(Error, FileNotFoundError)", "__version__: str"):
        assert name in stub
    for name in mpm.__all__:
        if not name.startswith("__"):
            assert getattr(mpm, name).__doc__, name


def test_types_are_those_of_a_program(tmp_path):
    """As README.md uses it, under a type checker."""
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text("""
import numpy as np
import mpm
image = np.zeros((8, 8, 3), np.uint8)
estimator = mpm.Estimator("vit.onnx", features=True)
result = estimator.estimate(image)
print(result.labels, result.tokens[0], [one.ms["total"] for one in estimator.estimate([image])])
merged, clusters = mpm.merge(np.zeros((4, 4), np.float32))
try:
    print(mpm.__version__, mpm.merge([merged])[0])
except (mpm.ArgumentError, mpm.FileError, mpm.Error) as error:
    print(error)
""")
    found = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", program],
                           capture_output=True, text=True, timeout=600, cwd=tmp_path)
    assert found.returncode == 0, found.stdout + found.stderr


# A row of the README's table, to 0.1; tests/cli checks all rows.
def test_camvid_as_cv2_reads_it():
    cv2 = pytest.importorskip("cv2")
    model, folder = SHARED / "models" / "camvid_segmenter_vit_t16.onnx", SHARED / "data" / "camvid_val"
    if not model.exists() or not folder.exists():
        pytest.skip("the CamVid models and images are not there")
    estimator = mpm.Estimator(model, schedule=(2, 5))
    images = sorted((folder / "images").iterdir())
    labels = [next((folder / "labels").glob(image.stem + "*")) for image in images]
    result = mpm.evaluate((cv2.imread(str(path)) for path in images),
                          (cv2.imread(str(path), cv2.IMREAD_GRAYSCALE) for path in labels), estimator, ignore=11)
    assert result.images == 101 and abs(100 * result.mean_iou - 63.416) < 0.1


class TestCv2:
    @pytest.fixture(autouse=True)
    def cv2(self):
        self.cv2 = pytest.importorskip("cv2")
        self.takes_layers = int(self.cv2.__version__.split(".")[0]) < 5

    @pytest.mark.parametrize("first", ["cv2", "mpm"])
    def test_both_load_in_either_order(self, first):
        second = "mpm" if first == "cv2" else "cv2"
        code = f"""
import sys
import numpy as np
import {first}, {second}
labels = mpm.Estimator(sys.argv[1]).estimate(np.zeros((40, 70, 3), np.uint8)).labels
assert cv2.resize(labels, (35, 20)).shape == (20, 35)
assert cv2.dnn.blobFromImage(np.zeros((4, 4, 3), np.uint8)).shape == (1, 3, 4, 4)
print("both")
"""
        done = run_python(code, SEGMENTER)
        assert done.stdout == "both\n", done.stderr

    def test_register_cv2_runs_converted_files(self, tmp_path):
        if not self.takes_layers:
            with pytest.raises(mpm.Error, match="use mpm.Net"):
                mpm.register_cv2()
            return
        mpm.register_cv2()
        mpm.register_cv2()
        for model, reduce in ((SEGMENTER, "mpm:blocks=1,2"), (LINEAR, "tome:count=4"), (SEGMENTER, "none"),
                              (DATA / "dpt_ts16.onnx", "mpm:blocks=1"), (QUERIES, "mpm:blocks=1")):
            converted = str(tmp_path / "fast.onnx")
            info = mpm.convert(model, converted, reduce=reduce)
            assert info["reduce"].startswith(reduce.split(":")[0])
            images = np.random.default_rng(7).standard_normal((2, 3, *info["input"])).astype(np.float32)
            net = self.cv2.dnn.readNetFromONNX(converted)
            net.setInput(images)
            same = mpm.Net(converted)
            for found, expected in zip(net.forward(same.outputs), same.forward(images), strict=True):
                np.testing.assert_array_equal(found, expected)

    def test_readmes_run_as_printed(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "vit.onnx").write_bytes(SEGMENTER.read_bytes())
        self.cv2.imwrite("street.png", picture())
        for folder in ("docs", "models"):  # the snippet of README.md runs in the project
            (tmp_path / folder).symlink_to(ROOT / folder)
        snippets = [code for name in ("README.md", "python/README.md")
                    for code in re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), re.S) if "ctypes" not in code]
        assert len(snippets) == 3
        names = {}
        for code in snippets:
            if self.takes_layers or "register_cv2" not in code:
                exec(code, names)
        assert names["result"].labels.shape == (40, 70) and pathlib.Path("overlay.png").exists()

    def test_examples(self, tmp_path):
        (tmp_path / "images").mkdir()
        for i in range(3):
            self.cv2.imwrite(str(tmp_path / "images" / f"{i}.png"), picture(seed=i))
        examples = ROOT / "python" / "examples"

        def run(name, *arguments, model=SEGMENTER):
            return subprocess.run([sys.executable, examples / name, model, *arguments], check=True, capture_output=True,
                                  text=True, timeout=300)

        assert "3/3" in run("segment_folder.py", tmp_path / "images", tmp_path / "out").stderr
        labels = self.cv2.imread(str(tmp_path / "out" / "1.png"), self.cv2.IMREAD_GRAYSCALE)
        np.testing.assert_array_equal(labels, mpm.Estimator(SEGMENTER).estimate(picture(seed=1)).labels)
        for example in examples.glob("*.py"):
            found = subprocess.run([sys.executable, example], capture_output=True, text=True, timeout=300)
            if "ModuleNotFoundError" not in found.stderr:
                assert found.returncode == 2 and re.search(f"^usage: {example.name} .*\n\\Z", found.stderr, re.M)
        pytest.importorskip("matplotlib")
        run("overlay_matplotlib.py", tmp_path / "images" / "0.png", tmp_path / "figure.png")
        assert (tmp_path / "figure.png").stat().st_size > 1000
        self.cv2.imwrite(str(tmp_path / "grey.png"), picture()[:, :, 0])
        mpm.convert(SEGMENTER, tmp_path / "full.onnx", ())
        run("overlay_matplotlib.py", tmp_path / "grey.png", tmp_path / "grey_figure.png", model=tmp_path / "full.onnx")
        pytest.importorskip("torch")
        assert "(2, 448, 640, 3) (2, 448, 640)" in run("data_loader.py", tmp_path / "images").stdout


def halves(count=4):
    """Images that are dark on the left and bright on the right, and their label maps."""
    rng = np.random.default_rng(7)
    images, labels = [], []
    for _ in range(count):
        image = rng.integers(0, 60, (96, 128, 3), np.uint8)
        image[:, 64:] += 160
        images.append(image)
        labels.append(np.repeat(np.repeat(np.uint8([[0, 1]]), 96, 0), 64, 1))
    return images, labels


def test_teach_makes_a_model_of_four_images(tmp_path):
    images, labels = halves()
    shares = []
    file = tmp_path / "mine.onnx"
    result = mpm.teach(images, labels, ["dark", "bright"], file, steps=30, progress=shares.append)
    assert result["model"] == str(file) and result["pictures"] == 4 and result["reduce"] == "none"
    assert result["cross_validation"]["rounds"] == 4 and result["cross_validation"]["miou"] > 90
    assert shares == sorted(shares) and shares[-1] == 1
    estimator = mpm.Estimator(file)
    assert estimator.classes == ["dark", "bright"]
    assert mpm.evaluate(*halves(5), estimator).mean_iou > 0.9
    assert json.loads(file.with_suffix(".json").read_text())["taught"]["pictures"] == 4


def test_teach_goes_on_from_another_model(tmp_path):
    images, labels = halves(2)
    labels[0][10:] = 255
    result = mpm.teach(np.stack(images), np.stack(labels), ("a", "b"), tmp_path / "new.onnx", DATA / "timm_vit_ts17.onnx",
                       reduce="mpm:blocks=1", steps=3, cross_validation=False)
    assert result["cross_validation"] is None and result["reduce"] == "mpm:blocks=1"
    assert mpm.info(tmp_path / "new.onnx")["class_names"] == ["a", "b"]


def test_teach_says_what_is_wrong_and_writes_nothing(tmp_path):
    images, labels = halves(2)

    def enough(share):
        raise KeyError("enough")

    for change, kind, part in [({"labels": labels[:1]}, mpm.ArgumentError, "2 images, but 1 label maps"),
                               ({"classes": ["a"]}, mpm.ArgumentError, "fewer than two classes"),
                               ({"classes": ["a", "a"]}, mpm.ArgumentError, "two classes 'a'"),
                               ({"classes": ["a", "b", "c"]}, mpm.ArgumentError, "no pixel is labelled 'c'"),
                               ({"labels": [one[:50].copy() for one in labels]}, mpm.ArgumentError, "differ in size"),
                               ({"labels": images}, mpm.ArgumentError, "a label map is"),
                               ({"labels": [one + 3 for one in labels]}, mpm.ArgumentError, "label 3"),
                               ({"model": tmp_path / "none.onnx"}, mpm.FileError, "none.onnx"),
                               ({"output_file": tmp_path / "none" / "mine.onnx"}, mpm.FileError, "there is no folder"),
                               ({"output_file": tmp_path / "mine.pb"}, mpm.ArgumentError, "must end in .onnx"),
                               ({"steps": 0}, mpm.ArgumentError, "at least one step"),
                               ({"progress": enough}, KeyError, "enough")]:
        with pytest.raises(kind, match=re.escape(part)):
            mpm.teach(**{"images": images, "labels": labels, "classes": ["a", "b"], "steps": 2,
                         "output_file": tmp_path / "mine.onnx", "model": DATA / "timm_vit_ts17.onnx"} | change)
    assert list(tmp_path.iterdir()) == []
