# SPDX-License-Identifier: BSD-3-Clause
"""Events behind calls that the current stream does not wait for."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from railshmem.deep_ep import _streams


class EventHandle:
    """An event behind what torch's current stream has been given so far."""

    def __init__(self) -> None:
        self.event = _streams.record()
        self.is_captured, self.was_awaited = _streams.is_captured(), False

    def current_stream_wait(self) -> None:
        """The current stream waits for the event; the CPU does not."""
        _streams.wait(self.event)
        self.was_awaited = True


class EventOverlap:
    """What a call returns as its event. In a with statement, the current stream waits for it at the end of the block.

    `event` is None where the call was made without async_finish. `extra_tensors` keeps the call's tensors as long as this lives.
    """

    def __init__(self, event: EventHandle | None = None, extra_tensors: tuple | None = None) -> None:
        self.event, self.extra_tensors = event, extra_tensors
        self.hook_after_wait: Callable[[], Any] | None = None
        self._releases = False

    def current_stream_wait(self, release_handle: bool = False) -> None:
        """The current stream waits for the call; the CPU does not. release_handle=True lets go of the event afterwards.

        RuntimeError where there is no event.
        """
        if self.event is None:
            raise RuntimeError("railshmem.deep_ep.EventOverlap: there is no event; pass async_finish=True to the call")
        self.event.current_stream_wait()
        if self.hook_after_wait is not None:
            hook, self.hook_after_wait = self.hook_after_wait, None
            hook()
        if release_handle:
            self.event = None

    def register_hook_after_wait(self, hook_after_wait: Callable[[], Any]) -> None:
        """Has this called after the next current_stream_wait(). RuntimeError where one is registered."""
        if self.hook_after_wait is not None:
            raise RuntimeError("railshmem.deep_ep.EventOverlap: a hook is registered already")
        self.hook_after_wait = hook_after_wait

    def __call__(self, release_handle: bool = False) -> EventOverlap:
        """For `with event(release_handle=True):`."""
        self._releases = release_handle
        return self

    def __enter__(self) -> EventOverlap:
        return self

    def __exit__(self, *_: object) -> None:
        if self.event is not None:
            self.current_stream_wait(self._releases)
        self._releases = False
