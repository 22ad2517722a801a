# SPDX-License-Identifier: BSD-3-Clause
"""Steps of DistributedDataParallel, against those over gloo."""
import copy

import pytest
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def model_of(device):
    torch.manual_seed(7)
    layers = [torch.nn.Linear(40, 60), torch.nn.ReLU(), torch.nn.BatchNorm1d(60), torch.nn.Linear(60, 5)]
    return torch.nn.Sequential(*layers).to(device)


def train(model, device, me, steps=4, accumulate=False):
    """Returns the losses, and the parameters as they are then."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(100 + me)
    losses = []
    for step in range(steps):
        batch, target = torch.randn(8, 40, generator=generator), torch.randn(8, 5, generator=generator)
        if accumulate:
            with model.no_sync():
                torch.nn.functional.mse_loss(model(batch.to(device)), target.to(device)).backward()
        loss = torch.nn.functional.mse_loss(model(batch.to(device)), target.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses, [parameter.detach().cpu() for parameter in model.parameters()]


@pytest.mark.parametrize("options", [{}, {"bucket_cap_mb": 0.005}, {"gradient_as_bucket_view": True}, {"static_graph": True}],
                         ids=str)
@pytest.mark.parametrize("accumulate", [False, True])
def test_steps_are_those_of_gloo(gloo, me, npes, options, accumulate):
    results = []
    for group in (None, gloo):
        model = DistributedDataParallel(model_of("cpu"), process_group=group, **options)
        results.append(train(model, "cpu", me, accumulate=accumulate and not options.get("static_graph")))
    (losses, parameters), (expected_losses, expected) = results
    for mine, other in zip(parameters, expected):
        # With two ranks a sum has one order; with more, orders differ.
        assert torch.equal(mine, other) if npes == 2 else torch.allclose(mine, other, rtol=1e-4, atol=1e-6)
    assert losses == pytest.approx(expected_losses, rel=1e-5)


def test_replicas_stay_equal(device, me, npes):
    model = DistributedDataParallel(model_of(device), bucket_cap_mb=0.005)
    _, parameters = train(model, device, me)
    for parameter in parameters:
        first = parameter.clone()
        dist.broadcast(first, 0)
        assert torch.equal(first, parameter)


def test_a_hook_compresses(device, me):
    """It asks the work for a future and chains to it."""
    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import bf16_compress_hook
    plain = DistributedDataParallel(model_of(device))
    squeezed = DistributedDataParallel(copy.deepcopy(plain.module))
    squeezed.register_comm_hook(None, bf16_compress_hook)
    for mine, other in zip(train(squeezed, device, me)[1], train(plain, device, me)[1]):
        assert torch.allclose(mine, other, rtol=0.05, atol=0.01)
