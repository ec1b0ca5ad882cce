# SPDX-License-Identifier: Apache-2.0
"""Prints the numbers of docs/performance.md: times of this library beside other runtimes, measured in one run, and what we aim at.

    bench/baselines/setup_venv.sh ~/baselines
    ~/baselines/bin/python bench/targets.py --image street.png [--encoder-from MODEL.onnx] [--rounds 15] [--models DIR]

bench/models/make_segmenter.py makes the models: random weights or, with --encoder-from, the encoder of a trained Segmenter
ViT-T/16, which merges tokens of real images. bench/models/export_transformers.py makes the others, with random weights. All but
EoMT, which does not merge here, keep the shares of tokens that the T model keeps of the image. In a table ours and the baselines took
turns (bench/compare.py); shares of the GEMM peak, tokens and stages are of a run of `mpm bench`.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import compare  # noqa: E402

KEPT, KEPT_OF_1369 = (770, 591), (1029, 790)  # of 1024 patches, by the T model on docs/performance.md's image; the same shares
# What is measured: its name, and the model.
PARTS = {
    "t": ("Seg-T/16 512x512, 150 classes, to labels", lambda bench: bench.model("T", "labels")),
    "encoder": ("Seg-T/16 encoder 512x512", lambda bench: bench.model("T", "features")),
    "b": ("Seg-B/16 512x512, to labels", lambda bench: bench.model("B", "labels", KEPT)),
    "b_encoder": ("Seg-B/16 encoder 512x512", lambda bench: bench.model("B", "features", KEPT)),
    "dinov3": ("DINOv3 ViT-S/16 encoder 512x512", lambda bench: bench.exported("dinov3", KEPT)),
    "eomt": ("EoMT-S/16 640x640", lambda bench: bench.exported("eomt")),
    "depth_anything": ("Depth Anything V2-S 518x518", lambda bench: bench.exported("depth_anything", KEPT_OF_1369)),
    "depth_anything_b": ("Depth Anything V2-B 504x336", lambda bench: bench.exported("depth_anything_b_504x336")),
    "dpt": ("DPT on ViT-S/16 512x512", lambda bench: bench.exported("dpt", KEPT)),
    "upernet": ("UPerNet on ViT-S/16 512x512", lambda bench: bench.exported("upernet", KEPT)),
}


def int8_targets(**of_fp32):
    """int8 in full: the shares of our fp32, by our instruction set. On CPUs with AVX2 alone ONNX Runtime's was the fastest of all."""
    return ("int8 none", "mpm fp32 none", of_fp32), ("int8 none", "onnxruntime int8", {"avx2": 0.92})


def beside_openvino(*schedules):
    """bf16 and int8. OpenVINO multiplies both in AMX tiles; on CPUs without, the share is printed beside no target."""
    return tuple((f"{precision} {schedule}", f"openvino {precision}", {"amx": 1.0 if schedule == "none" else 0.70})
                 for precision in ("bf16", "int8") for schedule in schedules)


