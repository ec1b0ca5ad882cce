# SPDX-License-Identifier: Apache-2.0
"""The converter against a second computation: random ViT-shaped graphs, and random small edits of real ones.

The net that the converter makes of a graph gives what the graph gives, or the converter refuses it; another number, a crash
and a failure behind the reading are faults. Each seed is one random graph, one random head behind a common encoder, one edit
of each, and one graph whose tokens merge.
What a graph gives is computed by evaluate.py; where ONNX Runtime is installed, it computes each graph, too, and must agree with
evaluate.py.
"""
import atexit
import collections
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import edits  # noqa: E402
import evaluate  # noqa: E402
import generate  # noqa: E402
import reductions  # noqa: E402

TOLERANCE = 2e-4  # of the largest value: the net computes in fp32
EQUAL, APART = "equal", "one image at a time"
# What a refusal names: a node, an input or output, or what the model lacks as a whole.
NAMED = re.compile(r"node '.*' \(\w+\): |put '|found a batch|no transformer|no patch embedding|how large its image|"
                   "cannot run what follows|guessed|merge|rotary positions|does not exist|the weights of '|"
                   "not a multiple of the patch|the segmentation head reads")
# The share that must be compared: a converter that refuses everything is not right. `common`: of random graphs, those
# that have only the common spellings of spellings.py.
FLOORS = {"common": 0.85, "head": 0.5, "edit": 0.25, "merge": 0.5}


class Runner:
    """A process that converts and runs models (runner.cpp)."""

    def __init__(self, build):
        self.program = str(pathlib.Path(build) / "bin" / "graph_runner")
        self.folder = tempfile.TemporaryDirectory(prefix="mpm-graphs-")
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()

    def ask(self, model, images, external=None, merged=None):
        """The lines of the answer, and the numbers of the outputs. `merged`: how tokens merge."""
        path = pathlib.Path(self.folder.name) / "model.onnx"
        path.write_bytes(model)
        for file in external or ():
            link = path.with_name(file.name)
            if not link.exists():
                link.symlink_to(file)
        np.concatenate(images).astype(np.float32).tofile(f"{path}.input")
        line = str(path)
        if merged:
            policy = path.with_name("policy.onnx")
            if merged.policy:
                policy.write_bytes(merged.policy.SerializeToString())
            line += " " + merged.spec.replace("POLICY", str(policy))
            line += f" {images[0].shape[2]} {images[0].shape[3]}" if merged.resized else ""
            if merged.method == "reuse":
                pathlib.Path(f"{path}.changed").write_text("".join(" ".join(map(str, one)) + "\n" for one in merged.changed))
        try:
            self.process.stdin.write(f"{line}\n")
            self.process.stdin.flush()
            lines = [self.process.stdout.readline().strip()]
            if lines[0].startswith("ok"):
                lines += [self.process.stdout.readline().strip() for _ in range(2)]
        except BrokenPipeError:
            lines = [""]
        if not lines[-1]:
            self.process.wait()
            status = self.process.returncode
            self.start()
            return [f"crash {status}"], None
        return lines, np.fromfile(f"{path}.output", np.float32) if lines[0].startswith("ok") else None


def declared(model):
    """The sides of the image as the graph has them, 0 where it leaves one open, and whether it is of bytes."""
    weights = {w.name for w in model.graph.initializer}
    kind = next(i for i in model.graph.input if i.name not in weights).type.tensor_type
    return [d.dim_value for d in kind.shape.dim], kind.elem_type == onnx.TensorProto.UINT8


def channels_last(sides):
    return len(sides) == 4 and sides[3] in (1, 3) and sides[1] > 4


def outputs_of(line, numbers, images=2):
    """The outputs of each image, by name."""
    shapes = {}
    for part in line.split()[2:]:
        name, _, sides = part.rpartition(":")
        shapes[name] = [int(s) for s in sides.split("x")]
    results, at = [], 0
    for _ in range(images):
        one = {}
        for name, shape in shapes.items():
            count = int(np.prod(shape))
            one[name] = numbers[at:at + count].reshape(shape).astype(np.float64)
            at += count
        results.append(one)
    return results


