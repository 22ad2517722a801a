# SPDX-License-Identifier: BSD-3-Clause
"""A decoder in bfloat16, trained as public FSDP2 benchmarks do it: layers are resharded, the root with both word matrices is not, one
all-gather serves all modules, the next layer is fetched ahead, parameters and reductions are bfloat16, AdamW under autocast."""
import pytest
import torch
import torch.distributed as dist
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

from training import installed, reference_mesh

WORDS, HIDDEN, INNER, HEADS, KEY_HEADS, LAYERS = 101, 56, 148, 14, 2, 3


class Layer(torch.nn.Module):
    """Attention in which several heads share a key, and a gated inner layer."""

    def __init__(self):
        super().__init__()
        self.head = HIDDEN // HEADS
        self.before, self.between = torch.nn.RMSNorm(HIDDEN), torch.nn.RMSNorm(HIDDEN)
        self.query, self.out = torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.key, self.value = (torch.nn.Linear(HIDDEN, KEY_HEADS * self.head) for _ in range(2))
        self.gate, self.up = (torch.nn.Linear(HIDDEN, INNER, bias=False) for _ in range(2))
        self.down = torch.nn.Linear(INNER, HIDDEN, bias=False)

    def forward(self, x):
        y = self.before(x)
        query, key, value = (made(y).unflatten(-1, (-1, self.head)).transpose(1, 2) for made in (self.query, self.key, self.value))
        y = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        y = self.between(x)
        return x + self.down(torch.nn.functional.silu(self.gate(y)) * self.up(y))


class Decoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.layers = torch.nn.Embedding(WORDS, HIDDEN), torch.nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm, self.outward = torch.nn.RMSNorm(HIDDEN), torch.nn.Linear(HIDDEN, WORDS, bias=False)

    def forward(self, words):
        x = self.words(words)
        for layer in self.layers:
            x = layer(x)
        return self.outward(self.norm(x))


def sharded(mesh):
    torch.manual_seed(1)
    model = Decoder().to(mesh.device_type, torch.bfloat16)
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16)
    for layer in model.layers:
        fully_shard(layer, mesh=mesh, mp_policy=policy, reshard_after_forward=True)
    for layer, following in zip(model.layers, model.layers[1:]):
        layer.set_modules_to_forward_prefetch([following])
    return fully_shard(model, mesh=mesh, mp_policy=policy, reshard_after_forward=False)


def train(model, device):
    """Returns the losses of five steps, and this rank's shards."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(dist.get_rank())
    losses = []
    for _ in range(5):
        words = torch.randint(WORDS, (1, 24), generator=generator).to(device)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(model(words[:, :-1]).flatten(0, 1).float(), words[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, [parameter.to_local().detach().cpu().clone() for parameter in model.parameters()]


@pytest.mark.parametrize("reduce_scatter", [False, True])
def test_a_decoder_in_bfloat16(device, gloo, reduce_scatter):
    """With the all-gather alone all bits are gloo's. Our reduce-scatter rounds a sum of bfloat16 once, and gloo's at every step."""
    mesh = reference_mesh(device, gloo)
    losses, shards = train(sharded(mesh), device)
    model = sharded(mesh)
    with installed(model, mesh.get_group(), reduce_scatter=reduce_scatter) as installation:
        found, found_shards = train(model, device)
        assert installation.all_gather_pool.misses == 0
    if not reduce_scatter:
        assert found == losses
        assert all(map(torch.equal, found_shards, shards))
    assert found == pytest.approx(losses, rel=0.01)
