// SPDX-License-Identifier: BSD-3-Clause
// Two PEs of a node as threads of one process, each with a GPU of the fake driver and a device heap.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "src/base/limit.h"
#include "src/gpu/peer_buffers.h"
#include "tests/support/fake_program_calls.h"
#include "tests/support/thread_bootstrap.h"

namespace railshmem::test {

/// Memory of cudaMalloc is not shared among them: only processes open CUDA IPC handles.
class NodePes {
 public:
  static constexpr int kPes = 2;
  struct Pe {
    explicit Pe(ThreadMeeting& meeting, int pe) : bootstrap(meeting, pe) {}
    ThreadBootstrap bootstrap;
    NodeLayout layout;
    std::unique_ptr<DeviceMemory> memory;
    std::unique_ptr<PeerBuffers> buffers;
  };

  explicit NodePes(cuda::FakeOptions options = {.devices = 2}, double patience_s = 20)
      : fake(std::move(options)), meeting_(kPes) {
    for (int pe = 0; pe < kPes; ++pe) pes_.push_back(std::make_unique<Pe>(meeting_, pe));
    together([&](Pe& pe) {
      const std::vector<uint64_t> hosts(kPes, 7);
      pe.layout = make_node_layout(hosts, pe.bootstrap.pe(), 0, false);
      const DeviceMemoryConfig config{
          .limit = size_t{16} << 20, .header_nbytes = 4096, .host_slot = static_cast<size_t>(pe.bootstrap.pe())};
      pe.memory = std::make_unique<DeviceMemory>(fake.driver(), pe.bootstrap, pe.layout, config);
      pe.memory->attach();
      PeerBuffersConfig patience{limit_ns(patience_s), [this] { return death; }};
      pe.buffers = std::make_unique<PeerBuffers>(*pe.memory, pe.bootstrap, pe.layout, std::move(patience));
    });
  }
  ~NodePes() {
    fake.driver().set_context(nullptr);
    together([](Pe& pe) { pe.buffers.reset(); });
    together([](Pe& pe) { pe.memory.reset(); });
    EXPECT_EQ(fake.leaks(), "");
  }

  /// Every PE's part, in a thread of its own with its GPU current.
  void together(const std::function<void(Pe&)>& body) {
    std::vector<std::thread> threads;
    for (const auto& pe : pes_)
      threads.emplace_back([&body, &pe, this] {
        if (pe->memory) fake.driver().set_context(pe->memory->gpu().context());
        body(*pe);
        fake.driver().set_context(nullptr);
      });
    for (std::thread& thread : threads) thread.join();
  }
  /// The calling thread acts for this PE from here on.
  Pe& act_for(int pe) {
    fake.driver().set_context(pes_[static_cast<size_t>(pe)]->memory->gpu().context());
    return *pes_[static_cast<size_t>(pe)];
  }
  Pe& pe(int number) { return *pes_[static_cast<size_t>(number)]; }
  ProgramMemory memory(Allocator kind, size_t nbytes) const {
    return {fake.driver(), fake_program_calls(), kind, nbytes};
  }

  cuda::FakeDriver fake;
  std::optional<std::string> death;

 private:
  ThreadMeeting meeting_;
  std::vector<std::unique_ptr<Pe>> pes_;
};

}  // namespace railshmem::test