def like(found, expected, both):
    """The values that the net gives, as `expected` may have them. `both`: of two images, where the graph takes two. Slices of the
    images may stand one behind the other or by turns, as where a graph joins its batch with itself."""
    one = found[0]
    for axis in range(expected.ndim if both and one.size * 2 == expected.size else 0):
        if one.ndim == expected.ndim and one.shape[axis] * 2 == expected.shape[axis]:
            return np.concatenate(found, axis), np.stack(found, axis + 1).reshape(expected.shape)
    return (np.concatenate([f.ravel() for f in found]) if both and one.size * 2 == expected.size else one,)


def differences(line, numbers, reference, both):
    """For each output, how far the net is from the reference, in parts of the largest value of the reference."""
    found = outputs_of(line, numbers)
    worst = {}
    for name, expected in reference.items():
        made = name if name in found[0] else "logits"  # a graph that ends with an ArgMax calls its labels so
        if made not in found[0]:
            worst[name] = np.inf
            continue
        parts = [f[made] for f in found]
        if expected.dtype.kind != "f" and made != name:
            parts = [np.argmax(part, 1) for part in parts]
        orders = like(parts, expected, both)
        if orders[0].size != expected.size:
            worst[name] = np.inf
            continue
        apart = min(np.abs(values.ravel() - expected.ravel().astype(np.float64)).max(initial=0) for values in orders)
        worst[name] = apart / max(np.abs(expected.astype(np.float64)).max(initial=0), 1e-3)
    return worst


def check_reference(model, given, reference):
    """Throws AssertionError where ONNX Runtime, if it is there and takes the graph, gives something else. False where it gives
    no finite numbers: rounding decides that, as in the root of a sum that is 0. It may round ten times as much as the net: this
    is about another meaning of an operator."""
    runtime = STATE.get("runtime")
    if runtime is None or any(n.op_type == "Cast" and n.attribute[0].i == onnx.TensorProto.FLOAT16 for n in model.graph.node):
        return True  # evaluate.py rounds nothing to fp16
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        name = session.get_inputs()[0].name
        found = session.run(None, {name: given.astype(np.uint8 if declared(model)[1] else np.float32)})
    except Exception:  # noqa: BLE001 - it has no common error type, and takes less than the standard has
        return True
    if not all(np.isfinite(values.astype(np.float64)).all() for values in found):
        return False
    for output, values in zip(session.get_outputs(), found):
        expected = reference[output.name]
        apart = np.abs(values.astype(np.float64) - expected.astype(np.float64)).max(initial=0) \
            if values.shape == expected.shape else np.inf
        limit = 10 * TOLERANCE * max(np.abs(expected.astype(np.float64)).max(initial=0), 1e-3)
        assert apart < limit, f"evaluate.py and ONNX Runtime differ in '{output.name}' by {apart:.2g}"
    return True


def reason(line):
    """What a refusal found, without the names of nodes and numbers."""
    text = re.sub(r"^refused \S+?model\.onnx: ", "", line)
    text = re.sub(r"^node '.*?' \((.*?)\): ", r"\1: ", text)
    text = text.split(", expected")[0].split(": choose")[0]
    text = re.sub(r"'.*?'", "'...'", text)
    return re.sub(r"\d+", "N", text)[:90]


def given_to(model, images):
    """The images as the graph takes them."""
    sides, _ = declared(model)
    count = max(sides[0], 1)
    given = np.concatenate(images[:count] if count <= 2 else [images[0]] * count)
    return given.transpose(0, 2, 3, 1) if channels_last(sides) else given


def reads_fewer_blocks(line, merged):
    """Whether the converter takes the last blocks for a head: a graph that is right in full, but merges elsewhere."""
    return line.startswith("ok") and int(line.split()[1]) < merged.graph.blocks


