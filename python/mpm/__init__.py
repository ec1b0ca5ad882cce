# SPDX-License-Identifier: Apache-2.0
"""Fast Vision Transformers and Mutual Pair Merging (MPM) on NumPy arrays.

>>> estimator = mpm.Estimator("vit.onnx")
>>> result = estimator.estimate(image)         # uint8 (height, width, 3), BGR as cv2.imread gives it
>>> result.labels                              # uint8 (height, width), the class of each pixel

Heavy calls release the GIL. Objects may be used by several threads, which then take turns. Errors are mpm.Error with one
line of text: ArgumentError, also a ValueError, for a wrong argument; FileError, also a FileNotFoundError, for a missing file or
folder. What a model cannot do, such as merging before a block that it does not have, is a plain Error.
"""
from __future__ import annotations

import atexit
import json
import os
import pathlib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Union, overload

import numpy as np

from . import _mpm
from ._mpm import ArgumentError, Error, FileError, __version__

__all__ = ["ArgumentError", "DEFAULT_MODEL", "Error", "Estimate", "Estimator", "Evaluation", "FileError", "Net", "Rule", "RuleInfo", "Segment", "__version__",
           "convert", "evaluate", "info", "merge", "overlay", "register_cv2", "restore", "teach"]

Path = Union[str, "os.PathLike[str]"]

DEFAULT_MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models", "outdoor_vit_t16.onnx")
"""A segmenter of streets that this package brings along."""

# fork() and the end of the interpreter wait for calls of other threads. A forked process computes with one thread.
os.register_at_fork(before=_mpm.before_fork, after_in_parent=_mpm.after_fork_in_parent,
                    after_in_child=_mpm.after_fork_in_child)
atexit.register(_mpm.at_exit)


def __dir__() -> list[str]:
    return __all__


class Segment(NamedTuple):
    """Pixels of one class that belong together."""

    id: int
    """Of Estimate.ids: 1, 2, ..."""
    label: int
    """Its class, an index into info['class_names']."""
    score: float
    """Probability of the class, 0..1; of a model of mask queries for the task 'instance' times the mean probability of the mask."""
    area: int
    """px of Estimate.ids"""
    box: tuple[float, float, float, float] | None = None
    """Of a model of box queries: left, top, right and bottom, px; it may reach over the edges of the image."""


class Estimate(NamedTuple):
    """What Estimator.estimate returns for one image. Maps have the size of the image; those of other tasks are None. It
    shares no memory with the image or the Estimator."""

    labels: np.ndarray | None
    """Task 'semantic': uint8 (height, width), the class of each pixel."""
    ids: np.ndarray | None
    """Tasks 'panoptic', 'instance' and 'boxes': uint16 (height, width), the segment of each pixel, 0 for none."""
    segments: list[Segment]
    depth: np.ndarray | None
    """Task 'depth': float32 (height, width). info['depth'] says what its values mean: 'metre'; 'inverse', no unit and larger is
    nearer; 'relative', no unit and nothing said of near and far."""
    grid: tuple[int, int]
    """Rows and columns of image tokens; N = rows * columns."""
    tokens: tuple[int, ...]
    """K + 1 numbers: N, then the tokens that are left after each of K insertions of merging. Of sliding windows the mean,
    rounded."""
    window_tokens: tuple[tuple[int, ...], ...]
    """With fit='window' the tokens of each window, else ()."""
    maps: np.ndarray
    """int32 (K, N): the cluster of each image token after each insertion, composed from the start. Of sliding
    windows those of the first."""
    ms: dict[str, float]
    """Wall time of 'total' and of its stages: 'preprocess', 'backbone', 'merge', 'restore', 'head', 'postprocess'."""
    reuse: dict[str, Any] | None
    """With Estimator(reuse=...): 'rows', the share of the rows that were computed; 'key_frame'; 'agreement' with the full result
    in percent, of a key frame that was due, else None; 'threshold' in grey levels, which 'budget' and 'cosine' do not use; 'kept_bytes'."""
    scores: np.ndarray | None
    """With Estimator(scores=True): float32 (classes, height, width), the probability of each class at each pixel. Of a model of
    queries, or whose graph ends in a sigmoid, the share of its class scores. Those before refine='guided', which changes labels
    alone."""
    features: np.ndarray | None
    """With Estimator(features=True): float32 (N, dim), the image tokens behind the last block. Tokens that merged have equal rows."""


