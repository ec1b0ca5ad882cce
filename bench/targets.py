# SPDX-License-Identifier: Apache-2.0
"""Prints the numbers of docs/performance.md beside our targets: the time of this library as a ratio to other runtimes, measured in one run.

    bench/baselines/setup_venv.sh ~/baselines
    ~/baselines/bin/python bench/targets.py --image street.png [--encoder-from MODEL.onnx] [--rounds 15] [--models DIR]
                                        [--opencv-python ~/opencv-4.10/bin/python]

bench/models/make_segmenter.py makes the models: random weights or, with --encoder-from, the encoder of a trained Segmenter
ViT-T/16, which merges tokens of real images. The B model and DINOv3 get the token counts that the T model has on the image.
bench/models/export_transformers.py makes DINOv3, EoMT and Depth Anything, with random weights. Every row is one run of `mpm bench`, in which the variants and the baselines take turns.
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
sys.path.insert(0, str(ROOT / "bench/baselines"))
import compare  # noqa: E402

NAMES = {"none": "full", "2,5": "MPM(2,5)"}  # of schedules


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
        path = self.models / f"seg_{'_'.join([size.lower() + '16', output, *map(str, tokens)])}.onnx"
        encoder = ["--encoder-from", self.options.encoder_from] if self.options.encoder_from and not tokens else []
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
        return self.made(model.with_name(f"{model.stem}_converted.onnx"), self.options.mpm, "convert", model, "--schedule", "none")

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

    def run(self, model, rounds, *arguments, baselines="", python=sys.executable, image=None):
        command = [self.options.mpm, "bench", "--model", model, "--rounds", str(rounds), "--json", *arguments]
        if image or self.options.image:
            command += ["--image", image or self.options.image]
        command += self.threads
        if baselines and not self.options.limit:  # they have all instructions
            precisions = [value for option, value in zip(arguments, arguments[1:]) if option == "--precision"] or ["fp32"]
            command += compare.beside(baselines.split(","), precisions, python)
        print("+ " + " ".join(map(str, command)), file=sys.stderr, flush=True)
        run = subprocess.run(command, stdout=subprocess.PIPE)
        if not run.stdout:  # a variant may fail (bf16 on a CPU without it); the results of the others are still printed
            run.check_returncode()
        return json.loads(run.stdout)


def tokens(variant):
    """Of the first image, after each insertion."""
    return [int(count) for count in variant["tokens"][0][1:]]


def find(run, runtime, precision="fp32", schedule="none", batch=1, reuse="off"):
    """The variant of a runtime that ran, or None. `schedule`: or the text of --reduce."""
    reduce = schedule if schedule == "none" or ":" in schedule else f"mpm:blocks={schedule}"
    rows = [v for v in run["variants"] if v["runtime"] == runtime and v["precision"] == precision
            and v["reduce"] == reduce and v["batch"] == batch and v["reuse"] == reuse and v["ms"].get("median")]
    return min(rows, key=lambda v: v["ms"]["median"]) if rows else None


def fastest(run, runtimes, precision="fp32"):
    return min(filter(None, (find(run, runtime, precision) for runtime in runtimes)), key=ms, default=None)


def ms(variant):
    return variant["ms"]["median"] if variant else None


class Table:
    def __init__(self, without_baselines):
        self.without_baselines = without_baselines
        print("| work | target | measured | |\n|---|---|---|---|")

    def row(self, work, target, value, unit="", at_least=False, detail=""):
        if value is None:
            if not self.without_baselines:
                print(f"| {work} | {target}{unit} | not run | {detail} |", flush=True)
            return
        bold = "**" if (value >= target if at_least else value <= target) else ""
        digits = 3 if target < 2 and not unit else 1
        print(f"| {work} | {'>=' if at_least else '<='} {target}{unit} | {bold}{value:.{digits}f}{unit}{bold} | {detail} |", flush=True)

    def compare(self, work, target, ours, other, also="", tokens_of=None):
        if tokens_of:
            also = f", tokens 1024 > {' > '.join(map(str, tokens(tokens_of)))}"
        ran = ours and other
        self.row(work, target, ms(ours) / ms(other) if ran else None, detail=(f"{ms(ours):.1f} / {ms(other):.1f} ms" if ran else "") + also)


def label_rows(table, bench, model, name, work, run, to_ort, to_full, merging):
    """Rows of a segmenter, from the picture to its labels. `to_ort`: targets by precision and schedule."""
    for (precision, schedule), target in to_ort.items():
        other = "ONNX Runtime" if precision == "fp32" else "ONNX Runtime fp32"
        table.compare(f"{name}{work}, {precision} {NAMES[schedule]} / {other}", target, find(run, "mpm", precision, schedule),
                      find(run, "onnxruntime"))
    for python in [] if bench.options.limit else [sys.executable, *bench.options.opencv_python]:
        stock_rows(table, bench, model, name + work, run, python)
    full, merged = find(run, "mpm"), find(run, "mpm", schedule="2,5")
    table.compare(f"{name}, MPM(2,5) / our own full", to_full, merged, full, tokens_of=merged)
    table.row(f"{name}, merge + restore, share of the time", merging, share(merged), " %")


def stock_rows(table, bench, model, work, run, python):
    """Ratios to the OpenCV of `python`: from `run`, or from a run of its own if `run` used another Python."""
    if python != sys.executable:
        run = bench.run(model, bench.few_rounds, baselines="opencv", python=python)
    stock = find(run, "opencv")
    note = stock["note"] if stock else next((v["note"] for v in run["variants"] if v["runtime"] == "opencv"), "")
    name = "stock OpenCV" if not stock else "stock " + note.split(",")[0].replace("opencv", "OpenCV")
    for schedule, which in NAMES.items():
        ours = find(run, "mpm", schedule=schedule)
        table.compare(f"{work}, fp32 {which} / {name}", 0.17, ours, stock, "" if ours and stock else note)


def reuse_rows(table, bench):
    """From the picture to its labels, frame after frame of a camera that stands still."""
    model, rounds = ROOT / "models/street_vit_t16.onnx", 30
    similar = "gradual:blocks=2,5:similarity=0.95:attention=plain"
    def run(source, *reductions, reuses=("off", "threshold=12", "auto"), of=model):
        choices = [word for text in reductions for word in ("--reduce", text)] + [word for text in reuses for word in ("--reuse", text)]
        return bench.run(of, rounds, *choices, image=source)
    def row(work, target, ours, other):
        rows = f", {100 * statistics.mean(ours['rows']):.0f} % of the rows, agreement {ours['agreement']:.2f} %" if ours else ""
        table.compare(work, target, ours, other, rows)

    street = "demo:street?size=448x640&seed=4021"
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


def starting_rows(table, bench):
    """A run of one picture, by turns with a run of six, whose later frames are inference alone."""
    work = "Seg-B/16 512x512, converted: 'mpm run' of one picture"
    model, picture = bench.converted(bench.model("B", "labels", (770, 591))), bench.picture()
    run = ["run", "--json", "--model", model]
    bench.program(*run, picture)  # the file is in the page cache then
    alone, inference = [], []
    for _ in range(max(3, bench.options.rounds // 3)):
        alone.append(bench.program(*run, picture)[0])
        inference += bench.program(*run, *[picture] * 6)[2][1:]
    seconds, frame = statistics.median(alone), statistics.median(inference) / 1000
    table.row(f"{work}, beyond inference", 0.4, seconds - frame, " s", detail=f"{seconds:.2f} s, inference {frame:.2f} s")


def memory_rows(table, bench):
    program = bench.program("--version")[1]
    for size, tokens in (("T", ()), ("B", (770, 591))):
        plain = bench.model(size, "labels", tokens)
        model = bench.converted(plain)
        weights = model.stat().st_size / 2 ** 20
        peak = bench.program("run", "--json", "--model", model, bench.picture())[1]
        baselines = bench.run(plain, 3, "--schedule", "none", baselines="onnxruntime,openvino,ncnn,opencv")["variants"]
        peaks = {v["runtime"]: v["peak_mib"] for v in baselines if v["runtime"] != "mpm" and v["peak_mib"]}
        least = min(peaks, key=peaks.get, default=None)
        detail = f"{peak:.0f} MiB: weights {weights:.0f}, 'mpm --version' {program:.0f}; " + \
            ", ".join(f"{name} {mib:.0f}" for name, mib in peaks.items())
        table.row(f"Seg-{size}/16 512x512, peak of 'mpm run', converted / {least}", 1.0, peak / peaks[least] if peaks else None,
                  detail=detail)
        if size == "B":  # of a small model, activations are the most
            table.row("Seg-B/16 512x512, peak with activations, without the program / weights", 1.15, (peak - program) / weights,
                      detail=detail.split(";")[0])


def share(variant):
    stages = variant["stages"]
    return 100 * (stages.get("merge", 0) + stages.get("restore", 0)) / sum(stages.values())


def peak_rows(table, name, run, fp32=0.80, bf16=0.85):
    for precision, target in (("fp32", fp32), ("bf16", bf16)):
        full, peak = find(run, "mpm", precision), run["gemm_peak_gflops"].get(precision)
        if full and peak:
            table.row(f"{name} full, {precision}, share of the GEMM peak", target, full["peak_fraction"], at_least=True,
                      detail=f"{ms(full):.1f} ms, {peak:.0f} GFLOP/s by {run['threads']} threads")


def about_computer(options):
    info = json.loads(subprocess.run([options.mpm, "info", "--json"], check=True, stdout=subprocess.PIPE).stdout)["mpm"]
    if options.limit and info["instruction_set"] != options.limit:
        sys.exit(f"targets.py: no instruction set '{options.limit}' here; there is {', '.join(info['instruction_sets'])}")
    with open("/proc/cpuinfo") as file:
        lines = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in file)}
    has = [flag for flag in ("avx2", "fma", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "asimd", "asimddp")
           if flag in lines.get("flags", lines.get("Features", "")).split()]
    print(f"{lines.get('model name', 'CPU')}: {' '.join(has)}; ours: {info['instruction_set']}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpm", default=ROOT / "build/bin/mpm")
    parser.add_argument("--image", help="default: smooth colours with noise")
    parser.add_argument("--encoder-from", help="a trained Segmenter ViT-T/16")
    parser.add_argument("--opencv-python", action="append", default=[], metavar="PYTHON",
                        help="Python of another OpenCV release, to measure that too")
    parser.add_argument("--models", default="/tmp/mpm-bench-models", help="folder for the generated models")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--limit", metavar="SET", help="instructions for this library alone, such as avx2; runs no baseline")
    parser.add_argument("--video", help="of a fixed camera, for reuse: vtest.avi of Debian's opencv-doc")
    parser.add_argument("--video-model", help="what 'mpm teach' made of it; default: the model of the street")
    parser.add_argument("--only", default="t,encoder,b,dinov3,eomt,depth_anything,batch,reuse,memory,starting", help="parts to run")
    options = parser.parse_args()
    bench = Bench(options)
    parts = set(options.only.split(","))
    if options.limit:
        os.environ["MPM_INSTRUCTION_SET"] = options.limit
    about_computer(options)
    table = Table(options.limit)
    rivals = ("onnxruntime", "openvino", "ncnn", "opencv")
    both = ("--precision", "fp32", "--precision", "bf16")

    if "t" in parts:
        model = bench.model("T", "labels")
        run = bench.run(model, options.rounds, *both, baselines=",".join(rivals))
        label_rows(table, bench, model, "Seg-T/16", " 512x512, 150 classes, to labels", run, {
            ("fp32", "none"): 0.35, ("fp32", "2,5"): 0.25, ("bf16", "none"): 0.20, ("bf16", "2,5"): 0.13}, 0.62, 4)
        peak_rows(table, "Seg-T/16", run, bf16=0.80)

    if "encoder" in parts:
        run = bench.run(bench.model("T", "features"), options.rounds, *both, "--precision", "int8", baselines="onnxruntime,openvino")
        ort = find(run, "onnxruntime")
        for precision in ("fp32", "bf16"):
            best = fastest(run, rivals, precision)
            for schedule, to_ort, to_best in (("none", 0.74, 0.95), ("2,5", 0.46, 0.60)):
                ours = find(run, "mpm", precision, schedule)
                name = f"Seg-T/16 encoder, {precision} {NAMES[schedule]}"
                if precision == "fp32":
                    table.compare(f"{name} / ONNX Runtime", to_ort, ours, ort)
                elif schedule == "2,5":
                    table.compare(f"{name} / ONNX Runtime fp32", 0.28, ours, ort)
                table.compare(f"{name} / best baseline in {precision}", to_best, ours, best, f", {best['name'] if best else ''}")
        for schedule, to_openvino in (("none", 0.85), ("2,5", 0.60)):
            ours = find(run, "mpm", "int8", schedule)
            for other, what, target in ((find(run, "mpm", "bf16", schedule), "our bf16", 0.75),
                                        (find(run, "openvino", "int8"), "openvino int8 + bf16", to_openvino),
                                        (find(run, "onnxruntime", "int8"), "ONNX Runtime int8", to_openvino)):
                table.compare(f"Seg-T/16 encoder, int8 {NAMES[schedule]} / {what}", target, ours, other)

    if "b" in parts:
        real = find(bench.run(bench.model("T", "labels"), 1, "--schedule", "2,5"), "mpm", schedule="2,5")
        model = bench.model("B", "labels", tokens(real))
        run = bench.run(model, bench.few_rounds, *both, baselines="onnxruntime,opencv")
        label_rows(table, bench, model, "Seg-B/16", " 512x512, to labels", run, {("fp32", "none"): 0.76, ("fp32", "2,5"): 0.54}, 0.66, 2)
        peak_rows(table, "Seg-B/16", run, fp32=0.90 if options.limit == "avx2" else 0.80, bf16=0.85)

    # Depth Anything has 1369 patches: its imposed counts are those shares of them that the T model keeps of its 1024.
    for part, work, counts, to_full, to_merged in (("dinov3", "DINOv3 ViT-S/16 encoder 512x512", (770, 591), 1.0, 0.65),
                                                   ("eomt", "EoMT-S/16 640x640", (), 1.0, None),
                                                   ("depth_anything", "Depth Anything V2-S 518x518", (1029, 790), 0.93, 0.72)):
        if part not in parts:
            continue
        chosen = ["--schedule", "none"] + (["--schedule", "2,5"] if to_merged else [])
        run = bench.run(bench.exported(part, counts), bench.few_rounds, *chosen, baselines=",".join(rivals))
        best, full, merged = fastest(run, rivals), find(run, "mpm"), find(run, "mpm", schedule="2,5")
        name = best["runtime"] if best else "fastest baseline"
        table.compare(f"{work}, fp32 full / {name}", to_full, full, best)
        if to_merged:
            table.compare(f"{work}, fp32 MPM(2,5) / {name}", to_merged, merged, best)

    if "batch" in parts:
        model = bench.model("T", "labels")
        per_image = {1: [], 8: []}
        for _ in range(3):  # alternates, because one run has one batch size
            for batch, times in per_image.items():
                run = bench.run(model, max(5, options.rounds // batch), "--schedule", "2,5", "--batch", str(batch))
                times.append(ms(find(run, "mpm", schedule="2,5", batch=batch)) / batch)
        one, eight = (statistics.median(times) for times in per_image.values())
        table.row("Seg-T/16 MPM(2,5), an image of a batch of 8 / an image alone", 1.0, eight / one,
                  detail=f"{eight:.1f} / {one:.1f} ms, medians of three runs of each")

    if "reuse" in parts:
        reuse_rows(table, bench)

    if "memory" in parts:
        memory_rows(table, bench)

    if "starting" in parts:
        starting_rows(table, bench)


if __name__ == "__main__":
    main()