BESIDE_OPENVINO = beside_openvino("none", "2,5")
OF_THE_BEST = (("fp32 none", "best fp32", 0.93), ("fp32 2,5", "best fp32", 0.72), *BESIDE_OPENVINO)
# The time of ours as a share of another's, and the most that we want, by our instruction set where that decides.
RATIOS = {
    "t": (("fp32 none", "onnxruntime fp32", 0.35), ("fp32 2,5", "onnxruntime fp32", 0.25), ("bf16 none", "onnxruntime fp32", 0.20),
          ("bf16 2,5", "onnxruntime fp32", 0.13), ("fp32 2,5", "mpm fp32 none", 0.62)),
    "encoder": (("fp32 none", "onnxruntime fp32", 0.74), ("fp32 none", "openvino fp32", {"avx2": 0.80, "": 0.95}),
                ("fp32 2,5", "openvino fp32", 0.60), ("bf16 none", "openvino bf16", 0.95), ("bf16 2,5", "openvino bf16", 0.60),
                ("int8 none", "openvino int8", 0.75), ("int8 2,5", "mpm bf16 2,5", 0.66), *int8_targets(avx_vnni=0.50, avx2=0.72)),
    "b": (("fp32 none", "onnxruntime fp32", {"avx2": 0.82, "": 0.76}), ("fp32 2,5", "onnxruntime fp32", 0.54),
          ("fp32 2,5", "mpm fp32 none", 0.66)),
    "b_encoder": (("fp32 none", "best fp32", {"avx512": 0.95, "amx": 0.95}), *BESIDE_OPENVINO, *int8_targets(avx_vnni=0.42, avx2=0.70)),
    "dinov3": (("fp32 none", "best fp32", 1.0), ("fp32 2,5", "best fp32", 0.65), *BESIDE_OPENVINO, *int8_targets(avx2=0.72)),
    "eomt": (("fp32 none", "best fp32", {"avx2": 0.90, "": 0.95}), *beside_openvino("none")),
    "depth_anything": (*OF_THE_BEST, *int8_targets(avx2=0.78)), "depth_anything_b": (("fp32 none", "best fp32", 0.95),), "dpt": OF_THE_BEST, "upernet": OF_THE_BEST,
}
FULL_ONLY = ("eomt", "depth_anything_b")  # EoMT does not merge here; the other has no positions that leave some number of tokens
# Times that others publish, of a computer of theirs: precision of ours, ms, cores, and of what.
PUBLISHED = {"depth_anything_b": (("fp32", 346, 16, "depth-anything.cpp fp32"), ("int8", 319, 16, "depth-anything.cpp q8_0"))}
NAMES = {"none": "full", "2,5": "MPM(2,5)", "mpm": "ours", "onnxruntime": "ONNX Runtime", "openvino": "OpenVINO", "opencv": "OpenCV"}
RIVALS = {"fp32": ("onnxruntime", "openvino", "ncnn", "opencv"), "bf16": ("openvino",), "int8": ("onnxruntime", "openvino")}


