# SPDX-License-Identifier: BSD-3-Clause
"""What the GPU did in a trace of torch.profiler: kernels of ours, how long they ran beside products of matrices, and copies.

    python python/bench/kernel_times.py TRACE.json...
"""
import json
import re
import sys
from collections import defaultdict

OURS = re.compile(r"railshmem|shmem_")  # our kernels are extern "C" and begin so
NCCL = re.compile(r"^nccl")
PRODUCTS = re.compile(r"gemm|cutlass|nvjet|xmma|flash|fmha|cudnn", re.IGNORECASE)


def of_file(path):
    with open(path, encoding="utf-8") as file:
        return summary(json.load(file)["traceEvents"])


def summary(events):
    """Returns a dict: microseconds of all that ran on the GPU, by kind, and of ours and NCCL's beside products."""
    kernels, copies = [], []
    for event in events:
        if event.get("cat") == "kernel":
            kernels.append((event["name"], float(event["ts"]), float(event["ts"]) + float(event["dur"])))
        elif event.get("cat") == "gpu_memcpy":
            copies.append((event["name"], float(event["dur"])))
    products = united((begin, end) for name, begin, end in kernels if PRODUCTS.search(name))
    return {"products_us": sum(end - begin for begin, end in products), "kernels": len(kernels),
            "ours": by_name(kernels, OURS, products), "nccl": by_name(kernels, NCCL, products), "copies": copy_times(copies)}


def by_name(kernels, pattern, products):
    """Name -> [how often, microseconds, microseconds of it while a product ran]."""
    found = defaultdict(lambda: [0, 0.0, 0.0])
    for name, begin, end in kernels:
        if pattern.search(name) and not PRODUCTS.search(name):
            entry = found[name.split("(")[0]]
            entry[0] += 1
            entry[1] += end - begin
            entry[2] += sum(max(min(end, until) - max(begin, since), 0.0) for since, until in products)
    return dict(found)


def copy_times(copies):
    found = defaultdict(lambda: [0, 0.0])
    for name, took in copies:
        found[name][0] += 1
        found[name][1] += took
    return dict(found)


def united(spans):
    """Spans in order, those that overlap joined."""
    joined = []
    for begin, end in sorted(spans):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((begin, end))
    return joined


def text(found):
    yield f"{found['kernels']} kernels; products {found['products_us']:.0f} us"
    for kind in ("ours", "nccl"):
        for name, (count, took, beside) in sorted(found[kind].items()):
            yield f"  {kind}: {name}: {count} times, {took:.1f} us, of them {beside:.1f} us while a product ran"
    for name, (count, took) in sorted(found["copies"].items()):
        yield f"  copies: {name}: {count} times, {took:.1f} us"


if __name__ == "__main__":
    for trace in sys.argv[1:]:
        print(f"{trace}: " + "\n".join(text(of_file(trace))))
