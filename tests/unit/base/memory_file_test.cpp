// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/memory_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/error.h"
#include "src/heap/host_memory.h"
#include "src/heap/node_arena.h"

namespace railshmem {
namespace {

constexpr size_t kFileBytes = 2u << 20;

TEST(PeerFd, ChildWritesIntoTheParentsMemory) {
  HostMemory memory(kFileBytes, HugePagesMode::off);
  NodeArena arena(1, kFileBytes);
  std::byte* mine = arena.map_own(0, memory.fd(), memory.nbytes());
  const PeerFd descriptor = describe_fd(memory.fd());
  const pid_t child = fork();
  if (child == 0) {
    const UniqueFd fd = open_peer_fd(descriptor);
    NodeArena theirs(2, kFileBytes);
    theirs.map_peer(1, fd.get(), kFileBytes)[100] = std::byte{7};
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(mine[100], std::byte{7});
}

TEST(PeerFd, UnreachablePeerIsToldApartAndNamed) {
  HostMemory memory(kFileBytes, HugePagesMode::off);
  HostMemory other(kFileBytes, HugePagesMode::off);
  std::string why;
  EXPECT_TRUE(can_open_peer(describe_fd(memory.fd()), &why));
  EXPECT_EQ(why, "");
  PeerFd gone = describe_fd(memory.fd());
  gone.pid = 0x7ffffffe;
  EXPECT_FALSE(can_open_peer(gone, &why));
  EXPECT_NE(why.find("process 2147483646"), std::string::npos) << why;
  EXPECT_NE(why.find("PID namespace"), std::string::npos) << why;
  PeerFd namesake = describe_fd(memory.fd());
  namesake.fd = other.fd();
  EXPECT_FALSE(can_open_peer(namesake));
  PeerFd far = describe_fd(memory.fd());
  far.host ^= 1;
  EXPECT_FALSE(can_open_peer(far, &why));
  EXPECT_NE(why.find("another host"), std::string::npos) << why;
  EXPECT_THROW(open_peer_fd(gone), Error);
  EXPECT_THROW(describe_fd(-1), Error);
}

}  // namespace
}  // namespace railshmem
