// SPDX-License-Identifier: BSD-3-Clause
// The books of buffers registered ahead.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/plugin/device_access.h"
#include "src/world/user_buffers.h"

namespace railshmem {
namespace {

std::string error_of(auto&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// Keeps a list, and fails when told to.
class ListingNetwork final : public Network {
 public:
  ListingNetwork() : Network(TransportKind::loopback) {}
  std::vector<std::byte> attach(std::span<const Segment>) override { return {}; }
  void connect(std::span<const std::vector<std::byte>>) override {}
  void start(std::span<Channel* const>) override {}
  void add_channels(std::span<Channel* const>) override {}
  void run_on_proxies(const std::function<void()>& task) override { task(); }
  void prepare_stop() noexcept override {}
  void stop() noexcept override {}
  void lose_peer(int) noexcept override {}
  void share_host_calls() noexcept override {}
  RailsNow rails_now() override { return {}; }
  NetContext* make_context() override { return nullptr; }
  void drop_context(NetContext*) noexcept override {}
  bool takes_extents() const noexcept override { return false; }
  std::vector<std::byte> expose(const DeviceExtent&) override { return {}; }
  void learn(const DeviceExtent&, std::span<const std::vector<std::byte>>) override {}
  void use_flush(const FlushChoice&, uint64_t) override {}
  void register_buffer(std::span<const std::byte> bytes) override {
    if (fails) throw Error("refused");
    bases.push_back(bytes.data());
  }
  void unregister_buffer(const std::byte* base) override {
    if (fails) throw Error("refused");
    std::erase(bases, base);
  }
  std::vector<std::string> rail_rows() override { return {}; }
  std::string describe() const override { return {}; }

  bool fails = false;
  std::vector<const std::byte*> bases;
};

class UserBuffersTest : public ::testing::Test {
 protected:
  UserBuffersTest() {
    state.segment[0].base = reinterpret_cast<uintptr_t>(heap);
    state.segment[0].nbytes = sizeof heap;
    state.network = &network;
  }
  ListingNetwork network;
  PeState state{};
  UserBuffers buffers{state};
  std::byte heap[100];
  std::byte memory[1000];
};

TEST_F(UserBuffersTest, MistakesAreNamed) {
  EXPECT_NE(error_of([&] { buffers.add(nullptr, 8); }).find("NULL"), std::string::npos);
  EXPECT_NE(error_of([&] { buffers.add(memory, 0); }).find("no bytes"), std::string::npos);
  EXPECT_NE(error_of([&] { buffers.add(memory, ~size_t{0}); }).find("end of memory"), std::string::npos);
  for (const int at : {-10, 0, 50, 99})
    EXPECT_NE(error_of([&] { buffers.add(heap + at, 60); }).find("symmetric memory"), std::string::npos) << at;
  EXPECT_NE(error_of([&] { buffers.remove(memory); }).find("no registered buffer"), std::string::npos);
  EXPECT_EQ(buffers.count(), 0u);
  EXPECT_TRUE(network.bases.empty());
}

TEST_F(UserBuffersTest, NoTwoOverlap) {
  buffers.add(memory + 100, 100);
  for (const auto& [at, nbytes] : {std::pair{0, 101}, {0, 500}, {100, 100}, {150, 10}, {199, 1}, {199, 300}})
    EXPECT_NE(error_of([&] { buffers.add(memory + at, static_cast<size_t>(nbytes)); }).find("registered already"),
              std::string::npos)
        << at << " " << nbytes;
  buffers.add(memory, 100);
  buffers.add(memory + 200, 100);
  EXPECT_EQ(buffers.count(), 3u);
  EXPECT_NE(error_of([&] { buffers.remove(memory + 150); }).find("no registered buffer"), std::string::npos);
  buffers.remove(memory + 100);
  buffers.add(memory + 150, 50);
  buffers.remove_all();
  EXPECT_EQ(buffers.count(), 0u);
  EXPECT_TRUE(network.bases.empty());
}

TEST_F(UserBuffersTest, ARefusalOfTheNetworkLeavesTheBooksAsTheyWere) {
  buffers.add(memory, 10);
  network.fails = true;
  EXPECT_EQ(error_of([&] { buffers.add(memory + 10, 10); }), "refused");
  EXPECT_EQ(error_of([&] { buffers.remove(memory); }), "refused");
  EXPECT_EQ(buffers.count(), 1u);
  network.fails = false;
  buffers.add(memory + 10, 10);
  buffers.remove(memory);
  buffers.remove(memory + 10);
  EXPECT_EQ(buffers.count(), 0u);
}

/// Takes everything from an address on for a GPU's memory.
class DeviceFrom final : public DeviceAccess {
 public:
  explicit DeviceFrom(const std::byte* first) : first_(first) {}
  bool is_device(const void* address) noexcept override { return address >= first_; }
  void copy(void*, const void*, size_t) noexcept override {}
  void copy_all(std::span<const DeviceCopy>) noexcept override {}
  bool reduce(const DeviceReduction&) noexcept override { return false; }
  bool has_reducer() noexcept override { return false; }
  std::unique_ptr<DeviceQueue> make_queue() override { return nullptr; }
  bool updates_directly(const void*) noexcept override { return false; }
  uint64_t amo(void*, uint8_t, AmoOp, uint64_t, uint64_t) noexcept override { return 0; }

 private:
  const void* const first_;
};

TEST_F(UserBuffersTest, MemoryOfAGpuIsNotGivenToTheNetwork) {
  DeviceFrom device(memory + 500);
  state.device = &device;
  buffers.add(memory, 10);
  buffers.add(memory + 500, 10);
  EXPECT_EQ(network.bases, std::vector<const std::byte*>{memory});
  network.fails = true;  // it is not asked
  buffers.remove(memory + 500);
  network.fails = false;
  buffers.remove_all();
  EXPECT_TRUE(network.bases.empty());
}

TEST_F(UserBuffersTest, WithoutANetworkTheBooksAreKeptAllTheSame) {
  state.network = nullptr;
  buffers.add(memory, 10);
  EXPECT_NE(error_of([&] { buffers.add(memory, 10); }), "no error");
  buffers.remove(memory);
}

}  // namespace
}  // namespace railshmem
