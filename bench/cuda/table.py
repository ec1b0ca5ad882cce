#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the targets of the GPU kernels and whether they are met, from the JSON lines of cuda_bench,
bench/baselines/torch_cuda_worker.py and, if it ran, cuda_net_bench."""
import json
import sys


def rows_of(paths):
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in file:
                if not line.startswith("{"):
                    continue
                try:
                    yield json.loads(line)
                except json.JSONDecodeError:
                    print(f"{path}: left out a broken line: {line[:80]!r}", file=sys.stderr)


def main():
    rows = list(rows_of(sys.argv[1:]))
    single = {row["what"]: row for row in rows}
    ours = {(r["size"], r["batch"], r["precision"]): r for r in rows if r["what"] == "vit"}
    torch = {(r["size"], r["batch"], r["precision"]): r for r in rows if r["what"] == "torch_vit"}
    targets = []

    def target(text, value, wanted, at_least, unit=" x"):
        targets.append((text, value, wanted, at_least, unit))

    def ratio(a, b):
        return a / b if a is not None and b else None

    call, baseline = single.get("mpm_call", {}).get("ms"), single.get("torch_mpm_call", {})
    target("MPM call, B=32 N=1024 d=768: eager PyTorch fp32 / ours", ratio(baseline.get("eager_fp32_ms"), call), 10, True)
    target("MPM call / bf16 product of the same size (PyTorch bmm)", ratio(call, baseline.get("bmm_bf16_ms")), 3, False)
    base = ours.get(("B", 32, "bf16"), {})
    share = ratio(base.get("merging_ms"), base.get("mpm_ms"))
    target("ViT-B/16 bf16 B=32: merging and restoring, share", None if share is None else 100 * share, 2, False, " %")
    for size, wanted in (("L", 1.45), ("B", 1.35)):
        row = ours.get((size, 32, "bf16"), {})
        target(f"ViT-{size}/16 bf16 B=32: MPM(2,5) against our full model", ratio(row.get("full_ms"), row.get("mpm_ms")),
               wanted, True)
    # The best of PyTorch: its fastest attention, eager and compiled in each mode.
    for size in "BL":
        key = (size, 32, "bf16")
        best = torch.get(key, {}).get("best_ms")
        target(f"ViT-{size}/16 bf16 B=32: full / the best of PyTorch", ratio(ours.get(key, {}).get("full_ms"), best), 0.95, False)
        target(f"ViT-{size}/16 bf16 B=32: MPM(2,5) / the best of PyTorch", ratio(ours.get(key, {}).get("mpm_ms"), best), 0.62, False)
    for size in "TSB":
        key = (size, 1, "bf16")
        target(f"ViT-{size}/16 bf16 B=1: full / the best of PyTorch",
               ratio(ours.get(key, {}).get("full_ms"), torch.get(key, {}).get("best_ms")), 0.9, False)
    for size in "TSBL":
        key = (size, 32, "bf16")
        target(f"ViT-{size}/16 bf16 B=32: MPM(2,5) against PyTorch SDPA + eager MPM",
               ratio(torch.get(key, {}).get("mpm_ms"), ours.get(key, {}).get("mpm_ms")), 1.3, True)
    tiny = ours.get(("T", 1, "bf16"), {})
    target("ViT-T/16 bf16 B=1: image on host to labels on host", tiny.get("host_mpm_ms"), 1.5, False, " ms")
    nets = [row for row in rows if row["what"] == "net"]
    torch_nets = {(r["model"], r["precision"]): r for r in rows if r["what"] == "torch_net"}
    for row in (row for row in nets if row["precision"] == "fp32"):
        target(f"{row['model']}, {row['way']}: {row['of']} as on the CPU, of {row['images']} images the least",
               row["agreement"], 99.5 if row["way"] == "MPM" else 99.9, True, " %")

    print(f"\n{'model':<22}{'full ms':>10}{'MPM ms':>10}{'merging':>10}{'torch MPM':>10}{'torch best':>11}  by")
    for (size, batch, precision), row in ours.items():
        theirs = torch.get((size, batch, precision), {})
        cells = [row["full_ms"], row["mpm_ms"], row["merging_ms"], theirs.get("mpm_ms"), theirs.get("best_ms")]
        print(f"{f'ViT-{size}/16 {precision} B={batch}':<22}" +
              "".join(f"{'-' if c is None else format(c, '.3f'):>10}" for c in cells) + f"   {theirs.get('best', '-')}")
    for (size, batch, precision), row in ours.items():
        if "full_launches_ms" in row:
            print(f"ViT-{size}/16 {precision} B={batch}, full: as a graph {row['full_ms']:.3f}, by launches {row['full_launches_ms']:.3f}")
    def print_ways(name, row):
        ways = ", ".join(f"{way} {format(ms, '.3f') if isinstance(ms, float) else '- (' + ms + ')'}" for way, ms in row["ways"].items())
        print(f"PyTorch, {name}: {ways}")

    for (size, batch, precision), row in torch.items():
        print_ways(f"ViT-{size}/16 {precision} B={batch}", row)
    if nets:
        print(f"\n{'net in OpenCV, image on host to result on host':<48}{'GPU ms':>10}{'CPU ms':>10}{'same %':>10} {'of':<9}{'maps':>6}"
              f"{'torch full':>12}  by (image and result on device)")
    for row in nets:
        name = f"{row['model']} {row['precision']}{'' if row['way'] == 'full' else ', ' + row['way']}"
        theirs = torch_nets.get((row["model"], row["precision"]), {})
        baseline = f"{theirs['best_ms']:>12.3f}  {theirs['best']}" if "best" in theirs else ""
        print(f"{name:<48}{row['ms']:>10.3f}{row['cpu_fp32_ms']:>10.1f}{row['agreement']:>10.3f} {row['of']:<9}"
              f"{row['same_first_maps']:>4}/{row['images']}{baseline}")
    for (model, precision), row in torch_nets.items():
        print_ways(f"{model} {precision} B=1", row)
    ways = {}
    for row in rows:
        if row["what"] in ("pairing", "attention"):
            shape = ", ".join(f"{key} {row[key]}" for key in ("batch", "tokens", "dim", "heads") if key in row)
            ways.setdefault(f"{row['what']} alone ({shape})", []).append(f"by {row['by']} {row['ms']:.4f} ms")
    for kernel, times in ways.items():
        print(f"{kernel}: {', '.join(times)}")
    print(f"\n{'target':<88}{'measured':>12}{'wanted':>12}")
    for text, value, wanted, at_least, unit in targets:
        met = value is not None and (value >= wanted if at_least else value <= wanted)
        shown = "not run" if value is None else f"{value:.2f}{unit}"
        print(f"{text:<88}{shown:>12}{('>= ' if at_least else '<= ') + format(wanted, 'g') + unit:>12}  "
              f"{'met' if met else '-' if value is None else 'MISSED'}")


if __name__ == "__main__":
    main()
