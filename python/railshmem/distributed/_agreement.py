# SPDX-License-Identifier: BSD-3-Clause
"""One decision of all members of a new group, over the store of torch.distributed."""
from __future__ import annotations

import json
from collections.abc import Callable

import torch.distributed as dist


def agree(store: dist.Store, prefix: str, rank: int, size: int, mine: dict,
          decide: Callable[[list[dict]], dict]) -> dict:
    """Returns what decide() makes of `mine` of all members, in the order of ranks; rank 0 runs it.

    Collective over the members; values are of JSON. What decide() raises as ValueError or RuntimeError, all raise.
    Waits as long as the store does, and raises what it raises then.
    """
    store.set(f"{prefix}/{rank}", json.dumps(mine))
    if rank == 0:
        offers = [json.loads(store.get(f"{prefix}/{member}")) for member in range(size)]
        try:
            answer = {"decision": decide(offers)}
        except (ValueError, RuntimeError) as error:
            answer = {"error": str(error)}
        store.set(f"{prefix}/answer", json.dumps(answer))
    answer = json.loads(store.get(f"{prefix}/answer"))
    if "error" in answer:
        raise RuntimeError(answer["error"])
    return answer["decision"]