def judge(runner, model, folder, images, merged=None):
    """What became of a graph: EQUAL, a reason why nothing is compared, or "fault: ...", and what was refused."""
    external = [pathlib.Path(folder) / p.name for p in pathlib.Path(folder).glob("*.weights")] if folder else None
    bytes_ = (merged.file if merged else model).SerializeToString()
    sides, whole = declared(model)
    count = sides[0] if sides and sides[0] > 1 else 1
    given = given_to(model, images)
    lines, numbers = runner.ask(bytes_, images, external, merged)
    compute = merged.evaluate if merged else lambda given, dtype: evaluate.Evaluator(model, folder, dtype).run(given)
    if lines[0].startswith("refused"):
        return ("refused", reason(lines[0])) if NAMED.search(lines[0]) else (f"fault: a refusal that names nothing: {lines[0]}", None)
    if merged and reads_fewer_blocks(lines[0], merged):
        return "refused", "takes its last blocks for a head"
    try:
        reference, rough = compute(given, np.float64), compute(given, np.float32)
    except reductions.Close as undefined:
        return "not stable in fp32", None
    except evaluate.NotDefined as undefined:
        known = not folder and not isinstance(undefined, evaluate.Disputed)  # real graphs have more than evaluate.py
        if lines[0].startswith("crash") or (known and lines[0].startswith("ok")):
            return f"fault: {lines[0]} of a graph that contradicts itself: {undefined}", None
        return "not defined", str(undefined)
    if not lines[0].startswith("ok"):
        return f"fault: {lines[0]}", None
    if not all(np.isfinite(v.astype(np.float64)).all() for v in reference.values()):
        return "not finite", None
    # Where fp32 itself is far away, as in front of an ArgMax of equal scores, nothing can be said.
    for key, value in reference.items():
        if np.abs(rough[key].astype(np.float64) - value.astype(np.float64)).max(initial=0) > \
                TOLERANCE / 4 * max(np.abs(value.astype(np.float64)).max(initial=0), 1e-3):
            return "not stable in fp32", None
    try:
        if not merged and not check_reference(model, given, reference):
            return "not stable in fp32", None
    except AssertionError as error:
        return f"fault: {error}", None
    worst = differences(lines[0], numbers, reference, count == 2)
    far = {key: value for key, value in worst.items() if not value < TOLERANCE}
    if far:
        return "fault: " + ", ".join(f"'{key}' is off by {value:.2g} of its largest value" for key, value in far.items()), None
    batch = lines[1].removeprefix("batch ")
    if batch != "same" and (APART not in batch or merged and folder):  # real models take several images
        return f"fault: two images in one pass: {batch[:200]}", None
    if lines[2] != "converted same" and not lines[2].startswith("merging"):
        return f"fault: {lines[2]}, although it merges nothing", None
    if batch != "same" and count == 2:
        return "fault: a graph for two images became a net for one", None
    return EQUAL, APART if batch != "same" else None


def judge_frames(runner, merged, images):
    """The same of frames of a camera."""
    lines, numbers = runner.ask(merged.file.SerializeToString(), images, None, merged)
    if lines[0].startswith("refused"):
        return "refused", reason(lines[0])
    if not lines[0].startswith("ok"):
        return f"fault: {lines[0]}", None
    if reads_fewer_blocks(lines[0], merged):
        return "refused", "takes its last blocks for a head"
    given = [given_to(merged.model, [image]) for image in images]
    off = []
    for with_head in (True, False):  # a head that is not of Segmenter runs in full
        worst = 0
        try:
            reference, rough = (merged.frames(given, merged.changed, dtype, with_head) for dtype in (np.float64, np.float32))
        except evaluate.NotDefined as undefined:
            return "not defined", str(undefined)
        for frame, found in enumerate(outputs_of(lines[0], numbers, len(images))):
            for name, expected in reference[frame].items():
                largest = max(np.abs(expected).max(), 1e-3)
                if np.abs(rough[frame][name] - expected).max() > TOLERANCE / 4 * largest:
                    return "not stable in fp32", None
                worst = max(worst, np.abs(found[name].ravel() - expected.ravel()).max() / largest)
        off.append(worst)
    if not min(off) < TOLERANCE:
        return f"fault: frames are off by {min(off):.2g} of their largest value", None
    return EQUAL, None


STATE = {}


def prepare(build):
    STATE["runner"] = Runner(build)
    STATE["bases"] = edits.bases()
    try:
        import onnxruntime
        onnxruntime.set_default_logger_severity(4)
        STATE["runtime"] = onnxruntime
    except ImportError:
        pass
    atexit.register(STATE["runner"].stop)


def images_for(model, seed, shape=None, count=2):
    sides, whole = declared(model)
    shape = shape or ([1, sides[3], sides[1], sides[2]] if channels_last(sides) else [1, *sides[1:]])
    numbers = np.random.default_rng(seed)
    draw = (lambda: numbers.integers(0, 256, shape).astype(float)) if whole else (lambda: numbers.standard_normal(shape))
    return [draw().astype(np.float32).astype(np.float64) for _ in range(count)]


