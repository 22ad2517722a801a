# SPDX-License-Identifier: BSD-3-Clause
"""send and recv between the members of a group, by CPU memory.

A message goes in chunks. The sender copies a chunk into a slot that it has for the receiver, and puts a header with a signal
into the ring that the receiver has for it. The receiver gets the chunk from the slot straight into its tensor, and signals
how many headers it has taken, which frees slot and place in the ring. Messages of one pair and one tag arrive in the order in
which they were sent; those that no recv waits for are kept by the receiver, so that others may pass.
"""
from __future__ import annotations

import collections
import dataclasses
import threading
import time

import numpy as np
import torch

from railshmem import numpy as rn
from railshmem.distributed._layout import HEADERS, Mail
from railshmem.distributed._memory import bytes_of, gathered, hand_over
from railshmem.distributed._work import HostWork

ANY_SOURCE = -1
_PAUSES_S = (0.0, 20e-6, 200e-6, 1e-3)  # between looks in vain: fast at first, cheap later
_LOOKS_A_PAUSE = 50


@dataclasses.dataclass(eq=False)
class Outgoing:
    """A message on its way to the member dest."""

    work: HostWork
    data: np.ndarray
    dest: int
    tag: int
    sent: int = 0


@dataclasses.dataclass(eq=False)
class Incoming:
    """A recv that waits: source may be ANY_SOURCE."""

    work: HostWork
    tensor: torch.Tensor
    source: int
    tag: int


@dataclasses.dataclass(eq=False)
class Arriving:
    """A message of which chunks have come: into a recv's buffer, or kept."""

    tag: int
    buffer: np.ndarray
    left: int
    target: Incoming | None = None
    staged: torch.Tensor | None = None


