// SPDX-License-Identifier: BSD-3-Clause
// How GPU memory is asked for, and registered with rails extent by extent.
#include "transports/ofi/gpu_way.h"

#include <gtest/gtest.h>
#include <rdma/fi_endpoint.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "tests/support/ofi_fabric.h"
#include "transports/ofi/device_extents.h"
#include "transports/ofi/hints.h"

namespace railshmem::ofi {
namespace {

using testing_support::Settings;

constexpr size_t kHeap = 1 << 20, kExtent = 1 << 16;

/// The environment and what refers to it.
struct Job {
  explicit Job(const Settings& settings, size_t device_heap = kHeap)
      : env(Env::parse([&](const char* name) -> const char* {
          const auto found = settings.find(name);
          return found == settings.end() ? nullptr : found->second.c_str();
        })),
        config{.env = &env, .pe = 0, .npes = 1, .threads_share_host_calls = false, .device_heap_nbytes = device_heap} {}
  const Env env;
  const NetworkConfig config;
};

std::string message_of(const Settings& settings) {
  const Job job(settings);
  try {
    const Fabric fabric(job.config);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(GpuWay, NothingIsAskedForWithoutADeviceHeap) {
  const Job host(Settings{{"SHMEM_OFI_HMEM", "hmem"}}, 0);
  EXPECT_EQ(wanted_way(host.config), GpuWay::staging);
  EXPECT_EQ(wanted_way(Job(Settings{{"SHMEM_OFI_HMEM", "staging"}}).config), GpuWay::staging);
  EXPECT_EQ(wanted_way(Job(Settings{{"SHMEM_OFI_HMEM", "hmem"}}).config), GpuWay::hmem);
}

TEST(GpuWay, AnErrorNamesTheVariableThatAsksForWhatIsNotThere) {
  const std::string no_provider = message_of({{"SHMEM_OFI_HMEM", "hmem"}, {"SHMEM_OFI_PROVIDER", "sockets"}});
  EXPECT_NE(no_provider.find("SHMEM_OFI_HMEM is hmem, but no provider that fits grants FI_HMEM"), std::string::npos)
      << no_provider;
#ifndef FI_MR_DMABUF
  const std::string no_dmabuf = message_of({{"SHMEM_OFI_HMEM", "dmabuf"}});
  EXPECT_NE(no_dmabuf.find("SHMEM_OFI_HMEM is dmabuf, but this library was built with the headers"), std::string::npos)
      << no_dmabuf;
#endif
}

TEST(GpuWay, AutoKeepsTheNicsAndSaysWhyItStages) {
  const Job job(Settings{{"SHMEM_OFI_PROVIDER", "tcp;ofi_rxm"}});
  const Fabric fabric(job.config);
  EXPECT_FALSE(fabric.takes_extents());
  EXPECT_NE(fabric.describe().find("  GPU memory: staging; the provider does not grant FI_HMEM\n"), std::string::npos)
      << fabric.describe();
  const Job host(Settings{{"SHMEM_OFI_PROVIDER", "tcp;ofi_rxm"}}, 0);
  EXPECT_EQ(Fabric(host.config).describe().find("GPU memory"), std::string::npos);
}

TEST(GpuWay, HintsAskForGpuMemoryOnlyWhenTold) {
  EXPECT_EQ(make_hints(Progress::manual)->caps & FI_HMEM, 0u);
  const Info hints = make_hints(Progress::manual, Memories::host_and_gpu);
  EXPECT_NE(hints->caps & FI_HMEM, 0u);
  EXPECT_NE(hints->domain_attr->mr_mode & FI_MR_HMEM, 0);
}

Info entry(const char* provider, const char* domain, char last_of_address) {
  Info info(fi_allocinfo());
  info->fabric_attr->prov_name = strdup(provider);
  info->domain_attr->name = strdup(domain);
  info->addr_format = FI_SOCKADDR_IN;
  info->src_addr = strdup("address of so many bytes");
  info->src_addrlen = 16;
  static_cast<char*>(info->src_addr)[7] = last_of_address;
  return info;
}

TEST(GpuWay, ATwinIsTheSameEndpoint) {
  std::vector<Info> granted;
  granted.push_back(entry("verbs;ofi_rxm", "mlx5_0", 'b'));
  granted.push_back(entry("verbs;ofi_rxm", "mlx5_1", 'a'));
  granted.push_back(entry("verbs;ofi_rxm", "mlx5_0", 'a'));
  EXPECT_EQ(twin_of(*entry("verbs;ofi_rxm", "mlx5_0", 'a'), granted), granted[2].get());
  EXPECT_EQ(twin_of(*entry("verbs;ofi_rxm", "mlx5_2", 'a'), granted), nullptr);
  EXPECT_EQ(twin_of(*entry("tcp;ofi_rxm", "mlx5_0", 'a'), granted), nullptr);
}

/// One PE that talks to itself, its GPU being none.
struct OnePe {
  explicit OnePe(Settings settings) : job(pretending(std::move(settings))), fabric(job.config), heap(kHeap) {
    const Segment segments[] = {{SegmentId::heap, host.data(), host.size()}, {SegmentId::data}, {SegmentId::device}};
    const std::vector<std::byte> descriptors[] = {fabric.attach(segments)};
    fabric.connect(descriptors);
  }
  static Settings pretending(Settings settings) {
    settings["SHMEM_TEST_REACHED_GPUS"] = "1";
    return settings;
  }
  void add(size_t at) {
    const DeviceExtent extent{at, heap.data() + at, kExtent};
    const std::vector<std::byte> descriptors[] = {fabric.expose(extent)};
    fabric.learn(descriptors);
  }
  /// Writes `value` to a place of extent `extent` over rail `r` from local memory, until it is there.
  void write(size_t r, size_t extent, uint64_t offset, const std::byte* local, size_t nbytes) {
    Rail& rail = fabric.rails(Port::proxy)[r];
    OpSlot slot;
    const RailWrite op{{0, segment_of_extent(extent), offset}, local, nbytes, &slot, false};
    RailEvent events[4];
    Post posted = Post::again;
    for (int i = 0; i < 100000 && posted == Post::again; ++i) {
      posted = rail.write(op);
      if (posted == Post::again) rail.poll(events);
    }
    ASSERT_EQ(posted, Post::ok) << rail.last_error();
    for (int i = 0; i < 1000000; ++i)
      if (rail.poll(events) > 0) {
        ASSERT_EQ(events[0].kind, RailEvent::Kind::completed) << events[0].error;
        return;
      }
    FAIL() << "no event";
  }

  const Job job;
  Fabric fabric;
  std::vector<std::byte> host = std::vector<std::byte>(4096);
  std::vector<std::byte> heap;
};

TEST(DeviceExtents, AreReachedAsTheyCome) {
  OnePe pe({{"SHMEM_OFI_PROVIDER", "tcp;ofi_rxm"}, {"SHMEM_OFI_RAILS_PER_NIC", "2"}});
  EXPECT_TRUE(pe.fabric.takes_extents());
  pe.add(0);
  pe.heap[100] = std::byte{42};
  pe.write(0, 0, 8, &pe.heap[100], 1);
  EXPECT_EQ(pe.heap[8], std::byte{42}) << "within an extent, from GPU memory";
  pe.add(4 * kExtent);
  pe.host[0] = std::byte{43};
  for (size_t r = 0; r < 2; ++r) pe.write(r, 1, 16 + r, pe.host.data(), 1);
  EXPECT_EQ(pe.heap[4 * kExtent + 16], std::byte{43});
  EXPECT_EQ(pe.heap[4 * kExtent + 17], std::byte{43});
}

TEST(DeviceExtents, AreReachedOverARailThatWasOpenedAnew) {
  OnePe pe({{"SHMEM_OFI_PROVIDER", "tcp;ofi_rxm"}, {"SHMEM_OFI_RAILS_PER_NIC", "2"}});
  pe.add(0);
  pe.add(kExtent);
  const std::vector<std::byte> descriptor = pe.fabric.reopen(Port::proxy, 1);
  EXPECT_EQ(decode_endpoint(descriptor, 0).extents.size(), 2u);
  pe.add(2 * kExtent);
  pe.host[0] = std::byte{7};
  for (const size_t extent : {size_t{0}, size_t{1}, size_t{2}}) pe.write(1, extent, 5, pe.host.data(), 1);
  for (const size_t extent : {size_t{0}, size_t{1}, size_t{2}}) EXPECT_EQ(pe.heap[extent * kExtent + 5], std::byte{7});
}

TEST(DeviceExtents, AnExtentThatNoRailTakesIsNobodys) {
  const Job job(Settings{{"SHMEM_OFI_PROVIDER", "shm"}, {"SHMEM_OFI_HMEM", "hmem"}});
  std::unique_ptr<Fabric> fabric;
  try {
    fabric = std::make_unique<Fabric>(job.config);
  } catch (const Error& error) {
    GTEST_SKIP() << "shm of this libfabric grants no FI_HMEM: " << error.what();
  }
  std::vector<std::byte> heap(kExtent);
  EXPECT_THROW(fabric->expose({0, heap.data(), heap.size()}), Error) << "this is no GPU's memory";
}

}  // namespace
}  // namespace railshmem::ofi