class Bench:
    def __init__(self, options):
        self.options = options
        self.threads = ["--threads", str(options.threads)] if options.threads else []
        self.few_rounds = max(5, options.rounds // 2)  # of the slower models
        self.models = pathlib.Path(options.models)
        self.models.mkdir(parents=True, exist_ok=True)

    def made(self, path, *command, tokens=()):
        """The file, which the command makes once."""
        if not path.exists():
            imposed = ["--impose-tokens", ",".join(map(str, tokens))] if tokens else []
            subprocess.run([*command, "-o", path, *imposed], check=True, stdout=sys.stderr)
        return path

    def model(self, size, output, tokens=()):
        trained = self.options.encoder_from if not tokens else None
        encoder = ["--encoder-from", trained] if trained else []
        words = [size.lower() + "16", output, *map(str, tokens), *(["of", pathlib.Path(trained).stem] if trained else [])]
        path = self.models / f"seg_{'_'.join(words)}.onnx"
        return self.made(path, sys.executable, ROOT / "bench/models/make_segmenter.py", "--size", size, "--output", output,
                         *encoder, tokens=tokens)

    def exported(self, name, tokens=()):
        path = self.models / f"{'_'.join([name, *map(str, tokens)])}.onnx"
        return self.made(path, sys.executable, ROOT / "bench/models/export_transformers.py", "--model", name, tokens=tokens)

    def every_fifth_frame(self, video):
        """A folder of pictures: two a second of a video with ten, from its frame 100 on."""
        import cv2
        folder, capture = self.models / "frames", cv2.VideoCapture(str(video))
        folder.mkdir(exist_ok=True)
        for number in range(400):
            read, frame = capture.read()
            if read and number >= 100 and number % 5 == 0:
                cv2.imwrite(str(folder / f"{number:06d}.png"), frame)
        return folder

    def converted(self, model):
        """The full model as a file that mpm has converted."""
        return self.made(model.with_name(f"{model.stem}_converted.onnx"), self.options.mpm, "convert", model, "--reduce", "none")

    def picture(self):
        if self.options.image:
            return self.options.image
        path = self.models / "grey.pgm"
        path.write_bytes(b"P5 512 512 255\n" + bytes(512 * 512))
        return str(path)

    def program(self, *arguments):
        """Seconds and peak MiB of a run of mpm, and the milliseconds of each frame."""
        command = [str(word) for word in (self.options.mpm, *arguments, *self.threads)]
        with tempfile.TemporaryFile("w+") as out:
            start = time.monotonic()
            process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.monotonic() - start
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                raise subprocess.CalledProcessError(process.returncode, command)
            out.seek(0)
            frames = [json.loads(line) for line in out if line.startswith("{")]
        return seconds, usage.ru_maxrss / 1024, [frame["ms"]["total"] for frame in frames if "frame" in frame]

    def run(self, model, rounds, *arguments, image=None):
        """What `mpm bench` says of ours."""
        command = [self.options.mpm, "bench", "--model", model, "--rounds", str(rounds), "--json", *arguments]
        if image or self.options.image:
            command += ["--image", image or self.options.image]
        command += self.threads
        print("+ " + " ".join(map(str, command)), file=sys.stderr, flush=True)
        run = subprocess.run(command, stdout=subprocess.PIPE)
        if not run.stdout:  # a variant may fail (bf16 on a CPU without it); the results of the others are still printed
            run.check_returncode()
        return json.loads(run.stdout)

    def compared(self, model, rounds, reductions, precisions, runtimes):
        """Ours and the baselines by turns."""
        print(f"+ compare.py --model {model}", file=sys.stderr, flush=True)
        return compare.compared(model, self.options.image, reductions, precisions, runtimes, rounds, threads=self.options.threads)


def find(run, runtime, precision="fp32", schedule="none", batch=1, reuse="off"):
    """The variant of a runtime that ran, or None. `schedule`: or the text of --reduce."""
    reduce = schedule if schedule == "none" or ":" in schedule else f"mpm:blocks={schedule}"
    rows = [v for v in run["variants"] if v.get("runtime", "mpm") == runtime and v["precision"] == precision
            and v["reduce"] == reduce and v.get("batch", batch) == batch and v.get("reuse", "off") == reuse and v["ms"].get("median")]
    return min(rows, key=lambda v: v["ms"]["median"]) if rows else None


def fastest(run, precision):
    return min(filter(None, (find(run, runtime, precision) for runtime in RIVALS[precision])), key=ms, default=None)


def ms(variant):
    return variant["ms"]["median"] if variant else None


class Targets:
    """A table of what is measured beside what we aim at; None: at nothing."""

    def __init__(self):
        print("\n| work | target | measured | |\n|---|---|---|---|")

    def row(self, work, target, value, unit="", at_least=False, detail=""):
        if value is None:
            return
        met = target is not None and (value >= target if at_least else value <= target)
        wanted = "" if target is None else f"{'>=' if at_least else '<='} {target}{unit}"
        print(f"| {work} | {wanted} | {'**' * met}{value:.{1 if unit else 3}f}{unit}{'**' * met} | {detail} |", flush=True)

    def compare(self, work, target, ours, other, also=""):
        if ours and other:
            self.row(work, target, ms(ours) / ms(other), detail=f"{ms(ours):.1f} / {ms(other):.1f} ms{also}")


def part(bench, name, instructions):
    """The times of ours and of the baselines, our shares of the best of them, and the targets."""
    work, make = PARTS[name]
    schedules = ("none",) if name in FULL_ONLY else ("none", "2,5")
    reductions = ["none" if one == "none" else f"mpm:blocks={one}" for one in schedules]
    rivals = {} if bench.options.limit else RIVALS  # they have all instructions
    if name == "eomt":
        rivals = {precision: [one for one in runtimes if one != "ncnn"] for precision, runtimes in rivals.items()}  # takes minutes an image
    model, rounds = make(bench), bench.options.rounds if name in ("t", "encoder") else bench.few_rounds
    run = bench.compared(model, rounds, reductions, list(RIVALS), rivals)
    choices = [word for option, values in (("--reduce", reductions), ("--precision", RIVALS)) for value in values for word in (option, value)]
    alone = bench.run(model, bench.few_rounds, *choices)
    print(f"\n## {work}\n\n| ms | full | MPM(2,5) |\n|---|---|---|")
    for runtime, precision in dict.fromkeys((variant["runtime"], variant["precision"]) for variant in run["variants"]):
        best = fastest(run, precision) if runtime == "mpm" else None
        variants = [find(run, runtime, precision, schedule) for schedule in ("none", "2,5")]
        cells = [f"{ms(one):.1f}" + (f" ({ms(one) / ms(best):.2f})" if best else "") if one else "" for one in variants]
        note = next(variant["note"] for variant in run["variants"] if (variant["runtime"], variant["precision"]) == (runtime, precision))
        print(f"| {NAMES.get(runtime, runtime)}, {precision} | {' | '.join(cells) if any(cells) else note[:80] + ' |'} |")
    peaks = [f"{precision} {full['peak_fraction']:.3f} of {peak:.0f} GFLOP/s" for precision, peak in alone["gemm_peak_gflops"].items()
             if peak and (full := find(alone, "mpm", precision))]
    print(f"\n{run['threads']} threads; share of the GEMM peak, full: {', '.join(peaks)}")
    if merged := find(alone, "mpm", schedule="2,5"):
        merging = 100 * sum(merged["stages"].get(one, 0) for one in ("merge", "restore")) / sum(merged["stages"].values())
        print(f"tokens {' > '.join(f'{count:.0f}' for count in merged['tokens'][0])}; merging and restoring take {merging:.1f} % of the time")
    table = Targets()
    for ours, other, target in RATIOS[name]:
        precision, schedule = ours.split()
        runtime, *of = other.split()
        target = target.get(instructions, target.get("")) if isinstance(target, dict) else target
        table.compare(f"{precision} {NAMES[schedule]} / {other.replace('mpm', 'our').replace('none', 'full')}", target,
                      find(run, "mpm", precision, schedule), fastest(run, *of) if runtime == "best" else find(run, runtime, *of))
    for precision, milliseconds, cores, whose in PUBLISHED.get(name, ()):
        if ours := find(run, "mpm", precision):
            table.row(f"{precision}, time by cores / {whose}, as published", 1.0, ms(ours) * run["threads"] / (milliseconds * cores),
                      detail=f"{ms(ours):.1f} ms by {run['threads']} / {milliseconds} ms by {cores}, another computer")


def reuse_rows(bench):
    """From the picture to its labels, frame after frame of a camera that stands still."""
    model, rounds = ROOT / "models/street_vit_t16.onnx", 30
    similar = "gradual:blocks=2,5:similarity=0.95:attention=plain"
    def run(source, *reductions, reuses=("off", "threshold=12", "auto"), of=model):
        choices = [word for text in reductions for word in ("--reduce", text)] + [word for text in reuses for word in ("--reuse", text)]
        return bench.run(of, rounds, *choices, image=source)
    def row(work, target, ours, other):
        rows = f", {100 * statistics.mean(ours['rows']):.0f} % of the rows, agreement {ours['agreement']:.2f} %" if ours else ""
        table.compare(work, target, ours, other, rows)

    table, street = Targets(), "demo:street?size=448x640&seed=4021"
    day = run(street + "&weather=auto&step=1&start=2026-06-10T09:00", "none", "mpm:blocks=2,5", similar)
    full = find(day, "mpm")
    fixed = find(day, "mpm", reuse="threshold=12")
    row("Street by day, reuse threshold=12 / full", 0.42, fixed, full)
    row("Street by day, reuse threshold=12 / MPM(2,5)", 0.62, fixed, find(day, "mpm", schedule="2,5"))
    row("Street by day, reuse auto / full", 0.5, find(day, "mpm", reuse="auto"), full)
    row("Street by day, reuse threshold=12 and similarity 0.95 / reuse", 0.9, find(day, "mpm", schedule=similar, reuse="threshold=12"), fixed)
    still = run(street + "&step=0.001&start=2026-06-10T09:00", "none", reuses=("off", "auto"))
    row("Still street with the noise of a sensor, reuse auto / full", 0.15, find(still, "mpm", reuse="auto"), find(still, "mpm"))
    if bench.options.video:
        yard = run(bench.every_fifth_frame(bench.options.video), "none", reuses=("off", "auto"), of=bench.options.video_model or model)
        row("Video of a yard, reuse auto / full", 0.3, find(yard, "mpm", reuse="auto"), find(yard, "mpm"))


def batch_rows(bench):
    per_image = {1: [], 8: []}
    for _ in range(3):  # alternates, because one run has one batch size
        for batch, times in per_image.items():
            run = bench.run(bench.model("T", "labels"), max(5, bench.options.rounds // batch), "--reduce", "mpm:blocks=2,5", "--batch", str(batch))
            times.append(ms(find(run, "mpm", schedule="2,5", batch=batch)) / batch)
    one, eight = (statistics.median(times) for times in per_image.values())
    Targets().row("Seg-T/16 MPM(2,5), an image of a batch of 8 / an image alone", 1.0, eight / one,
                  detail=f"{eight:.1f} / {one:.1f} ms, medians of three runs of each")


def starting_rows(bench):
    """A run of one picture, by turns with a run of six, whose later frames are inference alone."""
    work = "Seg-B/16 512x512, converted: 'mpm run' of one picture"
    model, picture = bench.converted(bench.model("B", "labels", KEPT)), bench.picture()
    run = ["run", "--json", "--model", model]
    bench.program(*run, picture)  # the file is in the page cache then
    alone, inference = [], []
    for _ in range(max(3, bench.options.rounds // 3)):
        alone.append(bench.program(*run, picture)[0])
        inference += bench.program(*run, *[picture] * 6)[2][1:]
    seconds, frame = statistics.median(alone), statistics.median(inference) / 1000
    Targets().row(f"{work}, beyond inference", 0.4, seconds - frame, " s", detail=f"{seconds:.2f} s, inference {frame:.2f} s")


def memory_rows(bench):
    table, program = Targets(), bench.program("--version")[1]
    for size, tokens in (("T", ()), ("B", KEPT)):
        plain = bench.model(size, "labels", tokens)
        model = bench.converted(plain)
        weights = model.stat().st_size / 2 ** 20
        peak = bench.program("run", "--json", "--model", model, bench.picture())[1]
        baselines = bench.compared(plain, 3, ["none"], ["fp32"], {"fp32": RIVALS["fp32"]})["variants"]
        peaks = {v["runtime"]: v["peak_mib"] for v in baselines if v["runtime"] != "mpm" and v["peak_mib"]}
        least = min(peaks, key=peaks.get, default=None)
        detail = f"{peak:.0f} MiB: weights {weights:.0f}, 'mpm --version' {program:.0f}; " + \
            ", ".join(f"{name} {mib:.0f}" for name, mib in peaks.items())
        table.row(f"Seg-{size}/16 512x512, peak of 'mpm run', converted / {least}", 1.0, peak / peaks[least] if peaks else None,
                  detail=detail)
        if size == "B":  # of a small model, activations are the most
            table.row("Seg-B/16 512x512, peak with activations, without the program / weights", 1.15, (peak - program) / weights,
                      detail=detail.split(";")[0])


def about_computer(options):
    info = json.loads(subprocess.run([options.mpm, "info", "--json"], check=True, stdout=subprocess.PIPE).stdout)["mpm"]
    if options.limit and info["instruction_set"] != options.limit:
        sys.exit(f"targets.py: no instruction set '{options.limit}' here; there is {', '.join(info['instruction_sets'])}")
    with open("/proc/cpuinfo") as file:
        lines = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in file)}
    has = [flag for flag in ("avx2", "fma", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "asimd", "asimddp")
           if flag in lines.get("flags", lines.get("Features", "")).split()]
    print(f"{lines.get('model name', 'CPU')}: {' '.join(has)}; ours: {info['instruction_set']}")
    return info["instruction_set"]


def main():
    others = {"batch": batch_rows, "reuse": reuse_rows, "memory": memory_rows, "starting": starting_rows}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpm", default=ROOT / "build/bin/mpm")
    parser.add_argument("--image", help="default: smooth colours with noise")
    parser.add_argument("--encoder-from", help="a trained Segmenter ViT-T/16")
    parser.add_argument("--models", default="/tmp/mpm-bench-models", help="folder for the generated models")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--limit", metavar="SET", help="instructions for this library alone, such as avx2; runs no baseline")
    parser.add_argument("--video", help="of a fixed camera, for reuse: vtest.avi of Debian's opencv-doc")
    parser.add_argument("--video-model", help="what 'mpm teach' made of it; default: the model of the street")
    parser.add_argument("--only", default=",".join([*PARTS, *others]), help="parts to run; default: %(default)s")
    options = parser.parse_args()
    if unknown := set(options.only.split(",")) - {*PARTS, *others}:
        parser.error(f"--only: no part is called {', '.join(sorted(unknown))}")
    bench = Bench(options)
    if options.limit:
        os.environ["MPM_INSTRUCTION_SET"] = options.limit
    instructions = about_computer(options)
    for name in options.only.split(","):
        if name in PARTS:
            part(bench, name, instructions)
        else:
            others[name](bench)


if __name__ == "__main__":
    main()
