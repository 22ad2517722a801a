# SPDX-License-Identifier: BSD-3-Clause
"""Buffers of railshmem.deep_ep start the library for the ranks of a group, and leave it; on the fake driver."""
import os
import pathlib
import subprocess
import sys

import pytest

import railshmem

pytest.importorskip("torch", reason="torch cannot be imported")
PACKAGE = pathlib.Path(railshmem.__file__).parent
FAKE_CUDA = PACKAGE.parent.parent / "tests/gpu/fake_driver/driver/fake_cuda"
if not (FAKE_CUDA / "libcuda.so.1").exists():
    pytest.skip(f"no fake driver at {FAKE_CUDA}", allow_module_level=True)

PROGRAM = """
import os, sys
rank, store, folder, ends = int(sys.argv[1]), *sys.argv[2:]
sys.path.insert(0, folder)
import torch, torch.distributed as dist
import railshmem
import fake
import railshmem.deep_ep as deep_ep
from railshmem.deep_ep import _streams
from railshmem.torch import _gpu
fake.replace()
_streams.current_device = lambda: 0
_gpu.choose = lambda device: torch.device("cuda", 0)
_gpu.take = lambda device, function: fake.take_gpu(function)
dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
assert not railshmem.is_initialized()
nbytes = deep_ep.Buffer.get_low_latency_rdma_size_hint(4, 128, 2, 4)
buffers = [deep_ep.Buffer(dist.group.WORLD, 0, nbytes, low_latency_mode=True) for _ in range(2)]
assert railshmem.is_initialized() and (railshmem.my_pe(), railshmem.n_pes()) == (rank, 2)
for buffer in buffers:
    x = fake.put(torch.full((4, 128), 1.0 + rank).bfloat16())
    chosen = fake.put(torch.tensor([[0, 1], [2, 3], [0, 2], [1, -1]]))
    weights = fake.put(torch.full((4, 2), 0.5))
    recv_x, recv_count, handle, event, hook = buffer.low_latency_dispatch(x, chosen, 4, 4, use_fp8=False)
    assert fake.get(recv_count).tolist() == ([4, 4] if rank == 0 else [4, 2])
    out, _, _ = buffer.low_latency_combine(recv_x, chosen, weights, handle)
    assert torch.equal(fake.get(out)[:, 0].float(), torch.tensor([1, 1, 1, 0.5]) * (1 + rank))
if ends == "destroy":
    buffers[0].destroy()
    assert railshmem.is_initialized()
    buffers[1].destroy()
    assert not railshmem.is_initialized()
dist.destroy_process_group()
print("fine")
"""


@pytest.mark.parametrize("ends", ["destroy", "forgets"])
def test_the_first_buffer_starts_the_library_and_the_last_one_leaves_it(ends, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    here = {"RAILSHMEM_FAKE_GPUS": "2", "RAILSHMEM_FAKE_OPEN": "1", "SHMEM_HEAP_KIND": "device", "SHMEM_DEVICE_HEAP_MAX": "128M",
            "SHMEM_SYMMETRIC_SIZE": "64M", "SHMEM_WAIT_TIMEOUT": "40", "LD_LIBRARY_PATH": str(FAKE_CUDA), "OMP_NUM_THREADS": "1"}
    folder = pathlib.Path(__file__).parents[1] / "moe"
    ranks = [subprocess.Popen([sys.executable, program, str(rank), tmp_path / "store", folder, ends], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env={**os.environ, **here}) for rank in range(2)]
    try:
        said = [rank.communicate(timeout=120)[0] for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    if any("built without nvcc" in one for one in said):
        pytest.skip("the library was built without kernels")
    assert [rank.returncode for rank in ranks] == [0, 0] and all("fine" in one for one in said), said
    assert not any("without shmem_finalize" in one for one in said), said
