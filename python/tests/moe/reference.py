# SPDX-License-Identifier: BSD-3-Clause
"""What dispatch and combine must give, by plain torch on the CPU. Every PE computes what all PEs send."""
import dataclasses

import torch


@dataclasses.dataclass
class Case:
    experts: int  #: of all PEs
    topk: int
    hidden: int
    max_tokens: int
    dtype: torch.dtype = torch.bfloat16
    fp8: bool = False
    routing: str = "random"  #: or "dropped", "twice", "one", "none"
    weighted: bool = True
    late_weights: bool = False
    scale_type: str = "float"

    def sizes(self):
        names = ("experts", "topk", "hidden", "max_tokens", "dtype", "fp8", "late_weights", "scale_type")
        return {name: getattr(self, name) for name in names}


class Tokens:
    """What one PE sends in one round."""

    def __init__(self, case, pe, round, tokens=None):
        random = torch.Generator().manual_seed(1000 * round + pe)
        most = case.max_tokens if round == 0 else int(torch.randint(case.max_tokens + 1, (), generator=random))
        self.count = tokens if tokens is not None else 0 if case.routing == "none" and pe % 2 == 0 else most
        self.x = torch.randn(self.count, case.hidden, generator=random).mul(8).to(case.dtype)
        scores = torch.rand(self.count, case.experts, generator=random)
        self.experts = scores.topk(case.topk, dim=1).indices
        if case.routing == "dropped":
            self.experts[torch.rand(self.count, case.topk, generator=random) < 0.3] = -1
        if case.routing == "twice":
            self.experts[:, 1::2] = self.experts[:, 0:case.topk // 2 * 2:2]
        if case.routing == "one":
            self.experts[:] = -1
            self.experts[:, 0] = case.experts - 1
        self.weights = torch.rand(self.count, case.topk, generator=random)

    def entries(self, t):
        """(expert, weight) of a token, in its order; one that it names twice stands once, with the sum of the weights."""
        found = {}
        for expert, weight in zip(self.experts[t].tolist(), self.weights[t]):
            if expert >= 0:
                found[expert] = found[expert] + weight if expert in found else weight.clone()
        return found


def row_of(case, x):
    """The row as an expert gets it, and its scales or None."""
    if not case.fp8:
        return x, None
    groups = x.float().view(-1, 128)
    most = groups.abs().amax(1).clamp(min=1e-4)
    largest = torch.full_like(most, 448.0)  # 448.0 / most would be 448.0 * (1 / most)
    scales, factors = most / largest, largest / most
    if case.scale_type != "float":
        scales = torch.exp2(torch.ceil(torch.log2(scales.double()))).float()
        factors = 1 / scales
    return (groups * factors[:, None]).to(torch.float8_e4m3fn).view(-1), scales


def scales_of(case, scales):
    """What dispatch() has brought, as floats."""
    if case.scale_type != "ue8m0":
        return scales
    exponents = torch.stack([scales >> 8 * i & 0xff for i in range(4)], dim=-1).flatten(-2)
    return torch.exp2(exponents.double() - 127).float()


def result_of(case, expert, row, scales):
    """What the test's expert makes of a row."""
    value = row.float() if scales is None else row.float() * scales.repeat_interleave(128)
    return (value * (1 + expert % 5 / 4)).to(case.dtype)


def received(case, sent, me, npes):
    """For each local expert, the list of (source, token) whose rows must come, in their order."""
    local = case.experts // npes
    return [[(pe, t) for pe, tokens in enumerate(sent) for t in range(tokens.count) if me * local + e in tokens.entries(t)]
            for e in range(local)]


def combined(case, tokens, t, npes, factor=1):
    """factor: of the results. Sums of a member first, in the token's order, then the members in the order of ranks; float32, rounded once."""
    local, whole = case.experts // npes, torch.zeros(case.hidden)
    row, scales = row_of(case, tokens.x[t])
    for member in range(npes):
        theirs = [(e, w) for e, w in tokens.entries(t).items() if e // local == member]
        part = torch.zeros(case.hidden)
        for expert, weight in theirs:
            part += weight * (factor * result_of(case, expert, row, scales)).float()
        if theirs:
            whole += part
    return whole.to(case.dtype)


def bits(tensor):
    return tensor.contiguous().view(torch.uint8)
