# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of railshmem.triton between PEs."""
import kernels
import pytest
import torch
import triton

import railshmem


def again(kernel):
    """The kernel as a fresh process has it: nothing compiled in memory, but perhaps on disk."""
    return type(kernel)(kernel.fn)


def rounds_of_ping_pong(kernel, symmetric, times, launches, nbytes=8, **options):
    word, source, signal = symmetric((max(nbytes // 8, 1), )), symmetric((max(nbytes // 8, 1), )), symmetric((1, ))
    for launch in range(launches):
        source.fill_(launch + 1)
        kernel[(1, )](word, source, signal, nbytes, launch * times, times, **options)
        torch.cuda.synchronize()
        assert signal.item() == (launch + 1) * times
        assert torch.all(word == launch + 1)
        railshmem.barrier_all()  # the next launch overwrites what the other one may still read


def test_kernels_know_who_and_how_many(me, npes):
    out = torch.zeros(2, dtype=torch.int64, device="cuda")
    again(kernels.who)[(1, )](out)
    assert out.tolist() == [me, npes]


def test_two_pes_answer_each_other(symmetric, me, npes):
    if npes != 2:
        pytest.skip("for two PEs")
    rounds_of_ping_pong(again(kernels.ping_pong), symmetric, times=100, launches=3)


def test_they_do_after_a_second_compilation_and_out_of_the_cache_on_disk(symmetric, npes):
    if npes != 2:
        pytest.skip("for two PEs")
    kernel = again(kernels.ping_pong)
    rounds_of_ping_pong(kernel, symmetric, times=10, launches=2)
    rounds_of_ping_pong(kernel, symmetric, times=10, launches=2, num_warps=8)  # another compilation
    rounds_of_ping_pong(again(kernels.ping_pong), symmetric, times=10, launches=2, num_warps=8)  # from disk
    rounds_of_ping_pong(kernel, symmetric, times=10, launches=2)  # from memory


def test_long_messages_arrive_before_their_signals(symmetric, npes):
    if npes != 2:
        pytest.skip("for two PEs")
    rounds_of_ping_pong(again(kernels.ping_pong), symmetric, times=5, launches=2, nbytes=1 << 20)


@pytest.mark.parametrize("num_warps", [1, 4, 8])
@pytest.mark.parametrize("nbytes", [16, 4096, 1 << 20])
def test_all_gather_gives_everyone_every_block(symmetric, me, npes, nbytes, num_warps):
    gathered, mine, signals = symmetric((npes * nbytes, ), "|i1"), symmetric((nbytes, ), "|i1"), symmetric((npes, ))
    kernel = again(kernels.all_gather)
    for round_number in (1, 2, 3):
        mine.fill_(10 * round_number + me)
        kernel[(npes, )](gathered, mine, signals, nbytes, round_number, num_warps=num_warps)
        torch.cuda.synchronize()
        expected = torch.arange(npes, device="cuda").repeat_interleave(nbytes) + 10 * round_number
        assert torch.equal(gathered, expected.to(torch.int8))
        railshmem.barrier_all()  # the next round overwrites what some may still read


def test_the_pipeline_gives_the_neighbours_chunks(symmetric, me, npes):
    chunks, chunk, slots = 10, 256, 2
    slot, arrived, free = symmetric((slots, chunk), "<f4"), symmetric((1, )), symmetric((1, ))
    kernel = again(kernels.pipeline)
    for launch in range(2):
        values = torch.arange(chunks * chunk, device="cuda", dtype=torch.float32).view(chunks, chunk) + 1000 * me + launch
        kernel[(1, )](slot, values, arrived, free, chunks, launch * chunks, CHUNK=chunk, SLOTS=slots)
        torch.cuda.synchronize()
        before = (me + npes - 1) % npes
        expected = 2 * (torch.arange(chunks * chunk, device="cuda", dtype=torch.float32).view(chunks, chunk) + 1000 * before + launch)
        assert torch.equal(values, expected)


@pytest.mark.parametrize("typestr", ["<i4", "<i8"])
def test_atomics_return_what_was_there(symmetric, me, npes, typestr):
    word, out = symmetric((1, ), typestr), torch.zeros(4, dtype=torch.int64, device="cuda")
    again(kernels.every_atomic)[(1, )](word, out, (me + 1) % npes)
    torch.cuda.synchronize()
    assert out.tolist() == [7, 17, 3, 4]
    railshmem.barrier_all()
    assert word.item() == 4


def test_puts_gets_and_the_barrier_move_bytes(symmetric, me, npes):
    if npes != 2:
        pytest.skip("for two PEs")
    dest, source, signal = symmetric((64, ), "<i4"), symmetric((64, ), "<i4"), symmetric((1, ))
    source.fill_(me + 1)
    torch.cuda.synchronize()
    railshmem.barrier_all()  # the other PE gets from the source
    again(kernels.every_transfer)[(1, )](dest, source, signal, 256, 1 - me)
    torch.cuda.synchronize()
    railshmem.barrier_all()
    assert signal.item() == 1
    assert torch.all(dest == 2 - me)  # put by the other PE, and got from it


def test_plain_kernels_run_beside(me):
    out = torch.zeros(1, dtype=torch.int64, device="cuda")
    kernels.plain[(1, )](out)
    again(kernels.no_call)[(1, )](out)
    assert out.item() == 1


def test_autotuned_kernels_call_the_library(npes):
    out = torch.zeros(2, dtype=torch.int64, device="cuda")
    configs = [triton.Config({}, num_warps=warps) for warps in (1, 2)]
    triton.autotune(configs=configs, key=[])(again(kernels.who))[(1, )](out)
    assert out[1].item() == npes