def build_one(kind, seed):
    """The model of a seed, its folder, the shape of its image, what it is and its features."""
    if kind == "merge":
        merged = reductions.Merged(seed)
        shape = [1, *merged.graph.image[1:]] if merged.folder else None
        return merged.model, merged, shape, merged.spec, {merged.method, *(f"{merged.method} {key}" for key in merged.keys)}
    if kind != "edit":
        model, features = generate.make(seed, kind != "graph")
        if kind == "misfit":
            model, done = edits.make_misfit(model, given_to(model, images_for(model, seed)), seed)
            return model, "", None, f"opset {model.opset_import[0].version}: {'; '.join(done)}", {"misfit"}
        return model, "", None, f"opset {model.opset_import[0].version}", features
    bases = STATE.get("bases") or edits.bases()
    model, base, done = edits.make(bases, seed)
    return model, base.folder, [1, *base.image.shape[1:]], f"{base.name}: {'; '.join(done)}", {base.name}


def one(job):
    kind, seed = job
    try:
        model, folder, shape, what, features = build_one(kind, seed)
    except evaluate.NotDefined as undefined:  # for these images
        return kind, seed, "not defined", str(undefined), "", set()
    merged, folder = (folder, folder.folder) if kind == "merge" else (None, folder)
    if merged and merged.method == "reuse":
        verdict, why = judge_frames(STATE["runner"], merged, images_for(model, seed, shape, len(merged.changed)))
    else:
        verdict, why = judge(STATE["runner"], model, folder, images_for(model, seed, shape), merged)
    return kind, seed, verdict, why, what, features


def main(build, seeds, jobs=None, keep=None, kinds=("graph", "head", "edit", "misfit", "merge"), most=()):
    """Prints each fault with the command that repeats it, what was reached, and how many disagree. Returns that number.

    `keep`: a folder for the model of one seed. `most`: GROUP=COUNT; one more graph of this group is a fault (see run.py).
    """
    if keep:
        for kind in kinds:
            for seed in seeds:
                (pathlib.Path(keep) / f"{kind}_{seed}.onnx").write_bytes(build_one(kind, seed)[0].SerializeToString())
    verdicts, refused, equal, common, lost = (collections.Counter() for _ in range(5))
    first, disagree, total = {}, 0, 0
    work = [(kind, seed) for seed in seeds for kind in kinds]
    with multiprocessing.Pool(jobs or os.cpu_count(), prepare, (build,)) as pool:
        for kind, seed, verdict, why, what, features in pool.imap(one, work, 8):
            total += 1
            if verdict.startswith("fault"):
                disagree += 1
                print(f"{kind} {seed} ({what}) {verdict}; "
                      f"python3 tests/worlds/run.py --build {build} --graphs --kind {kind} --seeds {seed}", flush=True)
                continue
            for group in (kind, "common") if "common" in features else (kind,):
                verdicts[f"{group} {verdict}"] += 1
            if verdict == EQUAL:
                equal.update(f"{kind} {name}" for name in features)
            if "common" in features:
                common.update(features)
                lost.update(features if verdict == "refused" else ())
            if why:
                text = f"{'common' if 'common' in features else kind} {verdict}: {why}"
                refused[text] += 1
                first.setdefault(text, seed)
    print("equal, with: " + ", ".join(f"{name} {count}" for name, count in sorted(equal.items())))
    print("others:")
    for name, count in refused.most_common():
        print(f"  {count:5d} {name} (first: {first[name]})")
    print("common spellings that are refused, of all with them: " + ", ".join(
        f"{name} {count} of {common[name]}" for name, count in sorted(lost.items(), key=lambda one: -one[1] / common[one[0]])))
    for group, floor in FLOORS.items():
        made = sum(count for name, count in verdicts.items() if name.startswith(group))
        share = verdicts[f"{group} {EQUAL}"] / max(made, 1)
        if made:
            print(f"{group}: {verdicts[f'{group} {EQUAL}']} of {made} are equal, {100 * share:.0f} %, at least {100 * floor:.0f} % must be")
        if made >= 50 and share < floor:
            disagree += 1
            print(f"fault: only {verdicts[f'{group} {EQUAL}']} of {made} graphs of group {group} were compared")
    counts = {"common": verdicts["common refused"], "head": verdicts["head refused"], "apart": refused[f"head {EQUAL}: {APART}"]}
    for group, _, count in (one.partition("=") for one in most):
        if counts[group] > int(count):
            disagree += 1
            print(f"fault: {counts[group]} graphs of group {group} are refused or not kept apart, and were {count}")
    print("reached: " + ", ".join(f"{name} {count}" for name, count in sorted(verdicts.items())))
    print(f"{total} graphs, {disagree} disagree")
    return disagree
