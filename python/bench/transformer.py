# SPDX-License-Identifier: BSD-3-Clause
"""The model of fsdp_step.py and ddp_step.py, and one step of its training."""
import time

import job
import torch
import torch.distributed as dist


class Layer(torch.nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.before, self.after = torch.nn.LayerNorm(hidden), torch.nn.LayerNorm(hidden)
        self.qkv, self.out = torch.nn.Linear(hidden, 3 * hidden), torch.nn.Linear(hidden, hidden)
        self.up, self.down = torch.nn.Linear(hidden, 4 * hidden), torch.nn.Linear(4 * hidden, hidden)

    def forward(self, x):
        batch, length, hidden = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(self.before(x)).chunk(3, -1))
        mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, hidden))
        return x + self.down(torch.nn.functional.gelu(self.up(self.after(x))))


class Transformer(torch.nn.Module):
    def __init__(self, options):
        super().__init__()
        self.embed = torch.nn.Embedding(options.vocab, options.hidden)
        self.layers = torch.nn.ModuleList(Layer(options.hidden, options.heads) for _ in range(options.layers))
        self.head = torch.nn.Linear(options.hidden, options.vocab, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def add_options(parser, defaults):
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=default, help=f"default: {default}")


def tokens_of(options):
    """A batch of this rank's own, the same one in every run."""
    generator = torch.Generator().manual_seed(1000 + dist.get_rank())
    return torch.randint(options.vocab, (options.batch, options.sequence + 1), generator=generator).to(options.device)


def step(model, optimizer, tokens):
    """Returns the loss, a tensor."""
    logits = model(tokens[:, :-1]).float()
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach()


def run(model, optimizer, tokens, options, steps):
    """Returns the seconds of one step, on average; those of the slowest rank. Collective."""
    job.synchronize(options.device)
    dist.barrier()
    job.synchronize(options.device)
    begin = time.perf_counter()
    for _ in range(steps):
        step(model, optimizer, tokens)
    job.synchronize(options.device)
    found = [None] * dist.get_world_size()
    dist.all_gather_object(found, (time.perf_counter() - begin) / steps)
    return max(found)


def losses(model, optimizer, tokens, steps):
    """The losses of so many steps, of all ranks, as floats. Collective."""
    found = [None] * dist.get_world_size()
    dist.all_gather_object(found, [step(model, optimizer, tokens).item() for _ in range(steps)])
    return found
