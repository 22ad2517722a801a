# SPDX-License-Identifier: BSD-3-Clause
"""Who, put, get, signals and order."""
import triton.language as tl
from triton.language import core

from railshmem.triton._calls import act, call, word


@core.extern
def my_pe(_semantic=None):
    """Returns the number of this PE (int32)."""
    return call("railshmem_my_pe", [], tl.int32, _semantic, is_pure=True)


@core.extern
def n_pes(_semantic=None):
    """Returns how many PEs there are (int32)."""
    return call("railshmem_n_pes", [], tl.int32, _semantic, is_pure=True)


@core.extern
def ptr(pointer, pe, _semantic=None):
    """Returns where the symmetric object at `pointer` of PE pe is mapped here: a pointer of the same type for tl.load and
    tl.store, or one that is 0 where that PE is on another node (`.to(tl.int64) == 0`).
    """
    pointer = _semantic.to_tensor(pointer)
    if not pointer.dtype.is_ptr():
        raise TypeError(f"railshmem.triton.ptr: pointer is of type {pointer.dtype}; pass a scalar pointer")
    found = call("railshmem_ptr", [word("ptr", "pointer", pointer, _semantic), word("ptr", "pe", pe, _semantic)], tl.int64,
                 _semantic, is_pure=True)
    return core.cast(found, pointer.dtype, _semantic=_semantic)


@core.extern
def put(dest, source, nbytes, pe, _semantic=None):
    """Copies nbytes from `source` here to `dest` of PE pe; `source` may be changed on return. Delivered after quiet or a
    barrier; fence orders it before later puts and signals to that PE.
    """
    act("put", "railshmem_putmem_block", _semantic, dest=dest, source=source, nbytes=nbytes, pe=pe)


@core.extern
def put_nbi(dest, source, nbytes, pe, _semantic=None):
    """put(), but `source` may be changed only after quiet."""
    act("put_nbi", "railshmem_putmem_nbi_block", _semantic, dest=dest, source=source, nbytes=nbytes, pe=pe)


@core.extern
def get(dest, source, nbytes, pe, _semantic=None):
    """Copies nbytes from `source` of PE pe to `dest` here, which has them on return."""
    act("get", "railshmem_getmem_block", _semantic, dest=dest, source=source, nbytes=nbytes, pe=pe)


@core.extern
def get_nbi(dest, source, nbytes, pe, _semantic=None):
    """get(), but `dest` has the bytes only after quiet."""
    act("get_nbi", "railshmem_getmem_nbi_block", _semantic, dest=dest, source=source, nbytes=nbytes, pe=pe)


@core.extern
def put_signal(dest, source, nbytes, signal, value, operation, pe, _semantic=None):
    """put(), and then sets the signal of PE pe to `value` (operation SIGNAL_SET) or adds `value` to it (SIGNAL_ADD). Whoever
    sees the signal there sees the bytes. `signal` points to a symmetric uint64 or int64; value and operation are integers.
    """
    act("put_signal", "railshmem_putmem_signal_block", _semantic, dest=dest, source=source, nbytes=nbytes, signal=signal,
        value=value, operation=operation, pe=pe)


@core.extern
def put_signal_nbi(dest, source, nbytes, signal, value, operation, pe, _semantic=None):
    """put_signal(), but `source` may be changed only after quiet."""
    act("put_signal_nbi", "railshmem_putmem_signal_nbi_block", _semantic, dest=dest, source=source, nbytes=nbytes,
        signal=signal, value=value, operation=operation, pe=pe)


@core.extern
def signal_op(signal, value, operation, pe, _semantic=None):
    """Sets the signal of PE pe (operation SIGNAL_SET), or adds to it (SIGNAL_ADD). It orders no earlier put: call fence
    between, or use put_signal.
    """
    act("signal_op", "railshmem_signal_op_block", _semantic, signal=signal, value=value, operation=operation, pe=pe)


@core.extern
def signal_wait_until(signal, comparison, value, _semantic=None):
    """Waits until this PE's signal compares with `value` (comparison: CMP_EQ, CMP_GE, ...), as unsigned numbers. What was put before the signal is
    there on return. Ends the job, with a message, where nothing comes within SHMEM_WAIT_TIMEOUT. Returns nothing; read the
    signal by signal_fetch.
    """
    act("signal_wait_until", "railshmem_signal_wait_until_block", _semantic, signal=signal, comparison=comparison, value=value)


@core.extern
def signal_fetch(signal, _semantic=None):
    """Returns this PE's signal as it is now (int64). A signal that changes meanwhile may differ between the program's
    threads: use the value where nobody changes it, such as after signal_wait_until.
    """
    return call("railshmem_signal_fetch", [word("signal_fetch", "signal", signal, _semantic)], tl.int64, _semantic)


@core.extern
def fence(_semantic=None):
    """Orders this program's puts and signals so far before its later ones to the same PE."""
    act("fence", "railshmem_fence_block", _semantic)


@core.extern
def quiet(_semantic=None):
    """Returns when all operations of this program so far are complete: delivered, and their memory free for use."""
    act("quiet", "railshmem_quiet_block", _semantic)


@core.extern
def barrier_all(_semantic=None):
    """quiet(), and waits for all PEs to arrive. Exactly one program of each PE calls it."""
    act("barrier_all", "railshmem_barrier_all_block", _semantic)


@core.extern
def sync_all(_semantic=None):
    """Waits for all PEs to arrive, without quiet(). Exactly one program of each PE calls it."""
    act("sync_all", "railshmem_sync_all_block", _semantic)
