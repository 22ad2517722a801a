// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/tcp/doors.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace railshmem::tcp {
namespace {

TEST(TcpDoors, StandWhereTheOthersLook) {
  Meeting meeting{};
  meeting.addresses = resolve("127.0.0.1", 1, "test");
  EXPECT_TRUE(plan_doors(meeting).addresses.empty()) << "a name that is loopback here may be another address elsewhere";
  EXPECT_FALSE(plan_doors(meeting).foreign);
  meeting.reachability = Reachability::this_host;
  ASSERT_EQ(plan_doors(meeting).addresses.size(), 1u);
  EXPECT_TRUE(plan_doors(meeting).addresses.front().loopback());
  meeting.reachability = Reachability::everywhere;
  meeting.addresses = resolve("192.0.2.1", 1, "test");  // for documents; nobody has it
  EXPECT_TRUE(plan_doors(meeting).foreign);
  EXPECT_TRUE(plan_doors(meeting).addresses.empty());
  const Address own = interface_addresses("").front();
  if (own.loopback()) GTEST_SKIP() << "this host has no address but loopback";
  meeting.addresses.push_back(own);
  EXPECT_FALSE(plan_doors(meeting).foreign);
  ASSERT_EQ(plan_doors(meeting).addresses.size(), 1u);
  EXPECT_EQ(plan_doors(meeting).addresses.front().text(), own.text());
  const std::vector<UniqueFd> doors = open_doors(plan_doors(meeting).addresses, 0);
  ASSERT_EQ(doors.size(), 1u);
  EXPECT_EQ(list_hosts({local_address(doors.front().get())}), list_hosts({own}));
}

TEST(TcpDoors, SeveralAddressesHaveOnePort) {
  std::vector<Address> addresses = resolve("127.0.0.1", 0, "test");
  addresses.push_back(resolve("127.0.0.2", 0, "test").front());
  const std::vector<UniqueFd> doors = open_doors(addresses, 0);
  ASSERT_EQ(doors.size(), 2u);
  const int port = local_address(doors[0].get()).port();
  EXPECT_EQ(local_address(doors[1].get()).port(), port);
  EXPECT_TRUE(open_doors(addresses, port).empty());
  EXPECT_EQ(errno, EADDRINUSE);
}

TEST(TcpDoors, AnAddressThatIsNamedTwiceHasOneDoor) {
  const Address once = resolve("127.0.0.1", 0, "test").front();
  EXPECT_EQ(open_doors({once, once}, 0).size(), 1u);
}

}  // namespace
}  // namespace railshmem::tcp
