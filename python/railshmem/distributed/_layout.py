# SPDX-License-Identifier: BSD-3-Clause
"""How a group's region of symmetric memory is divided: mail between its members, and staging memory."""
from __future__ import annotations

import numpy as np

from railshmem import numpy as rn

HEADERS = 4  # chunks on their way from one member to another
_WORDS = 3  # of a header: tag, bytes of the message, bytes of the chunk
_LINE = 64  # bytes of a cache line


class Mail:
    """The symmetric words and slots of send and recv. Members are numbered by rank; pe is a PE of the job."""

    def __init__(self, memory: np.ndarray, size: int):
        """memory: symmetric bytes, zero on all members. ValueError where they are too few."""
        words, rings = size * _LINE, size * HEADERS * _LINE
        self.slot_nbytes = (memory.nbytes - 2 * words - rings) // (size * HEADERS) // _LINE * _LINE
        if self.slot_nbytes <= 0:
            raise ValueError(f"railshmem: {memory.nbytes} bytes are too few for send and recv of {size} members; call "
                             "railshmem.distributed.configure() with larger regions")
        self._posted = memory[:words].view(np.uint64).reshape(size, -1)  # [from]: headers that have come
        self._done = memory[words:2 * words].view(np.uint64).reshape(size, -1)  # [by]: headers that were taken
        self._rings = memory[2 * words:2 * words + rings].view(np.int64).reshape(size, HEADERS, -1)
        slots = memory[2 * words + rings:][:size * HEADERS * self.slot_nbytes]
        self._slots = slots.reshape(size, HEADERS, self.slot_nbytes)

    def slot(self, dest: int, number: int) -> np.ndarray:
        """Returns the slot of the chunk with this number that a member sends to the member dest."""
        return self._slots[dest, number % HEADERS]

    def post(self, me: int, pe: int, number: int, header: np.ndarray) -> None:
        """Puts a member's header with this number into its ring on PE pe."""
        rn.put_signal(self._rings[me, number % HEADERS, :_WORDS], header, self._posted[me, :1], number + 1, pe)

    def arrived_from(self, member: int) -> int:
        """Returns how many headers of the member have come."""
        return int(self._posted[member, 0])

    def header(self, member: int, number: int) -> list[int]:
        """Returns the words of the member's header with this number, which has come."""
        rn.wait_signal(self._posted[member, :1], ">=", number + 1)  # it has come: orders what is read behind it
        return self._rings[member, number % HEADERS, :_WORDS].tolist()

    def notify_done(self, me: int, pe: int, number: int) -> None:
        """Tells PE pe that this member has taken its first `number` headers, and what they named."""
        rn.signal_op(self._done[me, :1], number, pe)

    def done_by(self, member: int) -> int:
        """Returns how many of this PE's headers the member has taken."""
        return int(self._done[member, 0])


def divide(region: np.ndarray, size: int) -> tuple[Mail, np.ndarray]:
    """Returns the mail, zeroed, and the staging memory of a group of size members. ValueError for too small a region."""
    mail = region[:region.nbytes // 4]
    mail[:] = 0
    return Mail(mail, size), region[mail.nbytes:]
