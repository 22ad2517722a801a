# SPDX-License-Identifier: BSD-3-Clause
"""Training steps with our collectives, against those without."""
import time

import pytest
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy

from training import installed, reference_mesh, sharded, train


def compare(device, gloo, npes, options=None, prepare=lambda model: None, **training):
    """Checks a default run against one with our all-gather, bit for bit, and against one with our reduce-scatter, too."""
    options, mesh = options or {}, reference_mesh(device, gloo)
    results = []
    for kind in ("default", "all-gather", "both"):
        model = sharded(mesh, **options)
        prepare(model)
        if kind == "default":
            results.append(train(model, device, **training))
            continue
        with installed(model, mesh.get_group(), reduce_scatter=kind == "both") as installation:
            results.append(train(model, device, **training))
            assert installation.all_gather_pool.misses == 0
            del model
            assert installation.all_gather_pool.leases == 0
    (losses, parameters), (gather_losses, gather_parameters), (both_losses, both_parameters) = results
    assert losses == gather_losses
    assert all(map(torch.equal, parameters, gather_parameters))
    assert both_losses == pytest.approx(losses, rel=1e-4)
    for mine, other in zip(both_parameters, parameters):
        assert torch.allclose(mine, other, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("reshard", [True, False, 2])
def test_reshard_after_forward(device, gloo, npes, reshard):
    if reshard == 2 and npes == 2:
        reshard = 1  # a divisor of the number of ranks, other than it
    compare(device, gloo, npes, {"reshard_after_forward": reshard})


def test_gradient_accumulation(device, gloo, npes):
    compare(device, gloo, npes, accumulate=3)


@pytest.mark.parametrize("reduce_dtype", [torch.float32, torch.bfloat16, None])
def test_mixed_precision(device, gloo, npes, reduce_dtype):
    """Sums of bfloat16 are rounded in another order than gloo's, so only our reduce-scatter in float32 is close."""
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=reduce_dtype)
    if reduce_dtype == torch.float32:
        compare(device, gloo, npes, {"mp_policy": policy})
        return
    mesh = reference_mesh(device, gloo)
    expected = train(sharded(mesh, mp_policy=policy), device, steps=1)
    model = sharded(mesh, mp_policy=policy)
    with installed(model, mesh.get_group()):
        found = train(model, device, steps=1)
    assert found[0] == expected[0]
    for mine, other in zip(found[1], expected[1]):
        assert torch.allclose(mine, other, rtol=0.05, atol=0.01)


def test_parameters_of_two_types(device, gloo, npes):
    compare(device, gloo, npes, {"frozen": True})


@pytest.mark.parametrize("depth", [1, 2])
def test_prefetch(device, gloo, npes, depth):
    def prepare(model):
        blocks = list(model.blocks)
        for index, block in enumerate(blocks):
            block.set_modules_to_forward_prefetch(blocks[index + 1:index + 1 + depth])
            block.set_modules_to_backward_prefetch(blocks[max(index - depth, 0):index][::-1])
    compare(device, gloo, npes, prepare=prepare)


def test_asynchronous_unshard(device, gloo, npes):
    mesh = reference_mesh(device, gloo)
    expected = train(sharded(mesh), device, asynchronous=True)
    model = sharded(mesh)
    with installed(model, mesh.get_group(), in_flight=8) as installation:
        found = train(model, device, asynchronous=True)
        assert installation.all_gather_pool.misses == 0
    assert found[0] == pytest.approx(expected[0], rel=1e-4)


def test_ranks_that_come_late(device, gloo, npes):
    """Others are ahead then; they must not write into memory that a late rank still reads."""
    compare(device, gloo, npes, steps=6, delayed=True)


def test_a_pool_that_is_too_small_is_slower_only(device, gloo, npes):
    mesh = reference_mesh(device, gloo)
    losses, parameters = train(sharded(mesh), device)
    model = sharded(mesh)
    with pytest.warns(RuntimeWarning, match="so this tensor has ordinary memory"):
        with installed(model, mesh.get_group(), in_flight=1, reduce_scatter=False) as installation:
            assert train(model, device)[0] == losses
            assert installation.all_gather_pool.misses > 0


def test_a_factor_for_gradients(device, gloo, npes):
    """A factor f divides sums by f; the default by the number of ranks. gloo has no such operation."""
    mesh = reference_mesh(device, gloo)
    losses, _ = train(sharded(mesh), device, lr=0.05)
    model = sharded(mesh)
    for module in model.modules():
        if hasattr(module, "set_gradient_divide_factor"):
            module.set_gradient_divide_factor(8.)
    with installed(model, mesh.get_group()):
        found, _ = train(model, device, lr=0.05 * 8 / npes)
    assert found == pytest.approx(losses, rel=1e-4)


def test_sharding_inside_of_replicas(device, gloo, me, npes):
    """Two dimensions: parameters are sharded over pairs, gradients are reduced between them, too."""
    if npes < 4:
        pytest.skip("needs 4 PEs")
    mesh = init_device_mesh(device, (npes // 2, 2), mesh_dim_names=("replica", "shard"))
    shard, replica = mesh.get_group("shard"), mesh.get_group("replica")
    if device == "cpu":
        pairs = [dist.new_group([rank, rank + 1], backend="gloo") for rank in range(0, npes, 2)]
        columns = [dist.new_group(list(range(rank, npes, 2)), backend="gloo") for rank in range(2)]
        reference = DeviceMesh.from_group([columns[me % 2], pairs[me // 2]], "cpu", mesh=mesh.mesh,
                                          mesh_dim_names=("replica", "shard"))
    else:
        reference = mesh
    losses, _ = train(sharded(reference), device)
    model = sharded(mesh)
    with installed(model, shard):
        assert train(model, device)[0] == pytest.approx(losses, rel=1e-4)
    dist.barrier()
    for group in (shard, replica):
        dist.destroy_process_group(group)


def test_the_process_group_alone_serves(device, gloo, npes):
    """FSDP2 over the backend railshmem, without install()."""
    expected = train(sharded(reference_mesh(device, gloo)), device)
    found = train(sharded(init_device_mesh(device, (npes,))), device)
    assert found[0] == pytest.approx(expected[0], rel=1e-4)


def test_a_gather_waits_for_the_credit_of_a_late_rank(me, npes):
    """Rank 0 holds its lease of the first call, and reads it late; nobody may have written there for the second call."""
    import railshmem.fsdp
    pool = railshmem.fsdp.Pool(1 << 16, "cpu")
    gather = railshmem.fsdp.AllGather(dist.group.WORLD, pool)
    for call in range(20):
        output = gather.allocate((npes * 100,), dtype=torch.int64, device=torch.device("cpu"))
        part = output[me * 100:(me + 1) * 100].fill_(1000 * call + me)
        if me == call % npes:
            time.sleep(0.02)
        gather(output, part, dist.group.WORLD)
        if me == (call + 1) % npes:
            time.sleep(0.02)
        assert output.view(npes, 100).tolist() == [[1000 * call + rank] * 100 for rank in range(npes)]
        del output, part
    assert pool.leases == 0 and pool.misses == 0
    gather.close()
    pool.close()