class RuleInfo(NamedTuple):
    """What a Rule sees beside the tokens."""

    grid: tuple[int, int]
    """Rows and columns of patches."""
    row_of_patch: np.ndarray
    """int32 (grid rows * columns,): the row that each patch is in, by the merges so far."""
    block: int
    """Where it merges, counted from 0."""
    keys: np.ndarray | None
    """float32 (N, width): the keys of the block's attention, their mean over the heads. None before a block."""
    image: np.ndarray
    """float32 (channels, height, width): the network input, normalised."""


class Rule(NamedTuple):
    """A rule of merging to try, reduce=mpm.Rule(function): slow, exact, on the CPU.

    >>> def neighbours(rows, sizes, info):         # merges every two rows, whatever they show
    ...     return np.arange(len(rows)) // 2
    >>> mpm.Estimator("vit.onnx", reduce=mpm.Rule(neighbours, blocks=(2, 5)))
    """

    function: Callable[[np.ndarray, np.ndarray, RuleInfo], np.ndarray]
    """Called at each of the blocks, for each image, with rows, float32 (N, dim), the image tokens that are left, sizes,
    float32 (N,), the patches in each, and a RuleInfo. Returns N integers: rows with the same one become their mean, in the
    order of their first ones. Its exceptions reach the caller. It must not use the Estimator that calls it, nor wait
    for calls of other threads: they stand still while a fork() waits for this one."""
    blocks: Sequence[int] | str | None = None
    """The blocks where rows merge, such as (2, 5) or '2,5'. None: 2 and 5, or 2 where the model has no more. A model of two blocks has
    neither: name them."""
    weighted: bool = True
    """The mean is weighted by the sizes; else plain, as in MPM."""
    attention: str = "plain"
    """'plain' or 'proportional' to the sizes (docs/reduction.md)."""
    inside: bool = False
    """Merges between attention and MLP of the blocks, else before them."""


