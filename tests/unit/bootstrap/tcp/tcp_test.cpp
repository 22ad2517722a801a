// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "bootstrap/tcp/address.h"
#include "bootstrap/tcp/make_tcp.h"
#include "bootstrap/tcp/tree.h"
#include "tests/support/bootstrap_suite.h"

namespace railshmem {
namespace {

TEST(TcpTree, EveryPeAppearsOnceUnderItsParent) {
  for (const int fanout : {2, 16}) {
    for (int npes = 1; npes < 300; npes += 7) {
      const tcp::Tree tree{npes, fanout};
      std::vector<int> order = tree.subtree(0);
      std::sort(order.begin(), order.end());
      std::vector<int> expected(static_cast<size_t>(npes));
      std::iota(expected.begin(), expected.end(), 0);
      ASSERT_EQ(order, expected);
      for (int pe = 0; pe < npes; ++pe)
        for (const int child : tree.children(pe)) {
          ASSERT_EQ(tree.parent(child), pe);
          ASSERT_GT(tree.height(pe), tree.height(child));
        }
    }
  }
}

TEST(TcpAddress, TravelsInBothFamilies) {
  for (const char* host : {"127.0.0.1", "::1"}) {
    const tcp::Address address = tcp::resolve(host, 4711, "MASTER_ADDR").front();
    Packer packer;
    pack(packer, address);
    const Bytes bytes = packer.take();
    EXPECT_EQ(bytes.size(), tcp::kPackedAddress);
    Unpacker fields(bytes);
    const tcp::Address back = tcp::unpack_address(fields);
    EXPECT_EQ(back.text(), address.text());
    EXPECT_TRUE(back.loopback());
    EXPECT_EQ(back.port(), 4711);
  }
}

TEST(TcpAddress, UnknownInterfaceListsTheKnown) {
  try {
    tcp::interface_addresses("nope0");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("nope0"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("lo"), std::string::npos);
  }
}

TEST(TcpUniqueId, ThreadsOfOneProcessCannotShareIt) {
  const Env env = Env::parse([](const char*) { return nullptr; });
  char id[128];
  make_tcp_unique_id(env, id);
  EXPECT_THROW(make_tcp_bootstrap_from_id(env, id, 1, 2), Error);
  id[0] ^= 1;
  EXPECT_THROW(make_tcp_bootstrap_from_id(env, id, 0, 1), Error);
}

TEST(TcpUniqueId, OnePeNeedsNoNetwork) {
  const Env env = Env::parse([](const char*) { return nullptr; });
  char id[128];
  make_tcp_unique_id(env, id);
  const auto bootstrap = make_tcp_bootstrap_from_id(env, id, 0, 1);
  tests::check_bootstrap(*bootstrap, "");
}

}  // namespace
}  // namespace railshmem
