// SPDX-License-Identifier: BSD-3-Clause
// SHMEM_CHECK_DATA: what a sender seals and a receiver opens.
#include "src/proxy/post/seal.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/initiator_rig.h"

namespace railshmem::test {
namespace {

Tuning sealing() {
  Tuning tuning;
  tuning.checks_data = true;
  return tuning;
}

std::vector<std::byte> sealed(const MessageHeader& header) {
  std::vector<std::byte> bytes(sizeof header + kSealBytes);
  std::memcpy(bytes.data(), &header, sizeof header);
  seal(bytes.data(), sizeof header);
  return bytes;
}

TEST(Seal, HoldsUntilAnyBitChanges) {
  std::vector<std::byte> message(100 + kSealBytes, std::byte{7});
  seal(message.data(), 100);
  ASSERT_TRUE(seal_holds(message.data(), message.size()));
  for (size_t bit = 0; bit < 8 * message.size(); ++bit) {
    message[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(seal_holds(message.data(), message.size())) << "bit " << bit;
    message[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  for (size_t n = 0; n < message.size(); ++n) EXPECT_FALSE(seal_holds(message.data(), n)) << "cut to " << n << " bytes";
}

TEST(Seal, EveryMessageLeavesWithOne) {
  InitiatorRig rig({.tuning = sealing()});
  uint64_t old = 0;
  ASSERT_EQ(rig.add(), Post::ok);
  ASSERT_EQ(rig.amo({AmoOp::fetch_add, 8, 1, 0}, &old), Post::ok);
  ASSERT_EQ(rig.put_signal(1000), Post::ok);
  for (const ScriptedRail::Posted& posted : rig.rail.posted) {
    ASSERT_EQ(posted.what, 's');
    EXPECT_TRUE(seal_holds(posted.bytes.data(), posted.bytes.size())) << posted.nbytes << " bytes";
  }
  EXPECT_EQ(rig.posted(), 3u);
}

TEST(Seal, GetsAreAskedForInMessages) {
  InitiatorRig rig({.tuning = sealing()});
  std::vector<std::byte> got(10000);
  ASSERT_EQ(issue(*rig.initiator,
                  get_op(*rig.context, {InitiatorRig::kPe, SegmentId::heap, 0}, got.data(), got.size(), Local::lent)),
            Post::ok);
  EXPECT_EQ(rig.count('r'), 0);
  EXPECT_EQ(rig.count('s'), 3);
}

TEST(Seal, AStrangersMessageIsOnlyDropped) {
  InitiatorRig rig({.tuning = sealing()});
  MessageHeader header{
      MessageKind::pong, 0, 0, Answer::none, Port::proxy, SegmentId::heap, 0, InitiatorRig::kPe, 0, 0, 0};
  header.nonce_low = 1;  // the rig's is 0
  rig.rail.deliver(header);
  rig.rail.deliver_bytes({std::byte{1}, std::byte{2}});
  rig.poll_all();
  EXPECT_EQ(rig.rail.released, 2);
}

TEST(SealDeathTest, ADamagedMessageEndsThisPe) {
  InitiatorRig rig({.tuning = sealing()});
  ASSERT_EQ(rig.add(), Post::ok);
  const MessageHeader header{
      MessageKind::pong, 0, 0, Answer::none, Port::proxy, SegmentId::heap, 0, InitiatorRig::kPe, 0, 0, 0};
  std::vector<std::byte> message = sealed(header);
  rig.rail.deliver_bytes(message);
  rig.poll_all();
  EXPECT_EQ(rig.rail.released, 1) << "a whole one is taken";
  message[9] ^= std::byte{4};
  rig.rail.deliver_bytes(message);
  EXPECT_DEATH(rig.poll_all(), "a message of 32 bytes over rail scripted was damaged on its way .SHMEM_CHECK_DATA=1");
}

}  // namespace
}  // namespace railshmem::test