def _native(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments as the extension takes them."""
    rule = arguments["reduce"]
    if not isinstance(rule, Rule):
        return arguments
    if rule.blocks is not None and not isinstance(rule.blocks, Iterable):
        raise ArgumentError(f"the blocks of a rule are such as (2, 5) or '2,5', got {_shown(rule.blocks)}")
    blocks = rule.blocks if rule.blocks is None or isinstance(rule.blocks, str) else ",".join(map(str, rule.blocks))
    return {**arguments, "reduce": None, "rule": rule.function, "blocks": blocks, "weighted": rule.weighted,
            "attention": rule.attention, "inside": rule.inside}


class _Model:
    """What Estimator and Net have in common. Pickling keeps the arguments; the copy reads the model again."""

    def _read(self, native: type, arguments: dict[str, Any]) -> None:
        self._arguments = {name: value for name, value in arguments.items() if name not in ("self", "__class__")}
        # Files are read again for gflop() and pickles, maybe in another working folder.
        model, reduce = arguments["model"], arguments["reduce"]
        if isinstance(model, (str, os.PathLike)):
            self._arguments["model"] = pathlib.Path(os.fsdecode(model)).absolute()
        if isinstance(reduce, str) and ":" not in os.getcwd():  # a spec has no colons in a path
            self._arguments["reduce"] = re.sub("(?<=:policy=)[^:]+", lambda path: str(pathlib.Path(path[0]).absolute()), reduce)
        self._native = native(_native(self._arguments))

    def __getstate__(self) -> dict[str, Any]:
        return self._arguments

    def __setstate__(self, arguments: dict[str, Any]) -> None:
        self.__init__(**arguments)

    def __repr__(self) -> str:
        info = self.info
        does = self._arguments.get("task") or info["task"] or info["head"]
        height, width = info["input"]
        classes = f", {info['classes']} classes" if info["classes"] else ""
        return (f"<mpm.{type(self).__name__} {self._arguments['model']}: {does}{classes}, "
                f"input {height} x {width} px (height x width), reduction {info['reduce']}, {info['precision']}>")

    @property
    def info(self) -> dict[str, Any]:
        """Facts of the model: see mpm.info()."""
        return self._native.info

    @property
    def classes(self) -> list[str]:
        """The name of each class."""
        return self._native.info["class_names"]


class Estimator(_Model):
    """Runs a model on images of any size: resize, normalisation, net, the result of its task at the size of the image.

    model: a plain ViT ONNX file, or one made by convert().
    schedule: short for reduce='mpm:blocks=...': blocks before which tokens merge, (2, 5) or '2,5'; () is the full model. None is the
        reduction that the model's JSON or a converted file names, else (2, 5).
    reduce: instead of a schedule, how tokens merge, such as 'mpm:blocks=2,5:attention=proportional' or
        'gradual:blocks=0-7:count=48' (docs/reduction.md), or a Rule.
    precision: 'fp32', 'int8', or 'bf16' (x86) or 'fp16' (Arm) on a CPU that has it; on a GPU 'fp32', 'tf32', 'bf16' or 'fp16'.
        None is 'fp32', and of a converted file its own.
    device: 'cpu', 'cuda', 'cuda:1' or 'auto'. Wheels have no GPU code.
    input_size: height and width of the network input, multiples of the patch. None is the size in the model.
    task: 'semantic', 'panoptic', 'instance', 'depth' or 'boxes'; None is info['task']. Queries, as EoMT has them, give the first
        three: in 'panoptic' each pixel belongs to at most one segment and the segments of a stuff class are one; in 'instance'
        each query of a thing is a segment and a later one covers an earlier one. RF-DETR gives 'boxes', and 'instance' with
        masks: its objects come with the best first, and cover those behind them. A model without a task gives tokens and maps.
    fit: for labels. 'resize' gives the whole image to the net in one pass; 'window' slides windows of the network input over
        it, window_stride px apart (0: 15/16 of a window), after the image is resized to this shorter side, short_side px
        (0: it stays as it is).
    min_score, min_overlap: of segments, 0..1, as the options of mpm run (docs/converter.md). min_score None is 0.8, and 0.5 of
        a model of boxes.
    threads: CPU threads, for the whole process, while this object is the newest with a number of its own; 0 is as many as now.
    channels: 'BGR' as in OpenCV, or 'RGB': the order in the images that estimate() gets.
    reuse: for the frames of a fixed camera, given one after the other: 'auto', or a spec such as 'threshold=12:refresh=600'.
        Only what changed since earlier frames is computed (docs/reuse.md).
    refine: of labels. 'guided': the edges of classes follow those of the image (docs/refine.md); 'none'; None is info['refine'].
    scores: also give the probabilities of the classes, for labels: Estimate.scores.
    features: also give the tokens behind the last block: Estimate.features.
    """

    def __init__(self, model: Path, schedule: Sequence[int] | str | None = None, precision: str | None = None,
                 device: str = "cpu", *, reduce: str | Rule | None = None, input_size: tuple[int, int] | None = None,
                 task: str | None = None, fit: str = "resize", window_stride: int = 0, short_side: int = 0,
                 min_score: float | None = None, min_overlap: float = 0.8, threads: int = 0, channels: str = "BGR",
                 reuse: str = "off", refine: str | None = None, scores: bool = False, features: bool = False) -> None:
        self._read(_mpm.Estimator, locals())

    @overload
    def estimate(self, image: np.ndarray, patches: Sequence[int] | None = None) -> Estimate: ...
    @overload
    def estimate(self, image: Sequence[np.ndarray]) -> list[Estimate]: ...
    def estimate(self, image: np.ndarray | Sequence[np.ndarray],
                 patches: Sequence[int] | None = None) -> Estimate | list[Estimate]:
        """The result for one image, uint8 (height, width, 3). A batch, which is an array (batch, height, width, 3) or a
        sequence of images of any sizes, gives a list with one Estimate per image. Type checkers take any array for one image.

        patches, of one image and with Estimator(reuse=...): the patches of this frame to compute, ascending, instead of those that
        the Estimator finds changed: a policy of your own. Computed whole all the same: the first frame, one of another size and one
        that is due after `refresh` seconds."""
        image = _array(image)
        is_array = isinstance(image, np.ndarray)
        if is_array and image.ndim == 4 or not is_array and isinstance(image, Iterable) and not isinstance(image, str):
            if patches is not None:
                raise ArgumentError("patches are those of one image, and this is a batch")
            return [self.estimate(one) for one in image]
        chosen = None if patches is None else np.asarray(patches).tolist()  # whole numbers, or the extension refuses it
        labels, ids, segments, *rest = self._native.estimate(image, chosen)
        return Estimate(labels, ids, [Segment(*one) for one in segments], *rest)

    def gflop(self, result: Estimate) -> float:
        """GFLOP of the pass that gave this result, of sliding windows the mean over them, counted as in docs/reduction.md. What
        a Rule computes is left out."""
        passes = result.window_tokens or (result.tokens,)
        return sum(self._native.gflop(tokens) for tokens in passes) / len(passes)

    def reset(self) -> None:
        """With reuse: forgets earlier frames, because another camera follows, and frees what is kept of them."""
        self._native.reset()

    @property
    def colors(self) -> np.ndarray:
        """uint8 (classes, 3): the BGR colour of each class, for overlay()."""
        return self._native.colors


class Net(_Model):
    """The net alone, without preprocessing, like cv2.dnn.Net.

    model, schedule, reduce, precision, device, input_size: as in Estimator.
    output: 'labels', or 'logits' for what the original graph returns, before an argmax at its end.
    scores: adds the output 'scores', float32 (batch, N, classes), before softmax, of a model whose info['head'] is 'linear' or
        'mask_transformer'; others have none. Also needed for a file that convert(scores=True) made.
    outputs: the values that the net computes, by their names in docs/ops.md; () is all outputs of the model.
    """

    def __init__(self, model: Path, schedule: Sequence[int] | str | None = None, precision: str | None = None,
                 device: str = "cpu", *, reduce: str | Rule | None = None, input_size: tuple[int, int] | None = None,
                 output: str = "labels", scores: bool = False, outputs: Sequence[str] = ()) -> None:
        self._read(_mpm.Net, locals())

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs: 'labels' {batch, 1, height, width} or those of the original graph, 'merge_map'
        {batch, max(K, 1), N}, 'token_counts' {batch, K + 1}."""
        return self._native.outputs

    def forward(self, array: np.ndarray, outputs: Sequence[str] | None = None) -> list[np.ndarray]:
        """Runs the net on float32 (batch, channels, height, width), normalised as info['mean'] and info['std'] say, and returns
        the named outputs, all float32. None: all, in the order of Net.outputs."""
        names = self.outputs
        if isinstance(outputs, (str, bytes)) or outputs is not None and not isinstance(outputs, Iterable):
            raise ArgumentError(f"outputs is a list of names, got {_shown(outputs)}")
        wanted = names if outputs is None else list(outputs)
        for name in wanted:
            if name not in names:
                raise ArgumentError(f"the net has no output {_shown(name)}; it has {', '.join(names)}")
        found = dict(zip(names, self._native.forward(_array(array))))
        return [found[name] for name in wanted]


class Evaluation(NamedTuple):
    """Quality of predicted labels, summed over all images."""

    mean_iou: float
    """Mean of `iou` over the classes with true pixels, 0..1."""
    pixel_accuracy: float
    """Share of counted pixels whose prediction is right, 0..1."""
    iou: np.ndarray
    """float64 (classes,): intersection over union; NaN for a class that occurs neither in truth nor in prediction."""
    confusion: np.ndarray
    """int64 (classes, classes): pixels of class [row] in truth that are class [column] in the prediction."""
    images: int


def _shown(value: Any) -> str:
    """`value` in a few words."""
    text = repr(value)
    return text if len(text) <= 60 else f"a {type(value).__name__}"


def _array(value: Any) -> Any:
    """An array in C order of what is one. Else `value`, which the extension refuses."""
    is_array = hasattr(value, "__array__") or hasattr(value, "__array_interface__") or isinstance(value, memoryview)
    return np.ascontiguousarray(value) if is_array else value


def convert(model: Path, output_file: Path, schedule: Sequence[int] | str | None = None, *, reduce: str | None = None,
            input_size: tuple[int, int] | None = None, precision: str | None = None, output: str = "labels",
            scores: bool = False, mean: Sequence[float] | None = None,
            std: Sequence[float] | None = None) -> dict[str, Any]:
    """Converts a plain ViT ONNX file into a file of ai.mpm operators, whole or not at all. Returns what info() says of it.
    Parameters: as in Net. mean, std: of the pixel values 0..1 that the model was trained with, instead of those in its JSON."""
    return _mpm.convert(_native(locals()))


def info(model: Path) -> dict[str, Any]:
    """Describes a plain ViT ONNX file or a converted one without running it: 'input' (height, width), 'patch', 'grid',
    'blocks', 'dim', 'heads', 'special_tokens', 'tokens', 'head', 'task' ('semantic', 'panoptic', 'instance', 'depth', 'boxes'
    or None), 'depth' (what the values of a depth map mean: see Estimate.depth; None for other tasks), 'classes', 'class_names', 'mean',
    'std', 'assumed' (nothing says mean and std: they are 0.5), 'reduce' and more: the keys of `mpm info --json`, where a size is
    an object, but for its 'path' and 'mpm'. Raises Error for a model that is not a plain pre-norm ViT."""
    return _mpm.info(model)


@overload
def merge(tokens: np.ndarray, special: int = 0) -> tuple[np.ndarray, np.ndarray]: ...
@overload
def merge(tokens: Sequence[np.ndarray], special: int = 0) -> list[tuple[np.ndarray, np.ndarray]]: ...
def merge(tokens: Any, special: int = 0) -> Any:
    """Mutual Pair Merging of the tokens of one image, float32 (special + N, dim): two image tokens that are each other's
    nearest neighbour in cosine similarity become their mean; the special tokens in front are kept. Returns the merged
    tokens (special + clusters, dim) and the cluster of each image token, int32 (N,). A batch, an array
    (batch, special + N, dim) or a sequence of arrays, gives a list with such a pair for each image."""
    tokens = _array(tokens)
    if getattr(tokens, "ndim", 0) == 3 or isinstance(tokens, (list, tuple)):
        return [merge(one, special) for one in tokens]
    return _mpm.merge(tokens, special)


def restore(merged: np.ndarray, cluster_of_token: np.ndarray, special: int = 0) -> np.ndarray:
    """Undoes merge(): (special + clusters, dim) -> (special + N, dim), each token with the row of its cluster."""
    return _mpm.restore(_array(merged), _array(cluster_of_token), special)


def evaluate(images: Iterable[np.ndarray], labels: Iterable[np.ndarray], estimator: Estimator | None = None, *,
             classes: int | None = None, ignore: int | None = None) -> Evaluation:
    """Compares images with their true label maps, uint8 (height, width).

    images: with an estimator, images as for Estimator.estimate; without one, predicted label maps, uint8 (height, width).
    labels: as many. Both may be generators: one pair is in memory at a time.
    classes: number of classes; None is that of the estimator.
    ignore: pixels with this true label do not count; None is that of the estimator, or 255.
    """
    if classes is None:
        if estimator is None:
            raise ArgumentError("without an estimator, evaluate() needs the number of classes")
        classes = estimator.info["classes"]
    if ignore is None:
        ignore = estimator.info["ignore"] if estimator else 255
    matrix = _mpm.ConfusionMatrix(classes, ignore)
    count = 0
    try:
        for image, truth in zip(images, labels, strict=True):
            predicted = estimator.estimate(image).labels if estimator else image
            matrix.add(_array(truth), _array(predicted))
            count += 1
    except ValueError as error:
        if "zip()" not in str(error) or error.__traceback__.tb_next:  # of the caller's own generator
            raise
        raise ArgumentError(f"there are not as many images as label maps: one of the two ends after {count}") from None
    confusion = np.array([[matrix.count(t, p) for p in range(classes)] for t in range(classes)], np.int64)
    return Evaluation(matrix.mean_iou, matrix.pixel_accuracy, np.array(matrix.iou), confusion, count)


def teach(images: Sequence[np.ndarray], labels: Sequence[np.ndarray], classes: Sequence[str], output_file: Path,
          model: Path = DEFAULT_MODEL, *, ignore: int = 255, reduce: str | None = None, cross_validation: bool = True,
          steps: int = 150, seed: int = 1, progress: Callable[[float], Any] | None = None) -> dict[str, Any]:
    """Teaches a model new classes from a few labelled images, in seconds (docs/teach.md): a new head on the encoder of `model`.

    images: about four that differ, uint8 (height, width, 3), BGR as cv2.imread gives it.
    labels: of each image, uint8 (height, width): the class of each pixel, or `ignore`. A few strokes of each class are enough.
    classes: their names, in the order of their numbers.
    output_file: the new model, which ends in .onnx. Its JSON is written beside it, both or none.
    model: a plain ViT ONNX file.
    reduce: how tokens merge, in training and by default in the new model; None is the full model.
    cross_validation: also train on some of the images and test on the others, in at most five rounds.
    steps, seed: of the training.
    progress: called with the share of the work that is done, 0..1. An exception of it ends the training.

    Returns {'model', 'pictures', 'reduce', 'cross_validation': {'rounds', 'miou', 'pixel_accuracy', 'iou': {name: value},
    'pictures', 'confusion'}}, in percent. 'pictures': of each class, in how many it is labelled. 'cross_validation' is None
    where there was none."""
    arguments = {**locals(), "images": [_array(one) for one in images], "labels": [_array(one) for one in labels],
                 "classes": list(classes)}
    return {"model": os.fspath(output_file), **json.loads(_mpm.teach(arguments))}


def overlay(image: np.ndarray, labels: np.ndarray, colors: np.ndarray | None = None, opacity: float = 0.5) -> np.ndarray:
    """Paints labels, uint8 (height, width), over an image, uint8 (height, width, 3) of the same size. `colors`: uint8
    (classes, 3) in the channel order of the image, such as Estimator.colors for BGR. Returns a new image."""
    return _mpm.overlay(_array(image), _array(labels), _array(colors), opacity)


def register_cv2() -> None:
    """Registers the ai.mpm layers with the cv2 of this process, so that cv2.dnn.readNetFromONNX reads converted files. The
    layers run this package's kernels. Raises Error where cv2 takes no layers from Python, as OpenCV 5 does.

    cv2 never frees a layer written in Python, so every net that is read costs memory until the process ends: read each net
    once."""
    from . import _cv2  # imports cv2

    _cv2.register()
