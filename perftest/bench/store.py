# SPDX-License-Identifier: BSD-3-Clause
"""The kept figures: perftest/figures/KIND.jsonl, a line for each row of each run. KIND is processor and number of CPUs."""
import datetime
import json
import os
import platform
import re
import subprocess
from pathlib import Path

import measure
import stats

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "perftest" / "figures"


def processor():
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def kind():
    """intel-xeon-processor-2-cpus: figures of one kind are comparable."""
    words = re.sub(r"\(.*?\)|@.*|\bCPU\b", "", processor()).lower()
    return "-".join([*re.findall(r"[a-z0-9.]+", words), str(len(os.sched_getaffinity(0))), "cpus"])


def gpus():
    """Their names, as the driver has them."""
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []


def gpu_kind():
    """nvidia-h100-80gb-hbm3-2-gpus; "" without a GPU."""
    names = gpus()
    return "-".join([*re.findall(r"[a-z0-9.]+", names[0].lower()), str(len(names)), "gpus"]) if names else ""


def git(*words):
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False).stdout.strip()


def stamp(machine=None):
    """What all rows of this run say of it. A commit with changes that are not committed ends in "+". Where the tree is no
    repository the variable COMMIT says which commit it is."""
    changed = "+" if git("status", "--porcelain", "--untracked-files=no", "--", "src", "include", "bootstrap", "transports", "perftest/host", "perftest/device") else ""
    head = git("rev-parse", "--short=10", "HEAD")
    return {"commit": os.environ.get("COMMIT") or (head + changed if head else "unknown"),
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "machine": machine or processor(), "cpus": len(os.sched_getaffinity(0)), "system": platform.release()}


def lines(rows, run):
    for name, row in sorted(rows.items()):
        yield json.dumps({"row": name, "ratio": float(f"{row.figure.ratio:.5g}"), "noise": round(row.figure.noise, 4), "value": float(f"{row.figure.value:.5g}"),
                          "unit": row.unit, "to": row.reference, **run})


def append(path, rows, run):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines(rows, run))


def runs(text, where):
    """[(run's stamp, {row name: Row})] in the order of the file."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        try:
            entry = json.loads(line)
            row = measure.Row(entry["unit"], entry["to"], stats.Figure(entry["ratio"], entry["noise"], entry["value"]))
            key = (entry["date"], entry["commit"])
            found.setdefault(key, ({"date": entry["date"], "commit": entry["commit"], "machine": entry["machine"], "cpus": entry["cpus"]}, {}))
            found[key][1][entry["row"]] = row
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{where}:{number}: this is no row of scripts/bench.sh: {error!r}") from None
    return list(found.values())


def committed(path):
    """The file as HEAD has it: a run that is not committed yet is no baseline. Without a repository: the file itself."""
    if not git("rev-parse", "HEAD"):
        return path.read_text(encoding="utf-8") if path.exists() else ""
    return git("show", f"HEAD:{path.relative_to(ROOT)}")
