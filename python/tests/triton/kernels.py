# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of railshmem.triton: those of docs/triton.md, and those that call every function."""
import triton
import triton.language as tl

import railshmem.triton as rt


@rt.jit
def all_gather(gathered, mine, signals, nbytes, round_number):
    """Program pe gives this PE's block to PE pe, and waits for that PE's: gathered[pe] on every PE. A grid of n_pes programs."""
    pe = tl.program_id(0)
    me = rt.my_pe()
    rt.put_signal(gathered + me * nbytes, mine, nbytes, signals + me, round_number, rt.SIGNAL_SET, pe)
    rt.signal_wait_until(signals + pe, rt.CMP_GE, round_number)


@triton.jit
def next_pe():
    return (rt.my_pe() + 1) % rt.n_pes()


@rt.jit
def pipeline(slots, values, arrived, free, chunks, first, CHUNK: tl.constexpr, SLOTS: tl.constexpr):
    """Doubles values[chunks, CHUNK] chunk by chunk, and leaves in values what the PE before this one made of its own. A chunk
    travels while the next one is computed. `first` is the number of chunks of earlier launches. One program."""
    to = next_pe()
    back = (rt.my_pe() + rt.n_pes() - 1) % rt.n_pes()
    offsets = tl.arange(0, CHUNK)
    for chunk in range(chunks):
        number = first + chunk + 1  # of this chunk among all of this job: signals only grow
        slot = slots + chunk % SLOTS * CHUNK
        row = values + chunk * CHUNK
        tl.store(row + offsets, tl.load(row + offsets) * 2)
        rt.signal_wait_until(free, rt.CMP_GE, tl.maximum(number - SLOTS, 0))  # the neighbour has read what was in the slot
        rt.put_signal(slot, row, CHUNK * 4, arrived, number, rt.SIGNAL_SET, to)
        rt.signal_wait_until(arrived, rt.CMP_GE, number)
        rt.get(row, slot, CHUNK * 4, rt.my_pe())
        rt.signal_op(free, number, rt.SIGNAL_SET, back)
    rt.quiet()


@rt.jit
def ping_pong(word, source, signal, nbytes, first, times):
    """PE 0 sends, PE 1 answers, `times` times; the last value of the signal is first + times on both. One program."""
    me = rt.my_pe()
    for i in range(times):
        number = first + i + 1
        if me == 0:
            rt.put_signal(word, source, nbytes, signal, number, rt.SIGNAL_SET, 1)
            rt.signal_wait_until(signal, rt.CMP_GE, number)
        else:
            rt.signal_wait_until(signal, rt.CMP_GE, number)
            rt.put_signal(word, source, nbytes, signal, number, rt.SIGNAL_SET, 0)


@rt.jit
def who(out):
    tl.store(out, rt.my_pe())
    tl.store(out + 1, rt.n_pes())


@rt.jit
def every_transfer(dest, source, signal, nbytes, pe):
    rt.put(dest, source, nbytes, pe)
    rt.put_nbi(dest, source, nbytes, pe)
    rt.fence()
    rt.put_signal_nbi(dest, source, nbytes, signal, 1, rt.SIGNAL_ADD, pe)
    rt.quiet()
    rt.get(dest, source, nbytes, pe)
    rt.get_nbi(dest, source, nbytes, pe)
    rt.sync_all()
    rt.barrier_all()
    tl.store(signal, rt.signal_fetch(signal))
    there = rt.ptr(dest, pe)
    if there.to(tl.int64) != 0:
        tl.store(there, tl.load(source))


@rt.jit
def every_atomic(word, out, pe):
    rt.atomic_set(word, 5, pe)
    rt.atomic_add(word, 2, pe)
    rt.quiet()
    tl.store(out, rt.atomic_fetch_add(word, 10, pe))
    tl.store(out + 1, rt.atomic_compare_swap(word, 17, 3, pe))
    tl.store(out + 2, rt.atomic_swap(word, 4, pe))
    tl.store(out + 3, rt.atomic_fetch(word, pe))


@rt.jit
def no_call(out):
    tl.store(out, 1)


@triton.jit
def plain(out):
    tl.store(out, 1)


@triton.jit
def not_linked(out):
    tl.store(out, rt.my_pe())


@rt.jit
def block_given(dest, source, pe, N: tl.constexpr):
    rt.put(dest + tl.arange(0, N), source, N, pe)


@rt.jit
def float_given(dest, source, pe):
    rt.put(dest, source, 4.0, pe)
