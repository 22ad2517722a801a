# SPDX-License-Identifier: BSD-3-Clause
"""The programs of python/bench run on CPUs, with small models, and write the rows that perftest/compare/python_compare.py reads."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

import railshmem

pytest.importorskip("torch", reason="torch cannot be imported")
BENCH = pathlib.Path(__file__).parents[2] / "bench"
OSHRUN = str(pathlib.Path(railshmem.__file__).parent / "bin/oshrun")
MODEL = ["--layers", "2", "--hidden", "32", "--heads", "2", "--vocab", "50", "--sequence", "16", "--batch", "1", "--rounds", "1",
         "--steps", "1", "--warmup", "1"]


def rows_of(tmp_path, program, *options):
    out = tmp_path / "rows.json"
    done = subprocess.run([OSHRUN, "-n", "2", sys.executable, BENCH / program, "--device", "cpu", "--out", out, *options], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=120, env={**os.environ, "SHMEM_WAIT_TIMEOUT": "40", "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stdout
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_calls_have_the_names_of_those_of_c(tmp_path):
    rows = rows_of(tmp_path, "stream_calls.py", "--calls", "20", "--repetitions", "3")
    names = {f"{call}_{kind}" for call in ("put", "put_signal", "fcollect", "reduce") for kind in ("on_cpu", "on_stream")}
    assert {row["bench"] for row in rows} == names and all(row["value"] > 0 for row in rows)
    assert {row["bytes"] for row in rows if row["bench"] == "fcollect_on_cpu"} == {16, 8192}


def test_parts_of_calls_add_up(tmp_path):
    rows = rows_of(tmp_path, "call_parts.py", "--repetitions", "3")
    for call in ("put", "put_signal"):
        for nbytes in (8, 8192):
            parts = {row["part"]: row["value"] for row in rows if (row["call"], row["bytes"]) == (call, nbytes)}
            whole = parts.pop("whole")
            assert set(parts) == {"python", "module", "library"} and abs(sum(parts.values()) - whole) < 1e-6 * whole


def test_collectives_are_measured_by_size(tmp_path):
    rows = rows_of(tmp_path, "stream_collectives.py", "--sizes", "4096,65536", "--calls", "3", "--repetitions", "3")
    assert {(row["bench"], row["bytes"], row["order"]) for row in rows} == {
        (bench, nbytes, "stream") for bench in ("allgather", "reducescatter", "allreduce") for nbytes in (4096, 65536)}


def test_fsdp_steps_are_timed_and_losses_compared(tmp_path):
    rows = rows_of(tmp_path, "fsdp_step.py", *MODEL, "--losses", "2", "--trace", str(tmp_path))
    losses = {row["kind"]: row for row in rows if row["bench"] == "fsdp_losses"}
    assert losses["all-gather"]["equal"] and losses["reference again"]["equal"]
    assert losses["both"]["value"] <= 1e-3
    assert losses["all-gather"]["last"] != losses["all-gather"]["first"]  # they were trained
    assert {row["kind"] for row in rows if row["bench"] == "fsdp_step"} == {"reference", "all-gather", "both"}
    assert len([row for row in rows if row["bench"] == "fsdp_trace"]) == 3


def test_ddp_steps_are_timed(tmp_path):
    rows = rows_of(tmp_path, "ddp_step.py", *MODEL, "--losses", "2")
    assert {row["kind"] for row in rows if row["bench"] == "ddp_step"} == {"railshmem", "reference"}
    assert next(row["value"] for row in rows if row["bench"] == "ddp_losses") <= 1e-2