class MessageChannel:
    """Carries the messages of one group, on a thread that starts with the first message.

    What goes wrong with one message ends its work. What goes wrong with the thread ends the works of all messages under way, and
    later calls raise.
    """

    def __init__(self, name: str, rank: int, pes: list[int], mail: Mail):
        self._name, self._rank, self._pes, self._mail = name, rank, pes, mail
        size = len(pes)
        self._outgoing: list[collections.deque[Outgoing]] = [collections.deque() for _ in pes]
        self._incoming: list[Incoming] = []
        self._arriving: list[Arriving | None] = [None] * size
        self._kept: list[collections.deque[Arriving]] = [collections.deque() for _ in pes]
        self._posted = [0] * size  # headers to each member
        self._taken = [0] * size  # headers from each member
        self._state = threading.Condition()
        self._over: list[tuple[HostWork, BaseException | None, int]] = []  # works to be ended without the lock
        self._thread: threading.Thread | None = None
        self._closed = False
        self._failure: BaseException | None = None  # what has ended the thread

    def send(self, work: HostWork, tensor: torch.Tensor, dest: int, tag: int) -> HostWork:
        """Sends a CPU tensor; work ends when tensor may be changed."""
        message = Outgoing(work, bytes_of(gathered(tensor)), dest, tag)
        with self._state:
            self._require_thread()
            self._outgoing[dest].append(message)
            self._state.notify_all()
        return work

    def receive(self, work: HostWork, tensor: torch.Tensor, source: int, tag: int) -> HostWork:
        """Receives into a CPU tensor the next message from source with this tag, which has its size."""
        with self._state:
            self._require_thread()
            self._incoming.append(Incoming(work, tensor, source, tag))
            self._match_kept()
            self._state.notify_all()
        self._end_works()
        return work

    def close(self, deadline_s: float) -> bool:
        """Ends the thread; waits until receivers have what was sent. False where they have not after the deadline."""
        end = time.monotonic() + deadline_s
        with self._state:
            self._closed = True
            self._state.notify_all()
        if self._thread:
            self._thread.join(deadline_s)
        while not self._all_received():
            if time.monotonic() > end:
                return False
            time.sleep(_PAUSES_S[-1])
        return True

    def _all_received(self) -> bool:
        return all(self._mail.done_by(pe) >= posted for pe, posted in enumerate(self._posted))

    def _require_thread(self) -> None:
        if self._closed:
            raise RuntimeError(f"railshmem: the process group {self._name} was destroyed")
        if self._failure:
            raise self._stopped()
        if self._thread is None:
            thread = threading.Thread(target=self._run, name=f"railshmem-mail-{self._name}", daemon=True)
            thread.start()  # may raise, and then there is no thread
            self._thread = thread

    def _stopped(self) -> RuntimeError:
        error = RuntimeError(f"railshmem: send and recv of the process group {self._name} have stopped on this rank, because "
                             f"of {self._failure!r}; end the job, or make another group of all ranks")
        error.__cause__ = self._failure
        return error

    def _run(self) -> None:
        try:
            self._carry()
        except BaseException as error:  # the works raise it: nobody sees how this thread ends
            with self._state:
                self._fail_all(error)
        self._end_works()

    def _carry(self) -> None:
        in_vain = 0
        while True:
            with self._state:
                self._state.wait_for(lambda: self._closed or self._receives() or any(self._outgoing))
                if not self._receives() and not any(self._outgoing):
                    return  # closed
                moved = self._take_all() | self._post_all()
            self._end_works()
            in_vain = 0 if moved else in_vain + 1
            if not moved:
                time.sleep(_PAUSES_S[min(in_vain // _LOOKS_A_PAUSE, len(_PAUSES_S) - 1)])

    def _end(self, work: HostWork, error: BaseException | None = None, source: int = -1) -> None:
        self._over.append((work, error, source))

    def _end_works(self) -> None:
        """Ends works, without the lock: callbacks of their futures may wait for threads that send or receive."""
        with self._state:
            over, self._over = self._over, []
        for work, error, source in over:
            work.finish(error, source)

    def _fail_all(self, failure: BaseException) -> None:
        self._failure = failure
        arriving = [message.target.work for message in self._arriving if message and message.target]
        works = [message.work for queue in self._outgoing for message in queue]
        for work in works + [incoming.work for incoming in self._incoming] + arriving:
            self._end(work, self._stopped())
        for queue in self._outgoing:
            queue.clear()
        self._incoming.clear()
        self._arriving = [None] * len(self._pes)

    # Sending.

    def _post_all(self) -> bool:
        return any([self._post_next(queue) for queue in self._outgoing if queue])

    def _post_next(self, queue: collections.deque[Outgoing]) -> bool:
        message = queue[0]
        dest, number = message.dest, self._posted[message.dest]
        if number - self._mail.done_by(dest) >= HEADERS:
            return False
        chunk = message.data[message.sent:message.sent + self._mail.slot_nbytes]
        self._mail.slot(dest, number)[:chunk.nbytes] = chunk
        header = np.array([message.tag, message.data.nbytes, chunk.nbytes], np.int64)
        self._mail.post(self._rank, self._pes[dest], number, header)
        self._posted[dest] += 1
        message.sent += chunk.nbytes
        if message.sent == message.data.nbytes:
            queue.popleft()
            self._end(message.work)
        return True

    # Receiving.

    def _receives(self) -> bool:
        """Whether a recv waits, or a message that one waits for is on its way."""
        return bool(self._incoming) or any(arriving and arriving.target for arriving in self._arriving)

    def _take_all(self) -> bool:
        if not self._receives():
            return False
        return any([self._take_next(source) for source in range(len(self._pes))])

    def _take_next(self, source: int) -> bool:
        if self._mail.arrived_from(source) <= self._taken[source]:
            return False
        tag, total, nbytes = self._mail.header(source, self._taken[source])
        arriving = self._arriving[source]
        if arriving is None:
            arriving = self._arriving[source] = self._begin(source, tag, total)
        begin = total - arriving.left
        if nbytes:
            slot = self._mail.slot(self._rank, self._taken[source])
            rn.get(arriving.buffer[begin:begin + nbytes], slot[:nbytes], self._pes[source])
        self._taken[source] += 1
        self._mail.notify_done(self._rank, self._pes[source], self._taken[source])
        arriving.left -= nbytes
        if arriving.left == 0:
            self._arriving[source] = None
            self._complete(source, arriving)
        return True

    def _begin(self, source: int, tag: int, total: int) -> Arriving:
        for incoming in self._incoming:
            if incoming.tag == tag and incoming.source in (source, ANY_SOURCE):
                if incoming.tensor.nbytes != total:
                    break  # kept; the recv ends with an error
                staged = gathered(incoming.tensor)
                arriving = Arriving(tag, bytes_of(staged), total, incoming, staged)
                self._incoming.remove(incoming)
                return arriving
        return Arriving(tag, np.empty(total, np.uint8), total)

    def _complete(self, source: int, arriving: Arriving) -> None:
        if arriving.target is None:
            self._kept[source].append(arriving)
            self._match_kept()
            return
        self._deliver(arriving.target, source, arriving.staged)

    def _deliver(self, incoming: Incoming, source: int, data: torch.Tensor) -> None:
        """Brings a message to the tensor of its recv. What the tensor does not take is an error of that recv."""
        error = None
        try:
            hand_over(data, incoming.tensor)
        except Exception as raised:
            error = raised
        self._end(incoming.work, error, source)

    def _match_kept(self) -> None:
        for incoming in list(self._incoming):
            sources = range(len(self._pes)) if incoming.source == ANY_SOURCE else [incoming.source]
            found = next(((source, message) for source in sources for message in self._kept[source]
                          if message.tag == incoming.tag), None)
            if found is None:
                continue
            source, message = found
            self._kept[source].remove(message)
            self._incoming.remove(incoming)
            if message.buffer.nbytes != incoming.tensor.nbytes:
                self._end(incoming.work, ValueError(
                    f"railshmem: recv of {incoming.tensor.nbytes} bytes from rank {source}, tag {incoming.tag & 0xffffffff}, and the "
                    f"message has {message.buffer.nbytes}; send and recv tensors of one size and type"))
                continue
            data = torch.from_numpy(message.buffer).view(incoming.tensor.dtype).view(incoming.tensor.shape)
            self._deliver(incoming, source, data)
