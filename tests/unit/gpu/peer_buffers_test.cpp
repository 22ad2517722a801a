// SPDX-License-Identifier: BSD-3-Clause
#include "src/gpu/peer_buffers.h"

#include <atomic>
#include <cstring>

#include "src/base/cpu.h"
#include "src/base/error.h"
#include "src/base/log.h"
#include "tests/support/node_pes.h"

namespace railshmem {
namespace {

using test::NodePes;
using test::ProgramMemory;
using Kind = test::Allocator;
using Where = PeerView::Where;

constexpr size_t kBufferExtent = ProgramMemory::kExtent;
constexpr int kBoth[] = {0, 1};
constexpr const char* kImports = "cuMemImportFromShareableHandle";

std::string error_of_buffers(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

template <class Reached>
bool becomes_true(const Reached& reached) {
  for (const uint64_t end = now_ns() + 20'000'000'000; now_ns() < end; std::this_thread::yield())
    if (reached()) return true;
  return false;
}

/// Both PEs are in this process, so the address that one PE told another can be used here.
std::byte* seen_at(const PeerView& view, size_t peer) {
  return reinterpret_cast<std::byte*>(view.at_peer[peer]);
}

TEST(PeerBuffers, TheHeapIsFoundByArithmetic) {
  NodePes pes;
  void* object[2] = {};
  pes.together([&](NodePes::Pe& pe) { object[pe.bootstrap.pe()] = pe.memory->allocate(5000, 64); });
  PeerBuffers& buffers = *pes.act_for(1).buffers;
  const int calls = pes.fake.calls(kImports);
  const PeerView view = buffers.find(kBoth, static_cast<std::byte*>(object[1]) + 100, 64);
  ASSERT_EQ(view.where, Where::heap);
  EXPECT_EQ(seen_at(view, 1), static_cast<std::byte*>(object[1]) + 100);
  EXPECT_NE(view.at_peer[0], view.at_peer[1]);
  *seen_at(view, 0) = std::byte{77};
  EXPECT_EQ(*seen_at(view, 1), std::byte{77}) << "the peer's address is another address of these bytes";
  EXPECT_EQ(pes.fake.calls(kImports), calls);
  EXPECT_EQ(buffers.explain(object[1], 8), "symmetric heap");
  const int other_way[] = {1, 0};
  EXPECT_EQ(buffers.find(other_way, object[1], 64).at_peer[0], cuda::address_of(object[1])) << "in the order asked";
  for (void* const symmetric : {object[1], static_cast<void*>(pes.pe(1).memory->arena().address(0))})
    EXPECT_NE(error_of_buffers([&] { buffers.add(symmetric, 64); }).find("needs no registration"), std::string::npos);
}

TEST(PeerBuffers, MemoryThatIsNotRegisteredIsNowhere) {
  NodePes pes;
  PeerBuffers& buffers = *pes.act_for(0).buffers;
  const ProgramMemory memory = pes.memory(Kind::extents, 2 * kBufferExtent);
  EXPECT_EQ(buffers.find(kBoth, memory.at(), 64).where, Where::nowhere);
  buffers.add(memory.at(4096), 10'000);
  EXPECT_EQ(buffers.find(kBoth, memory.at(4000), 200).where, Where::nowhere) << "begins before the buffer";
  EXPECT_EQ(buffers.find(kBoth, memory.at(14'000), 200).where, Where::nowhere) << "ends behind the buffer";
  EXPECT_EQ(buffers.explain(memory.at(), 64), "not registered");
  EXPECT_EQ(buffers.explain(memory.at(4096), 64), "registered (virtual memory)");
  EXPECT_NE(error_of_buffers([&] { buffers.add(memory.at(5000), 64); }).find("registered already"), std::string::npos);
  buffers.remove(memory.at(4096));
  EXPECT_EQ(buffers.find(kBoth, memory.at(4096), 64).where, Where::nowhere);
  EXPECT_NE(error_of_buffers([&] { buffers.remove(memory.at(4096)); }).find("no registered buffer begins at"),
            std::string::npos);
}

TEST(PeerBuffers, APeerMapsAnAllocationOnceForAllItsParts) {
  for (const Kind kind : {Kind::extents, Kind::pool}) {
    NodePes pes;
    PeerBuffers& buffers = *pes.act_for(0).buffers;
    const ProgramMemory memory = pes.memory(kind, 3 * kBufferExtent);
    buffers.add(memory.at(), 3 * kBufferExtent);
    const int before = pes.fake.calls(kImports) + pes.fake.calls("cuMemPoolImportPointer");
    const PeerView first = buffers.find(kBoth, memory.at(), 100);
    ASSERT_EQ(first.where, Where::registered);
    const int mapped = pes.fake.calls(kImports) + pes.fake.calls("cuMemPoolImportPointer");
    EXPECT_EQ(mapped - before, kind == Kind::extents ? 3 : 1);
    const size_t seam = 2 * kBufferExtent - 10;
    const PeerView part = buffers.find(kBoth, memory.at(seam), 1000);
    ASSERT_EQ(part.where, Where::registered);
    EXPECT_EQ(part.at_peer[1] - first.at_peer[1], seam);
    EXPECT_EQ(seen_at(part, 0), memory.at(seam));
    EXPECT_EQ(pes.fake.calls(kImports) + pes.fake.calls("cuMemPoolImportPointer"), mapped) << "a hit asks nobody";
    const int self[] = {0};
    EXPECT_EQ(seen_at(buffers.find(self, memory.at(), 8), 0), memory.at());
    pes.act_for(1);
    const auto place = pes.pe(1).buffers->place_of(seen_at(part, 1));
    ASSERT_TRUE(place);
    EXPECT_EQ(place->pe, 0);
    EXPECT_EQ(place->address, cuda::address_of(memory.at(seam)));
    EXPECT_EQ(pes.pe(1).buffers->mapped(0, place->address, 1000), seen_at(part, 1));
    EXPECT_EQ(pes.pe(1).buffers->mapped(0, place->address, 4 * kBufferExtent), nullptr);
    pes.act_for(0);
    buffers.remove(memory.at());
    pes.act_for(1);
    EXPECT_FALSE(pes.pe(1).buffers->place_of(seen_at(part, 1))) << "gone with the registration";
    pes.act_for(0);
  }
}

TEST(PeerBuffers, ThePeerSeesTheBytes) {
  NodePes pes;
  PeerBuffers& buffers = *pes.act_for(1).buffers;
  const ProgramMemory memory = pes.memory(Kind::extents, 2 * kBufferExtent);
  buffers.add(memory.at(40), kBufferExtent);
  const PeerView view = buffers.find(kBoth, memory.at(40), kBufferExtent);
  ASSERT_EQ(view.where, Where::registered);
  std::memset(memory.at(), 5, 2 * kBufferExtent);
  EXPECT_EQ(*seen_at(view, 0), std::byte{5});
  seen_at(view, 0)[kBufferExtent - 1] = std::byte{9};
  EXPECT_EQ(*memory.at(40 + kBufferExtent - 1), std::byte{9});
  buffers.remove(memory.at(40));
}

TEST(PeerBuffers, ManyExtentsGoInSeveralMessages) {
  NodePes pes;
  PeerBuffers& buffers = *pes.act_for(0).buffers;
  const size_t nbytes = (2 * kDescriptorsPerMessage + 3) * kBufferExtent;
  const ProgramMemory memory = pes.memory(Kind::extents, nbytes);
  buffers.add(memory.at(), nbytes);
  const PeerView view = buffers.find(kBoth, memory.at(), nbytes);
  ASSERT_EQ(view.where, Where::registered);
  for (size_t at = 0; at < nbytes; at += kBufferExtent) *memory.at(at) = static_cast<std::byte>(at / kBufferExtent);
  for (size_t at = 0; at < nbytes; at += kBufferExtent)
    ASSERT_EQ(seen_at(view, 1)[at], static_cast<std::byte>(at / kBufferExtent));
  buffers.remove(memory.at());
}

TEST(PeerBuffers, RegistrationsInOneAllocationShareIt) {
  NodePes pes;
  PeerBuffers& buffers = *pes.act_for(0).buffers;
  const ProgramMemory memory = pes.memory(Kind::pool, 100'000);
  buffers.add(memory.at(), 1000);
  buffers.add(memory.at(50'000), 1000);
  const PeerView first = buffers.find(kBoth, memory.at(), 1000);
  const PeerView second = buffers.find(kBoth, memory.at(50'000), 1000);
  EXPECT_EQ(second.at_peer[1] - first.at_peer[1], 50'000u);
  EXPECT_EQ(pes.fake.calls("cuMemPoolImportPointer"), 1);
  buffers.remove(memory.at());
  EXPECT_EQ(buffers.find(kBoth, memory.at(50'000), 1000).at_peer[1], second.at_peer[1]) << "the other one holds it";
  EXPECT_EQ(pes.fake.calls("cuMemPoolImportPointer"), 1);
  buffers.remove(memory.at(50'000));
}

TEST(PeerBuffers, MemoryFreedWhileRegisteredIsAnErrorThatNamesTheBuffer) {
  NodePes pes;
  PeerBuffers& buffers = *pes.act_for(0).buffers;
  ProgramMemory memory = pes.memory(Kind::extents, 3 * kBufferExtent);
  buffers.add(memory.at(), 3 * kBufferExtent);
  ASSERT_EQ(buffers.find(kBoth, memory.at(), 3 * kBufferExtent).where, Where::registered);
  memory.replace(1);
  const std::string error = error_of_buffers([&] { buffers.find(kBoth, memory.at(64), 2 * kBufferExtent); });
  EXPECT_NE(error.find(text(
                "4194304 bytes at %p lie in a buffer that was freed while registered (6291456 bytes at %p); "
                "call shmemx_coll_deregister(%p)",
                static_cast<void*>(memory.at(64)), static_cast<void*>(memory.at()), static_cast<void*>(memory.at()))),
            std::string::npos)
      << error;
  EXPECT_EQ(buffers.find(kBoth, memory.at(), 100).where, Where::registered) << "this part is what it was";
  EXPECT_NE(error_of_buffers([&] { buffers.add(memory.at(kBufferExtent), 64); }).find("registered already"),
            std::string::npos);
  buffers.remove(memory.at());
  buffers.add(memory.at(), 3 * kBufferExtent);
  const PeerView after = buffers.find(kBoth, memory.at(), 3 * kBufferExtent);
  ASSERT_EQ(after.where, Where::registered);
  *memory.at(kBufferExtent + 3) = std::byte{31};
  EXPECT_EQ(seen_at(after, 1)[kBufferExtent + 3], std::byte{31}) << "the peer maps the new extent";
  buffers.remove(memory.at());
}

TEST(PeerBuffers, APeerThatCannotMapIsAWarningAndTheBufferIsNowhere) {
  NodePes pes;
  PeerBuffers& buffers = *pes.act_for(0).buffers;
  const ProgramMemory memory = pes.memory(Kind::extents, kBufferExtent);
  buffers.add(memory.at(), kBufferExtent);
  pes.fake.fail(kImports, 1, cuda::kNotPermitted);
  const uint64_t warnings = warnings_logged();
  const int calls = pes.fake.calls(kImports);
  EXPECT_EQ(buffers.find(kBoth, memory.at(), 64).where, Where::nowhere);
  EXPECT_EQ(buffers.find(kBoth, memory.at(), 64).where, Where::nowhere);
  EXPECT_EQ(warnings_logged(), warnings + 1);
  EXPECT_EQ(pes.fake.calls(kImports), calls + 1) << "asked once";
  buffers.remove(memory.at());
}

TEST(PeerBuffers, ADeadPeerIsNamed) {
  NodePes pes;
  PeerBuffers& buffers = *pes.act_for(0).buffers;
  const ProgramMemory memory = pes.memory(Kind::extents, kBufferExtent);
  buffers.add(memory.at(), kBufferExtent);
  pes.act_for(1);
  pes.pe(1).buffers.reset();
  pes.act_for(0);
  pes.death = "PE 1 (pid 5 on this host) has ended";
  EXPECT_NE(error_of_buffers([&] { buffers.find(kBoth, memory.at(), 64); }).find("PE 1 (pid 5 on this host) has ended"),
            std::string::npos);
  buffers.remove(memory.at());
}

TEST(PeerBuffers, PesOfOtherNodesAreRefused) {
  NodePes pes;
  PeerBuffers& buffers = *pes.act_for(0).buffers;
  const ProgramMemory memory = pes.memory(Kind::extents, kBufferExtent);
  buffers.add(memory.at(), kBufferExtent);
  const int far[] = {0, 5};
  EXPECT_NE(error_of_buffers([&] { buffers.find(far, memory.at(), 64); }).find("PE 5 is on another node"),
            std::string::npos);
  buffers.remove(memory.at());
}

TEST(PeerBuffers, DeregistrationWaitsForTheGpuWherePeersMapTheBuffer) {
  NodePes pes;
  PeerBuffers& buffers = *pes.act_for(0).buffers;
  const ProgramMemory memory = pes.memory(Kind::extents, kBufferExtent);
  buffers.add(memory.at(), 64);
  buffers.remove(memory.at());
  EXPECT_EQ(pes.fake.calls("cuCtxSynchronize"), 0) << "no peer ever mapped it";
  buffers.add(memory.at(), 64);
  ASSERT_EQ(buffers.find(kBoth, memory.at(), 64).where, Where::registered);
  buffers.remove(memory.at());
  EXPECT_EQ(pes.fake.calls("cuCtxSynchronize"), 1);
}

TEST(PeerBuffers, MemoryOfPoolsIsUnmappedWhenThePeersOwnProgramWaits) {
  NodePes pes;
  PeerBuffers& buffers = *pes.act_for(0).buffers;
  const ProgramMemory memory = pes.memory(Kind::pool, 4096);
  buffers.add(memory.at(), 4096);
  ASSERT_EQ(buffers.find(kBoth, memory.at(), 64).where, Where::registered);
  buffers.remove(memory.at());
  EXPECT_NE(pes.fake.leaks().find("1 opened allocation"), std::string::npos) << pes.fake.leaks();
  PeerBuffers& theirs = *pes.act_for(1).buffers;
  void* const own = theirs.allocate(100);
  theirs.release(own);
  EXPECT_EQ(pes.fake.leaks().find("opened allocation"), std::string::npos) << pes.fake.leaks();
  pes.act_for(0);
}

TEST(PeerBuffers, AllocatedMemoryIsRegisteredAndRoundedForOthers) {
  NodePes pes;
  PeerBuffers& buffers = *pes.act_for(0).buffers;
  auto* const memory = static_cast<std::byte*>(buffers.allocate(3 * kBufferExtent - 5));
  EXPECT_EQ(cuda::address_of(memory) % kBufferExtent, 0u);
  const PeerView view = buffers.find(kBoth, memory, 3 * kBufferExtent);
  ASSERT_EQ(view.where, Where::registered);
  memory[9] = std::byte{4};
  EXPECT_EQ(seen_at(view, 1)[9], std::byte{4});
  EXPECT_NE(error_of_buffers([&] { buffers.release(memory + 1); }).find("was not returned by shmemx_mem_alloc"),
            std::string::npos);
  buffers.remove(memory);
  EXPECT_EQ(buffers.find(kBoth, memory, 64).where, Where::nowhere);
  buffers.add(memory, 100);
  buffers.release(memory);
  EXPECT_NE(error_of_buffers([&] { buffers.release(memory); }).find("or is freed already"), std::string::npos);
  EXPECT_NE(error_of_buffers([&] { buffers.allocate(0); }).find("0 bytes are no memory"), std::string::npos);
  EXPECT_NE(error_of_buffers([&] { buffers.allocate(~size_t{0}); }).find("more than a GPU can have"),
            std::string::npos);
  EXPECT_NE(error_of_buffers([&] { buffers.allocate(size_t{1} << 40); }).find("no memory for"), std::string::npos);
}

/// A stream whose capture can be begun and ended, and its graph.
struct Capture {
  explicit Capture(const cuda::Driver& table) : driver(table) {
    EXPECT_EQ(driver.stream_create(&stream, cuda::kStreamNonBlocking, 0), cuda::kSuccess);
    begin();
  }
  void begin() { EXPECT_EQ(cuda::cuStreamBeginCapture_v2(stream, cuda::CaptureMode::relaxed), cuda::kSuccess); }
  cuda::Graph end() {
    cuda::Graph graph = nullptr;
    EXPECT_EQ(cuda::cuStreamEndCapture(stream, &graph), cuda::kSuccess);
    return graph;
  }
  ~Capture() { driver.stream_destroy(stream); }
  const cuda::Driver& driver;
  cuda::Stream stream = nullptr;
};

TEST(PeerBuffers, AGraphsBufferIsRegisteredByItselfUntilTheGraphIsDestroyed) {
  NodePes pes;
  PeerBuffers& buffers = *pes.act_for(0).buffers;
  const ProgramMemory memory = pes.memory(Kind::extents, kBufferExtent);
  Capture capture(pes.fake.driver());
  const PeerView view = buffers.find_captured(kBoth, memory.at(64), 100, capture.stream);
  ASSERT_EQ(view.where, Where::registered);
  *memory.at(64) = std::byte{6};
  EXPECT_EQ(*seen_at(view, 1), std::byte{6});
  EXPECT_EQ(buffers.find_captured(kBoth, memory.at(64), 100, capture.stream).at_peer[1], view.at_peer[1]);
  EXPECT_EQ(pes.fake.calls("cuUserObjectCreate"), 1) << "once for a graph and an allocation";
  const cuda::Graph graph = capture.end();
  EXPECT_EQ(buffers.find(kBoth, memory.at(64), 100).where, Where::nowhere) << "only graphs hold it";
  EXPECT_TRUE(pes.pe(1).buffers->place_of(seen_at(view, 1)));
  EXPECT_EQ(cuda::cuGraphDestroy(graph), cuda::kSuccess);
  EXPECT_TRUE(becomes_true([&] { return !pes.pe(1).buffers->place_of(seen_at(view, 1)); }));
}

TEST(PeerBuffers, AGraphHoldsABufferThatTheProgramDeregisters) {
  NodePes pes;
  PeerBuffers& buffers = *pes.act_for(0).buffers;
  const ProgramMemory memory = pes.memory(Kind::extents, kBufferExtent);
  buffers.add(memory.at(), 1000);
  Capture capture(pes.fake.driver());
  const PeerView view = buffers.find_captured(kBoth, memory.at(), 100, capture.stream);
  const cuda::Graph graph = capture.end();
  cuda::Graph ready = nullptr;
  EXPECT_EQ(cuda::cuGraphInstantiateWithFlags(&ready, graph, 0), cuda::kSuccess);
  EXPECT_EQ(cuda::cuGraphDestroy(graph), cuda::kSuccess);
  buffers.remove(memory.at());
  EXPECT_EQ(buffers.find(kBoth, memory.at(), 100).where, Where::nowhere);
  EXPECT_TRUE(pes.pe(1).buffers->place_of(seen_at(view, 1))) << "the instance still holds it";
  buffers.add(memory.at(), 500);
  EXPECT_EQ(buffers.find(kBoth, memory.at(), 100).at_peer[1], view.at_peer[1]) << "registered again: still mapped";
  buffers.remove(memory.at());
  EXPECT_EQ(cuda::cuGraphExecDestroy(ready), cuda::kSuccess);
  EXPECT_TRUE(becomes_true([&] { return !pes.pe(1).buffers->place_of(seen_at(view, 1)); }));
}

TEST(PeerBuffers, DeregistrationInACaptureChangesNothing) {
  NodePes pes;
  PeerBuffers& buffers = *pes.act_for(0).buffers;
  const ProgramMemory memory = pes.memory(Kind::extents, kBufferExtent);
  buffers.add(memory.at(), 1000);
  ASSERT_EQ(buffers.find(kBoth, memory.at(), 64).where, Where::registered);
  Capture capture(pes.fake.driver());
  EXPECT_NE(error_of_buffers([&] { buffers.remove(memory.at()); }).find("is being captured into a CUDA graph"),
            std::string::npos);
  EXPECT_EQ(cuda::cuGraphDestroy(capture.end()), cuda::kSuccess);
  EXPECT_EQ(buffers.find(kBoth, memory.at(), 64).where, Where::registered);
  buffers.remove(memory.at());
}

TEST(PeerBuffers, AGraphThatCannotHoldHoldsNothing) {
  NodePes pes;
  PeerBuffers& buffers = *pes.act_for(0).buffers;
  const ProgramMemory memory = pes.memory(Kind::extents, kBufferExtent);
  const ProgramMemory alone{pes.fake.driver(), test::fake_program_calls(), Kind::extents, kBufferExtent, 0};
  Capture capture(pes.fake.driver());
  pes.fake.fail("cuGraphRetainUserObject", 1, cuda::kInvalidValue);
  testing::internal::CaptureStderr();
  EXPECT_EQ(buffers.find_captured(kBoth, memory.at(), 8, capture.stream).where, Where::nowhere) << "not without a hold";
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("warn: a graph cannot hold the "), std::string::npos) << said;
  EXPECT_NE(said.find("cuGraphRetainUserObject"), std::string::npos) << said;
  EXPECT_EQ(buffers.find_captured(kBoth, memory.at(), 8, capture.stream).where, Where::registered) << "asked again";
  EXPECT_EQ(buffers.find_captured(kBoth, alone.at(), 8, capture.stream).where, Where::nowhere) << "not to be shared";
  EXPECT_EQ(cuda::cuGraphDestroy(capture.end()), cuda::kSuccess);
  EXPECT_NE(error_of_buffers([&] {
              buffers.find_captured(kBoth, memory.at(), 8, capture.stream);
            }).find("the stream is not being captured"),
            std::string::npos);
}

TEST(PeerBuffers, AGraphMayOutliveTheLibrary) {
  NodePes pes;
  PeerBuffers& buffers = *pes.act_for(0).buffers;
  const ProgramMemory memory = pes.memory(Kind::extents, kBufferExtent);
  Capture capture(pes.fake.driver());
  ASSERT_EQ(buffers.find_captured(kBoth, memory.at(), 8, capture.stream).where, Where::registered);
  const cuda::Graph graph = capture.end();
  pes.together([](NodePes::Pe& pe) { pe.buffers.reset(); });
  EXPECT_EQ(cuda::cuGraphDestroy(graph), cuda::kSuccess);
}

TEST(PeerBuffers, APeerAnswersWhateverItsProgramDoesAndHitsWaitForNobody) {
  NodePes pes;
  std::atomic<bool> found{false};
  std::atomic<bool> stuck{false};
  pes.together([&](NodePes::Pe& pe) {
    const ProgramMemory memory = pes.memory(Kind::extents, 2 * kBufferExtent);
    pe.buffers->add(memory.at(), kBufferExtent);
    EXPECT_EQ(pe.buffers->find(kBoth, memory.at(), 64).where, Where::registered);
    pe.bootstrap.barrier();
    if (pe.bootstrap.pe() == 1) {
      EXPECT_EQ(pe.buffers->find(kBoth, memory.at(), 64).where, Where::registered);  // a hit, while PE 0 misses
      stuck = true;
      EXPECT_TRUE(becomes_true([&] { return found.load(); }));  // in no call of the library
    } else {
      EXPECT_TRUE(becomes_true([&] { return stuck.load(); }));
      pe.buffers->add(memory.at(kBufferExtent), kBufferExtent);
      EXPECT_EQ(pe.buffers->find(kBoth, memory.at(kBufferExtent), 64).where, Where::registered);
      found = true;
      pe.buffers->remove(memory.at(kBufferExtent));
    }
    pe.buffers->remove(memory.at());
  });
}

TEST(PeerBuffers, ManyThreadsOfBothPesUseTheBooksAtOnce) {
  NodePes pes({.devices = 2, .memory_nbytes = size_t{4} << 30});
  constexpr int kThreads = 3, kTurns = 25;
  std::atomic<int> wrong{0};
  pes.together([&](NodePes::Pe& pe) {
    const ProgramMemory common = pes.memory(Kind::extents, kBufferExtent);
    pe.buffers->add(common.at(), kBufferExtent);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread)
      threads.emplace_back([&, thread] {
        pes.fake.driver().set_context(pe.memory->gpu().context());
        for (int turn = 0; turn < kTurns; ++turn) {
          const ProgramMemory mine = pes.memory(thread == 0 ? Kind::pool : Kind::extents, kBufferExtent);
          pe.buffers->add(mine.at(), kBufferExtent);
          // A peer puts its answer off while another of its threads unmaps.
          const auto is_found = [&](const std::byte* at) {
            return becomes_true([&] { return pe.buffers->find(kBoth, at, 8).where == Where::registered; });
          };
          wrong += !is_found(mine.at(100));
          wrong += !is_found(common.at(8));
          pe.buffers->place_of(mine.at());
          Capture capture(pes.fake.driver());
          wrong += pe.buffers->find_captured(kBoth, mine.at(), 8, capture.stream).where != Where::registered;
          wrong += cuda::cuGraphDestroy(capture.end()) != cuda::kSuccess;
          // No thread waits for a GPU of which a stream is captured, so one that captures is let go on.
          for (std::string error = "captured"; error != "no error"; std::this_thread::yield()) {
            error = error_of_buffers([&] { pe.buffers->remove(mine.at()); });
            if (error != "no error" && error.find("captured") == std::string::npos) ++wrong;
          }
        }
        pes.fake.driver().set_context(nullptr);
      });
    for (std::thread& thread : threads) thread.join();
    pe.buffers->remove(common.at());
    pe.bootstrap.barrier();
  });
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace railshmem
