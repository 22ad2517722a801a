// SPDX-License-Identifier: BSD-3-Clause
// Calls every device function from a kernel and from a host function, so that both compilers generate its code.
#include <shmem/device/signal.h>
#include <shmem/device/strided.h>

namespace dev = railshmem::device;
using namespace railshmem;

template <class T>
RAILSHMEM_HD void call_atomics(const WorldView& world, T* dest, T* fetch, int pe) {
  dev::amo(world, dest, AmoOp::add, T{1}, T{0}, pe);
  dev::amo(world, dest, AmoOp::fetch, T{0}, T{0}, pe, fetch, dev::Fetch::later);
  dev::amo_fetch(world, fetch, dest, AmoOp::compare_swap, T{1}, T{2}, pe);
}

RAILSHMEM_HD void call_everything(const WorldView& world, uint64_t* words, uint32_t* halves, int pe) {
  dev::putmem(world, words, words, 100, pe, dev::Completion::later);
  dev::putmem(world, words, words, 100, pe, dev::Completion::later, dev::Payload::released);
  dev::putmem(world, words, words, 100, pe, dev::Completion::now);
  dev::p(world, halves, 3u, pe);
  dev::g(world, halves, halves, pe);
  dev::ibput(world, halves, halves, dev::Spacing{10, 4, 8, 12}, pe);
  dev::ibget(world, halves, halves, dev::Spacing{10, 4, 8, 12}, pe);
  dev::putmem<dev::BlockScope>(world, words, words, 100, pe, dev::Completion::now);
  dev::getmem<dev::WarpScope>(world, words, words, 100, pe, dev::Completion::now);
  dev::putmem_signal<dev::BlockScope>(world, words, words, 100, words, 1, SignalOp::set, pe, dev::Completion::now);
  dev::getmem(world, words, words, 100, pe, dev::Completion::later);
  dev::getmem(world, words, words, 100, pe, dev::Completion::now);
  dev::putmem_signal(world, words, words, 100, words, 1, SignalOp::add, pe, dev::Completion::later);
  dev::signal_update(world, words, 1, SignalOp::set, pe);
  call_atomics<uint32_t>(world, halves, halves, pe);
  call_atomics<uint64_t>(world, words, words, pe);
  dev::fence(world);
  dev::quiet(world);
  dev::push<dev::Producers::one>(world.channels[0].ring, Command{}, dev::Deadline::in(1000));
  const dev::Reserved run = dev::reserve(world.channels[0].ring, 2, dev::Deadline::never());
  dev::wait_ticket(world.channels[0], run.ticket, dev::Deadline::never());
}

__global__ void kernel(WorldView world, uint64_t* words, uint32_t* halves, int pe) {
  call_everything(world, words, halves, pe);
}

void host(const WorldView& world, uint64_t* words, uint32_t* halves, int pe) {
  call_everything(world, words, halves, pe);
}
