# SPDX-License-Identifier: BSD-3-Clause
"""Tensors of railshmem.symm_mem behind finalize(), and signals between GPUs that do not come, each in a job of its own."""
import os
import subprocess
import sys

import pytest

import railshmem

torch = pytest.importorskip("torch")
OSHRUN = f"{os.path.dirname(railshmem.__file__)}/bin/oshrun"
START = """
import sys, torch, torch.distributed as dist, torch.distributed._symmetric_memory as symm_mem, railshmem, railshmem.symm_mem
device = sys.argv[1]
railshmem.init(device=0 if device == "cuda" else None)
store = dist.FileStore(sys.argv[2], 1)
dist.init_process_group("gloo", store=store, rank=0, world_size=1)
railshmem.symm_mem.enable(4 << 20, device=device)
t = symm_mem.empty(4, device=device)
handle = symm_mem.rendezvous(t, dist.group.WORLD)
"""
ENDED = START + """
railshmem.finalize()
for use in (handle.barrier, lambda: symm_mem.empty(4, device=device), lambda: symm_mem.rendezvous(t, dist.group.WORLD)):
    try:
        use()
    except RuntimeError as error:
        print(str(error).splitlines()[0], flush=True)
"""
SILENT = START + """
handle.wait_signal(0, channel=3, timeout_ms=100)
try:
    torch.cuda.synchronize()
except RuntimeError as error:
    print("CUDA's own error came", flush=True)
try:
    handle.barrier()
except RuntimeError as error:
    print(str(error).splitlines()[0], flush=True)
sys.stdout.flush()
import os; os._exit(0)
"""


def run(program, device, tmp_path):
    return subprocess.run([OSHRUN, "-n", "1", sys.executable, "-c", program, device, str(tmp_path / "store")], capture_output=True,
                          text=True, timeout=280).stdout


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_use_behind_finalize_is_an_exception(device, tmp_path):
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("torch finds no GPU")
    said = run(ENDED, device, tmp_path)
    for function in ("barrier", "empty", "rendezvous"):
        assert f"railshmem.symm_mem: {function}: railshmem.finalize() has given the memory back" in said, said


@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no GPU")
def test_a_signal_between_gpus_that_does_not_come_is_named(tmp_path):
    said = run(SILENT, "cuda", tmp_path)
    assert "CUDA's own error came" in said, said
    assert "a kernel on the GPU gave up: rank 0 has not signalled on channel 3 within 100 ms" in said, said
