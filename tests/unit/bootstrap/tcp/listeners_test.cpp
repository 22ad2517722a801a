// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/tcp/listeners.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace railshmem::tcp {
namespace {

TEST(TcpListeners, StandWhereTheOthersLook) {
  Meeting meeting{};
  meeting.addresses = resolve("127.0.0.1", 1, "test");
  EXPECT_TRUE(plan_listeners(meeting).addresses.empty())
      << "a name that is loopback here may be another address elsewhere";
  EXPECT_FALSE(plan_listeners(meeting).foreign);
  meeting.reachability = Reachability::this_host;
  ASSERT_EQ(plan_listeners(meeting).addresses.size(), 1u);
  EXPECT_TRUE(plan_listeners(meeting).addresses.front().loopback());
  meeting.reachability = Reachability::everywhere;
  meeting.addresses = resolve("192.0.2.1", 1, "test");  // for documents; nobody has it
  EXPECT_TRUE(plan_listeners(meeting).foreign);
  EXPECT_TRUE(plan_listeners(meeting).addresses.empty());
  const Address own = interface_addresses("").front();
  if (own.loopback()) GTEST_SKIP() << "this host has no address but loopback";
  meeting.addresses.push_back(own);
  EXPECT_FALSE(plan_listeners(meeting).foreign);
  ASSERT_EQ(plan_listeners(meeting).addresses.size(), 1u);
  EXPECT_EQ(plan_listeners(meeting).addresses.front().text(), own.text());
  const std::vector<UniqueFd> listeners = open_listeners(plan_listeners(meeting).addresses, 0);
  ASSERT_EQ(listeners.size(), 1u);
  EXPECT_EQ(list_hosts({local_address(listeners.front().get())}), list_hosts({own}));
}

TEST(TcpListeners, SeveralAddressesHaveOnePort) {
  std::vector<Address> addresses = resolve("127.0.0.1", 0, "test");
  addresses.push_back(resolve("127.0.0.2", 0, "test").front());
  const std::vector<UniqueFd> listeners = open_listeners(addresses, 0);
  ASSERT_EQ(listeners.size(), 2u);
  const int port = local_address(listeners[0].get()).port();
  EXPECT_EQ(local_address(listeners[1].get()).port(), port);
  EXPECT_TRUE(open_listeners(addresses, port).empty());
  EXPECT_EQ(errno, EADDRINUSE);
}

TEST(TcpListeners, AnAddressThatIsNamedTwiceHasOneListener) {
  const Address once = resolve("127.0.0.1", 0, "test").front();
  EXPECT_EQ(open_listeners({once, once}, 0).size(), 1u);
}

}  // namespace
}  // namespace railshmem::tcp
