# SPDX-License-Identifier: BSD-3-Clause
"""The calls of one group on CPU tensors, one after the other."""
from __future__ import annotations

import collections
import threading
from collections.abc import Callable

from railshmem.distributed._work import HostWork


class Lane:
    """Carries calls out in the order of submission, on a thread of its own; a call for which its caller waits anyway on
    the caller's thread, where nothing is before it."""

    def __init__(self, name: str):
        self._name = name
        self._waiting: collections.deque[tuple[HostWork, Callable[[], None]]] = collections.deque()
        self._state = threading.Condition()
        self._busy = False
        self._thread: threading.Thread | None = None
        self._closed = False

    def carry_out(self, work: HostWork, action: Callable[[], None], async_op: bool) -> HostWork | None:
        """Submits action. With async_op it returns work; otherwise it waits for the end and returns None."""
        self.submit(work, action, caller_waits=not async_op)
        if async_op:
            return work
        work.wait()
        return None

    def submit(self, work: HostWork, action: Callable[[], None], caller_waits: bool) -> HostWork:
        """Carries out action, and ends work with what it raised."""
        with self._state:
            if self._closed:
                raise RuntimeError(f"railshmem: the process group {self._name} was destroyed")
            here = caller_waits and not self._busy and not self._waiting
            if here:
                self._busy = True
            else:
                if self._thread is None:
                    thread = threading.Thread(target=self._run, name=f"railshmem-{self._name}", daemon=True)
                    thread.start()  # may raise, and then nothing was submitted
                    self._thread = thread
                self._waiting.append((work, action))
                self._state.notify_all()
        if here:
            self._carry_out(work, action)
        return work

    def close(self) -> None:
        """Ends the thread when all calls are done."""
        with self._state:
            self._closed = True
            self._state.notify_all()
            self._state.wait_for(lambda: not self._busy and not self._waiting)
        if self._thread:
            self._thread.join()

    def _run(self) -> None:
        while True:
            with self._state:
                self._state.wait_for(lambda: not self._busy and (self._waiting or self._closed))
                if not self._waiting:
                    return
                work, action = self._waiting.popleft()
                self._busy = True
            self._carry_out(work, action)
            del work, action  # they hold tensors

    def _carry_out(self, work: HostWork, action: Callable[[], None]) -> None:
        error = None
        try:
            action()
        except BaseException as raised:  # the waiting thread raises it
            error = raised
        with self._state:
            self._busy = False
            self._state.notify_all()
        work.finish(error)
