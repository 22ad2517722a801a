# SPDX-License-Identifier: BSD-3-Clause
"""What a call of the process group returns: a torch.distributed.Work, on which a program waits."""
from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

import torch
import torch.distributed as dist

from railshmem.distributed import _streams

NO_TIMEOUT = timedelta(0)


class HostWork(dist.Work):
    """A call that a thread of this process carries out."""

    def __init__(self, name: str, tensors: list[torch.Tensor], timeout: timedelta):
        """name: the call, for messages. tensors: what the future brings. timeout: how long wait() waits at most."""
        super().__init__()
        self._name, self._tensors, self._timeout = name, tensors, timeout
        self._done = threading.Event()
        self._error: BaseException | None = None
        self._source = -1
        self._future: torch.futures.Future | None = None
        self._lock = threading.Lock()
        self._last_step: Callable[[], object] | None = None

    def at_wait(self, step: Callable[[], object]) -> None:
        """Has the first wait() do `step` on its thread, behind the call."""
        self._last_step = step

    def wait(self, timeout: timedelta = NO_TIMEOUT) -> bool:
        """Waits until the call is done; True. Raises what the call raised, and RuntimeError after the timeout."""
        limit = timeout if timeout > NO_TIMEOUT else self._timeout
        if not self._done.wait(limit.total_seconds()):
            raise RuntimeError(f"railshmem: {self._name} has not ended after {limit.total_seconds():g} s; a member of the "
                               "group did not call, or raise timeout= of init_process_group() or new_group()")
        if self._error:
            raise self._error
        with self._lock:
            step, self._last_step = self._last_step, None
        if step:
            step()
        return True

    def is_completed(self) -> bool:
        """Returns whether the call is done, well or not."""
        return self._done.is_set()

    def is_success(self) -> bool:
        """Returns whether the call is done and raised nothing."""
        return self._done.is_set() and self._error is None

    def exception(self) -> BaseException | None:
        """Returns what the call raised, or None."""
        return self._error

    def result(self) -> list[torch.Tensor]:
        """Returns the tensors with the results, after waiting for them."""
        self.wait()
        return self._tensors

    def synchronize(self) -> None:
        """Does wait()."""
        self.wait()

    def source_rank(self) -> int:
        """Returns the rank that sent what recv_anysource() received."""
        return self._source

    _source_rank = source_rank

    def get_future(self) -> torch.futures.Future:
        """Returns a future of the tensors with the results."""
        with self._lock:
            is_new = self._future is None
            if is_new:
                self._future = torch.futures.Future()
            future, is_over = self._future, self._done.is_set()
        if is_new and is_over:
            self._complete(future)
        return future

    def finish(self, error: BaseException | None = None, source: int = -1) -> None:
        """Ends the call; for who carries it out, without a lock: callbacks of the future run here."""
        with self._lock:
            self._error, self._source = error, source
            self._done.set()
            future = self._future
        if future is not None:
            self._complete(future)

    def _complete(self, future: torch.futures.Future) -> None:
        """Call without the lock: callbacks may use the work, or wait for threads that do."""
        if self._error is None:
            future.set_result(self._tensors)
        elif isinstance(self._error, Exception):
            future.set_exception(self._error)
        else:  # a future takes no KeyboardInterrupt or SystemExit
            future.set_exception(RuntimeError(f"railshmem: {self._name} was ended by {self._error!r}"))


class DeviceWork(dist.Work):
    """A call that was put into a stream of this PE's GPU."""

    def __init__(self, tensors: list[torch.Tensor], device: torch.device, stream: torch.cuda.Stream):
        """Call after the work is in the stream. tensors: what the future brings."""
        super().__init__()
        self._tensors, self._device, self._stream = tensors, device, stream
        self.event = torch.cuda.Event()  # behind the call
        self.event.record(stream)

    def wait(self, timeout: timedelta = NO_TIMEOUT) -> bool:
        """Makes torch's current stream wait for the call; True. The CPU does not wait."""
        _streams.current(self._device).wait_event(self.event)
        return True

    def synchronize(self) -> None:
        """Does wait()."""
        self.wait()

    def block_current_stream(self) -> None:
        """Does wait()."""
        self.wait()

    def is_completed(self) -> bool:
        """Returns whether the GPU has done the call."""
        return self.event.query()

    def is_success(self) -> bool:
        """Returns whether the GPU has done the call; errors of a GPU are raised by torch."""
        return self.event.query()

    def exception(self) -> None:
        """Returns None: what is wrong with a call is raised by the call."""

    def result(self) -> list[torch.Tensor]:
        """Returns the tensors that have the results when the stream has come to them."""
        return self._tensors

    def get_future(self) -> torch.futures.Future:
        """Returns a future of the tensors, which is complete; its wait() makes the current stream wait."""
        future = torch.futures.Future(devices=[self._device])
        with _streams.Within(self._stream, _streams.current(self._device)):
            future.set_result(self._tensors)
        return future


class JoinedWork(dist.Work):
    """Several calls of a group as one."""

    def __init__(self, works: list[dist.Work]):
        super().__init__()
        self._works = works

    def wait(self, timeout: timedelta = NO_TIMEOUT) -> bool:
        """Waits for all of them."""
        return all([work.wait(timeout) for work in self._works])

    def synchronize(self) -> None:
        """Does wait()."""
        self.wait()

    def is_completed(self) -> bool:
        """Returns whether all of them are done."""
        return all(work.is_completed() for work in self._works)

    def is_success(self) -> bool:
        """Returns whether all of them are done and none raised anything."""
        return all(work.is_success() for work in self._works)

    def get_future(self) -> torch.futures.Future:
        """Returns a future of the values of their futures."""
        return torch.futures.collect_all([work.get_future() for work in self._works])
