# SPDX-License-Identifier: BSD-3-Clause
"""What async_op=True returns: a torch.distributed.Work. Its class is made when it is first needed, since not every torch
has torch.distributed."""
from __future__ import annotations

import functools

import torch

from railshmem.torch import _side


def done() -> torch.distributed.Work:
    """Returns the Work of a call on the CPU, which is over."""
    return _class()(None, 0, ())


def behind(stream: torch.cuda.Stream, team: int, tensors: tuple) -> torch.distributed.Work:
    """Returns the Work of what stream was given last, for the team of this key; it keeps the tensors alive until somebody has waited."""
    event = torch.cuda.Event()
    event.record(stream)
    _side.pending[team] = event
    return _class()(event, team, tensors)


@functools.cache
def _class() -> type:
    if not torch.distributed.is_available():
        raise RuntimeError("railshmem.torch: async_op=True needs torch.distributed, which this torch was built without")

    class Work(torch.distributed.Work):
        """A collective that was begun. wait() is for the stream that uses its tensors next."""

        def __init__(self, event: torch.cuda.Event | None, team: int, tensors: tuple) -> None:
            super().__init__()
            self._event, self._team, self._tensors = event, team, tensors

        def wait(self, timeout: object = None) -> bool:
            """Lets torch's current stream wait for the call, not the CPU; on CPU tensors the call is over. Returns True.

            timeout means nothing: a call whose members do not come ends the job within SHMEM_WAIT_TIMEOUT.
            """
            if self._event is not None:
                torch.cuda.current_stream(self._event.device).wait_event(self._event)
                if _side.pending.get(self._team) is self._event:
                    del _side.pending[self._team]
                self._tensors = ()
            return True

        def synchronize(self) -> None:
            """Does what wait() does."""
            self.wait()

        def is_completed(self) -> bool:
            """Returns whether the call is over. Local."""
            return self._event is None or self._event.query()

        def is_success(self) -> bool:
            """Returns True: a call that goes wrong raises when it is made, or ends the job."""
            return True

    return Work
