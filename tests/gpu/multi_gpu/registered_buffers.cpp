// SPDX-License-Identifier: BSD-3-Clause
// Registered buffers between the PEs of a node: every kind of memory, parts of one allocation at unequal offsets,
// memory that was freed while registered, deregistration while peers map the buffer, graphs. It looks behind the public
// calls at what PeerBuffers tells collectives.
//   registered_buffers             all of it
//   registered_buffers silent      PE 1 is stopped while PE 0 tells it of a buffer, and goes on   (with
//   SHMEM_TIMEOUT=2) registered_buffers killed      PE 1 is killed while PE 0 tells it of a buffer: an error names PE 1
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>

#include "tests/gpu/multi_gpu/registered_rig.h"

namespace {

using namespace railshmem;
using namespace railshmem::multi;
using test::Allocator;
using test::ProgramMemory;
using Where = PeerView::Where;

constexpr size_t kPiece = ProgramMemory::kExtent;
constexpr Allocator kAllocators[] = {Allocator::block, Allocator::extents, Allocator::pool};

/// PEs bring buffers of unequal sizes at unequal offsets, and every PE uses every other one's.
void every_kind(Rig& rig) {
  for (const Allocator kind : kAllocators) {
    rig.step("buffers of %s", name_of(kind));
    const size_t shift = 4096 * static_cast<size_t>(rig.me + 1) + 16;
    const ProgramMemory memory = rig.memory(kind, 3 * kPiece + kPiece * static_cast<size_t>(rig.me));
    const size_t nbytes = 2 * kPiece + 1000 * static_cast<size_t>(rig.me);
    rig.expect(shmemx_coll_register(memory.at(shift), nbytes) == 0, "registered");
    const PeerView whole = rig.find(rig.everybody, memory.at(shift), nbytes);
    rig.expect(whole.where == Where::registered, "found");
    const size_t part = kPiece - shift - 100 * static_cast<size_t>(rig.me + 1);  // reaches into the second piece
    const PeerView view = rig.find(rig.everybody, memory.at(shift + part), 5000);
    for (int pe = 0; pe < rig.npes; ++pe)
      rig.expect(view.at_peer[pe] - whole.at_peer[pe] == part, "a part lies where the whole says");
    rig.write(memory.at(shift + part), rig.pattern(rig.me, 5000));
    std::vector<std::byte*> theirs(rig.everybody.size());
    for (int pe = 0; pe < rig.npes; ++pe) {
      if (pe == rig.me) continue;
      std::byte* const at = theirs[static_cast<size_t>(pe)] = rig.tell_and_hear(view, pe);
      rig.expect(rig.read(at, 5000) == rig.pattern(pe, 5000), "a peer's bytes are read where it says");
      const auto place = rig.buffers.place_of(at);
      rig.expect(place && place->pe == pe, "what lies at that address is known");
      rig.expect(place && rig.buffers.mapped(pe, place->address, 5000) == at, "and where a peer's address lies here");
    }
    rig.barrier();
    for (std::byte* const at : theirs)
      if (at != nullptr) rig.write(at + 5 * rig.me, rig.pattern(rig.me + 50, 5));
    rig.barrier();
    for (int pe = 0; pe < rig.npes; ++pe)
      if (pe != rig.me)
        rig.expect(rig.read(memory.at(shift + part + 5 * static_cast<size_t>(pe)), 5) == rig.pattern(pe + 50, 5),
                   "a peer has written");
    rig.barrier();
    rig.expect(shmemx_coll_deregister(memory.at(shift)) == 0, "deregistered");
    rig.expect(rig.found(rig.everybody, memory.at(shift), 8).where == Where::nowhere, "no longer found");
    rig.barrier();
  }
}

void allocated(Rig& rig) {
  rig.step("memory of shmemx_mem_alloc");
  auto* const memory = static_cast<std::byte*>(shmemx_mem_alloc(5 * kPiece + 7));
  rig.expect(memory != nullptr && cuda::address_of(memory) % kPiece == 0, "allocated in whole granules");
  const PeerView view = rig.find(rig.everybody, memory, 6 * kPiece);
  rig.expect(view.where == Where::registered, "registered by itself");
  rig.write(memory, rig.pattern(rig.me, 300));
  const int next = (rig.me + 1) % rig.npes, before = (rig.me + rig.npes - 1) % rig.npes;
  const std::byte* const theirs = rig.tell_ring(view, before, next);
  rig.expect(rig.read(theirs, 300) == rig.pattern(next, 300), "the next PE's bytes are read");
  rig.barrier();
  rig.expect(shmemx_mem_free(memory) == 0 && shmemx_mem_free(memory) != 0, "freed once");
  rig.expect(shmemx_mem_free(nullptr) == 0, "NULL is nothing");
  rig.expect(shmemx_mem_alloc(0) == nullptr, "0 bytes are none");
}

/// PE 0 meets a new buffer while the others use theirs again and then are in no call of the library.
void hits_and_misses(Rig& rig) {
  rig.step("a PE hits while another one misses");
  const ProgramMemory known = rig.memory(Allocator::extents, kPiece), fresh = rig.memory(Allocator::block, 100'000);
  auto* const done = static_cast<uint64_t*>(shmemx_malloc_host(8));
  __atomic_store_n(done, 0, __ATOMIC_RELAXED);
  rig.expect(shmemx_coll_register(known.at(), kPiece) == 0, "registered");
  rig.expect(rig.find(rig.everybody, known.at(), 8).where == Where::registered, "found");
  rig.barrier();
  if (rig.me == 0) {
    rig.expect(shmemx_coll_register(fresh.at(), 100'000) == 0, "registered");
    rig.expect(rig.find(rig.everybody, fresh.at(), 8).where == Where::registered, "a miss is answered");
    for (int pe = 1; pe < rig.npes; ++pe) shmem_uint64_p(done, 1, pe);
  } else {
    rig.expect(rig.find(rig.everybody, known.at(), 8).where == Where::registered, "a hit");
    rig.expect(rig.comes_true([&] { return __atomic_load_n(done, __ATOMIC_ACQUIRE) == 1; }), "PE 0 has not got stuck");
  }
  rig.barrier();
  rig.expect(shmemx_coll_deregister(known.at()) == 0, "deregistered");
  if (rig.me == 0) rig.expect(shmemx_coll_deregister(fresh.at()) == 0, "deregistered");
  rig.barrier();
  shmem_free(done);
}

/// The program's mistake, on every PE: an error here, and nothing wrong afterwards.
void freed_while_registered(Rig& rig) {
  rig.step("memory freed while registered");
  {
    auto block = std::make_unique<ProgramMemory>(rig.driver, rig.calls, Allocator::block, size_t{300'000});
    std::byte* const at = block->at();
    rig.expect(shmemx_coll_register(at, 300'000) == 0, "registered");
    rig.expect(rig.find(rig.everybody, at, 8).where == Where::registered, "found");
    rig.barrier();
    block.reset();
    block = std::make_unique<ProgramMemory>(rig.driver, rig.calls, Allocator::block, size_t{300'000});
    rig.say("the block that was freed%s",
            block->at() == at ? " is given out again at its address" : " has a successor elsewhere");
    rig.expect(rig.error_of_find(at, 8).find("was freed while registered (300000 bytes at") != std::string::npos,
               "an error names the buffer");
    rig.expect(shmemx_coll_deregister(at) == 0, "deregistered all the same");
    rig.settle();
    rig.expect(shmemx_coll_register(block->at(), 300'000) == 0, "the new block is registered");
    const PeerView view = rig.find(rig.everybody, block->at(), 300'000);
    rig.expect(view.where == Where::registered, "the new block is found");
    rig.write(block->at(), rig.pattern(rig.me + 7, 64));
    for (int pe = 0; pe < rig.npes; ++pe)
      if (pe != rig.me)
        rig.expect(rig.read(rig.tell_and_hear(view, pe), 64) == rig.pattern(pe + 7, 64), "peers see the new block");
    rig.barrier();
    rig.expect(shmemx_coll_deregister(block->at()) == 0, "deregistered");
  }
  ProgramMemory pieces = rig.memory(Allocator::extents, 3 * kPiece);
  rig.expect(shmemx_coll_register(pieces.at(), 3 * kPiece) == 0, "registered");
  rig.expect(rig.find(rig.everybody, pieces.at(), 3 * kPiece).where == Where::registered, "found");
  pieces.replace(1);
  rig.expect(rig.error_of_find(pieces.at(), 3 * kPiece).find("was freed while registered") != std::string::npos,
             "another piece in the middle is noticed");
  rig.expect(rig.find(rig.everybody, pieces.at(), kPiece).where == Where::registered, "the first piece is not meant");
  rig.expect(shmemx_coll_deregister(pieces.at()) == 0, "deregistered");
  rig.barrier();
}

void bad_calls(Rig& rig) {
  rig.step("calls that must fail");
  int on_host = 0;
  const ProgramMemory memory = rig.memory(Allocator::block, 8192),
                      alone{rig.driver, rig.calls, Allocator::extents, kPiece, 0};
  rig.expect(shmemx_coll_register(&on_host, 4) != 0, "host memory");
  rig.expect(shmemx_coll_register(nullptr, 4) != 0, "NULL");
  rig.expect(shmemx_coll_register(memory.at(), 0) != 0, "no bytes");
  rig.expect(shmemx_coll_register(alone.at(), 64) != 0, "memory that cannot be shared");
  rig.expect(shmemx_coll_register(rig.symmetric, 64) != 0, "the heap");
  rig.expect(shmemx_coll_register(memory.at(), 4096) == 0, "registered");
  rig.expect(shmemx_coll_register(memory.at(100), 64) != 0, "an overlap");
  rig.expect(shmemx_coll_deregister(memory.at(100)) != 0, "no buffer begins there");
  rig.expect(shmemx_coll_deregister(memory.at()) == 0 && shmemx_coll_deregister(memory.at()) != 0, "deregistered once");
}

/// What one graph captured stays with its peers until the graph has gone, whatever the program deregisters.
void graphs(Rig& rig) {
  if (!rig.streams.graphs()) return;
  rig.step("buffers of graphs");
  for (const Allocator kind : {Allocator::extents, Allocator::block}) {
    const ProgramMemory memory = rig.memory(kind, 100'000);
    PeerView view;
    void* const ready = rig.streams.capture(
        [&] { view = rig.buffers.find_captured(rig.everybody, memory.at(64), 1000, rig.stream()); });
    rig.expect(view.where == Where::registered, "registered by itself");
    rig.expect(rig.found(rig.everybody, memory.at(64), 1000).where == Where::nowhere, "for the graph only");
    rig.write(memory.at(64), rig.pattern(rig.me + 90, 1000));
    std::vector<const std::byte*> theirs(static_cast<size_t>(rig.npes));
    for (int pe = 0; pe < rig.npes; ++pe)
      if (pe != rig.me) {
        theirs[static_cast<size_t>(pe)] = rig.tell_and_hear(view, pe);
        rig.expect(rig.read(theirs[static_cast<size_t>(pe)], 1000) == rig.pattern(pe + 90, 1000), "peers see it");
      }
    rig.expect(shmemx_coll_register(memory.at(), 50'000) == 0 && shmemx_coll_deregister(memory.at()) == 0,
               "registered and deregistered beside the graph");
    rig.barrier();
    for (const std::byte* at : theirs)
      if (at != nullptr) rig.expect(rig.buffers.place_of(at).has_value(), "the graph holds it");
    rig.barrier();
    rig.streams.call("cuGraphExecDestroy", ready);
    for (const std::byte* at : theirs)
      if (at != nullptr) rig.expect(rig.comes_true([&] { return !rig.buffers.place_of(at); }), "gone with the graph");
    rig.barrier();
  }
}

/// Whether SHMEM_COLLECTIVES makes all-gathers go from buffer to buffer, so that they need the buffers at peers.
bool from_buffer_to_buffer() {
  const char* const chosen = std::getenv("SHMEM_COLLECTIVES");
  return chosen != nullptr && std::strcmp(chosen, "fcollect=direct") == 0;
}

/// A graph's collective on memory that nobody registered: peers map it as long as the graph lives.
void captured_collectives(Rig& rig) {
  if (!rig.streams.graphs()) return;
  rig.step("captured collectives on memory that is not registered");
  const size_t shift = 256 * static_cast<size_t>(rig.me + 1), block = 100'000;
  const size_t all = block * static_cast<size_t>(rig.npes);
  const ProgramMemory memory = rig.memory(Allocator::block, 2 * kPiece);
  shmemx_coll_t coll = SHMEMX_COLL_INITIALIZER;
  coll.nelems = block;
  coll.source = memory.at(shift);
  coll.dest = memory.at(kPiece + shift);
  void* const ready =
      rig.streams.capture([&] { rig.expect(shmemx_coll_on_stream(&coll, rig.streams.stream) == 0, "captured"); });
  const std::vector<uint64_t> theirs = rig.all_gather(cuda::address_of(coll.dest));
  const auto seen_here = [&](int pe) {
    return rig.buffers.mapped(pe, theirs[static_cast<size_t>(pe)], all) != nullptr;
  };
  for (int pe = 0; pe < rig.npes; ++pe)
    if (pe != rig.me) rig.expect(seen_here(pe) || !from_buffer_to_buffer(), "peers map what the kernel needs");
  for (int round = 0; round < 2; ++round) {
    rig.write(memory.at(shift), rig.pattern(rig.me + 20 * round, block));
    rig.streams.launch(ready);
    rig.streams.synchronize();
    for (int pe = 0; pe < rig.npes; ++pe)
      rig.expect(rig.read(memory.at(kPiece + shift + block * static_cast<size_t>(pe)), block) ==
                     rig.pattern(pe + 20 * round, block),
                 "gathered at each replay");
  }
  rig.barrier();
  rig.streams.call("cuGraphExecDestroy", ready);
  for (int pe = 0; pe < rig.npes; ++pe)
    if (pe != rig.me) rig.expect(rig.comes_true([&] { return !seen_here(pe); }), "unmapped with the graph");
  rig.barrier();
}

/// Every member's buffer was freed while registered, so every call returns nonzero.
void collectives_on_freed_memory(Rig& rig) {
  if (!from_buffer_to_buffer()) return;
  rig.step("a collective on memory that was freed while registered");
  auto memory = std::make_unique<ProgramMemory>(rig.driver, rig.calls, Allocator::extents, 2 * kPiece);
  rig.expect(shmemx_coll_register(memory->at(), 2 * kPiece) == 0, "registered");
  memory->replace(0);
  shmemx_coll_t coll = SHMEMX_COLL_INITIALIZER;
  coll.nelems = 100'000;
  coll.source = memory->at();
  coll.dest = memory->at(kPiece / 2);
  rig.expect(shmemx_coll_on_stream(&coll, rig.streams.stream) != 0, "refused");
  rig.expect(shmemx_coll_deregister(memory->at()) == 0, "deregistered");
  rig.expect(shmemx_coll_on_stream(&coll, rig.streams.stream) == 0, "given, as any memory is");
  rig.streams.synchronize();
  rig.barrier();
}

/// While a kernel of PE 1 waits for PE 0, PE 1's mailbox maps and unmaps memory of PE 0.
void beside_a_kernel(Rig& rig) {
  if (rig.npes < 2 || !rig.kernels_reach(1)) return;
  rig.step("a peer maps and unmaps while its kernel waits for this PE");
  auto* const word = static_cast<uint64_t*>(rig.symmetric);
  shmem_uint64_p(word, 0, rig.me);
  rig.barrier();
  if (rig.me == 1) shmemx_uint64_wait_until_on_stream(word, SHMEM_CMP_EQ, 1, rig.streams.stream);
  rig.barrier();
  if (rig.me == 0) {
    const int pair[] = {0, 1};
    for (const Allocator kind : kAllocators) {
      const ProgramMemory memory = rig.memory(kind, 10 * kPiece);
      rig.expect(shmemx_coll_register(memory.at(), 10 * kPiece) == 0, "registered");
      const double mapped_ms =
          rig.timed_ms([&] { rig.expect(rig.find(pair, memory.at(), 8).where == Where::registered, "found"); });
      const double hit_us = 1000 * rig.timed_ms([&] { rig.found(pair, memory.at(), 10 * kPiece); });
      const double gone_ms = rig.timed_ms([&] { shmemx_coll_deregister(memory.at()); });
      rig.say(
          "%s, 20 MiB, beside a kernel of the peer: mapped in %.3f ms, found again in %.1f us, deregistered in %.3f ms",
          name_of(kind), mapped_ms, hit_us, gone_ms);
    }
  }
  // A block at the address of one that PE 1 has open, and cannot close beside its kernel.
  std::unique_ptr<ProgramMemory> block;
  if (rig.me == 0) {
    const int pair[] = {0, 1};
    block = std::make_unique<ProgramMemory>(rig.driver, rig.calls, Allocator::block, size_t{123'456});
    rig.expect(shmemx_coll_register(block->at(), 123'456) == 0, "registered");
    rig.expect(rig.find(pair, block->at(), 8).where == Where::registered, "found");
    rig.expect(shmemx_coll_deregister(block->at()) == 0, "deregistered");
    const std::byte* const before = block->at();
    block.reset();
    block = std::make_unique<ProgramMemory>(rig.driver, rig.calls, Allocator::block, size_t{123'456});
    rig.expect(shmemx_coll_register(block->at(), 123'456) == 0, "registered");
    PeerView view;
    const double ms = rig.timed_ms([&] { view = rig.found(pair, block->at(), 8); });
    rig.say("a block %s, beside a kernel of the peer: %s in %.3f ms",
            block->at() == before ? "at the address of a freed one" : "elsewhere",
            view.where == Where::registered ? "mapped" : "put off", ms);
    shmem_uint64_p(word, 1, 1);
    shmem_quiet();
  }
  rig.streams.synchronize();
  rig.settle();
  if (rig.me == 0) {
    const int pair[] = {0, 1};
    rig.expect(rig.comes_true([&] { return rig.found(pair, block->at(), 8).where == Where::registered; }),
               "found at last");
    rig.expect(shmemx_coll_deregister(block->at()) == 0, "deregistered");
  }
  rig.barrier();
}

/// Collectives find registered buffers at every size and by every way that goes from buffer to buffer.
void collectives(Rig& rig) {
  for (const Allocator kind : kAllocators) {
    rig.step("collectives on registered %s", name_of(kind));
    const size_t shift = 256 * static_cast<size_t>(rig.me + 1), block = 300'000;
    const size_t all = block * static_cast<size_t>(rig.npes);
    const ProgramMemory memory = rig.memory(kind, 4 * kPiece);
    rig.expect(shmemx_coll_register(memory.at(), 4 * kPiece) == 0, "registered");
    shmemx_coll_t coll = SHMEMX_COLL_INITIALIZER;
    coll.nelems = block;
    coll.source = memory.at(shift);
    coll.dest = memory.at(2 * kPiece + shift);
    for (int round = 0; round < 3; ++round) {
      rig.write(memory.at(shift), rig.pattern(rig.me + 10 * round, block));
      rig.expect(shmemx_coll_on_stream(&coll, rig.streams.stream) == 0, "given");
      rig.streams.synchronize();
      const auto seen = rig.read(memory.at(2 * kPiece + shift), all);
      for (int pe = 0; pe < rig.npes; ++pe)
        rig.expect(
            std::equal(seen.begin() + static_cast<long>(block) * pe, seen.begin() + static_cast<long>(block) * (pe + 1),
                       rig.pattern(pe + 10 * round, block).begin()),
            "gathered");
    }
    rig.expect(shmemx_coll_deregister(memory.at()) == 0, "deregistered");
    rig.barrier();
  }
}

/// PE 1 stops itself. PE 0 tells it of a buffer, and meanwhile `after` comes to PE 1.
std::string tell_a_stopped_pe(Rig& rig, int after) {
  auto* const pid = static_cast<uint64_t*>(shmemx_malloc_host(8));
  const ProgramMemory memory = rig.memory(Allocator::extents, kPiece);
  __atomic_store_n(pid, static_cast<uint64_t>(getpid()), __ATOMIC_RELAXED);
  rig.barrier();
  std::string error;
  if (rig.me == 1) kill(getpid(), SIGSTOP);
  if (rig.me == 0) {
    const auto other = static_cast<pid_t>(shmem_uint64_g(pid, 1));
    rig.expect(rig.comes_true([&] { return is_stopped(other); }), "PE 1 has stopped");
    rig.expect(shmemx_coll_register(memory.at(), kPiece) == 0, "registered");
    std::thread killer;
    if (after == SIGKILL)
      killer = std::thread([&] {
        usleep(300'000);  // PE 0 is waiting by then, or is told of the death when it asks
        kill(other, SIGKILL);
      });
    error = rig.error_of_find(memory.at(), 8);
    std::printf("PE 0: %s\n", error.c_str());
    std::fflush(stdout);
    if (killer.joinable()) killer.join();
    if (after == SIGCONT) {
      kill(other, SIGCONT);
      rig.expect(rig.error_of_find(memory.at(), 8) == "no error", "found when PE 1 goes on");
      rig.expect(shmemx_coll_deregister(memory.at()) == 0, "deregistered");
    }
  }
  rig.barrier();
  shmem_free(pid);
  return error;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  shmem_init();
  if (shmemx_attach_device() != 0) shmem_global_exit(2);
  int failures = 0;
  {
    Rig rig;
    if (mode == "silent") {
      const std::string error = tell_a_stopped_pe(rig, SIGCONT);
      rig.expect(rig.me != 0 || error.find("PE 1 has not answered within 2.0 s") == 0, "the error names PE 1");
    } else if (mode == "killed") {
      tell_a_stopped_pe(rig, SIGKILL);
    } else {
      for (void (*const step)(Rig&) :
           {every_kind, allocated, hits_and_misses, freed_while_registered, bad_calls, graphs, collectives,
            captured_collectives, collectives_on_freed_memory, beside_a_kernel}) {
        step(rig);
        rig.settle();
      }
    }
    failures = rig.failures;
    if (rig.me == 0) std::printf("%s registered buffers, %d PEs\n", failures == 0 ? "ok    " : "FAILED", rig.npes);
  }
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
