// SPDX-License-Identifier: BSD-3-Clause
// A running job gets messages of an earlier job and of foreign processes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/proxy/engine.h"
#include "tests/support/engine_job.h"
#include "tests/support/host_calls.h"
#include "tests/support/hostile_rig.h"
#include "transports/loopback/fabric.h"

namespace railshmem::test {
namespace {

using StrangersFabric = loopback::Fabric;
constexpr Setup<StrangersFabric> kStrangersSetup{"OneRail", [](const NetworkConfig& c, const Tuning& t) {
                                                   return std::make_unique<Engine<StrangersFabric>>(
                                                       TransportKind::loopback, c, t, c);
                                                 }};

/// Any atomic operation by PE 0 that comes behind these messages shows that PE 1 has looked at them.
TEST(EngineStrangers, OnlyMessagesOfTheJobAreExecuted) {
  EngineJob<StrangersFabric> job(kStrangersSetup);
  constexpr int kStrange = 10;
  AmoMessage strange = HostileRig::add(64);
  strange.header.pe = 0;
  for (int i = 0; i < kStrange; ++i) {
    strange.header.nonce_low = static_cast<uint32_t>(i);  // the job's is random
    strange.header.nonce_high = 0;
    const RailSend send{{1, Port::proxy}, reinterpret_cast<const std::byte*>(&strange), sizeof strange, nullptr};
    ASSERT_EQ(job.engine(0).fabric().rails(Port::host)[0].send(send), Post::ok);
  }
  NetContext* const context = job.engine(0).make_context();
  host_amo_nbi(job.host(0), *context, heap(1, 128), {AmoOp::add, 8, 1, 0}, nullptr);
  job.host(0).quiet(*context);
  job.engine(0).drop_context(context);
  EXPECT_EQ(job.load(1, 128), 1u);
  EXPECT_EQ(job.load(1, 64), 0u);
  for (int pe = 0; pe < 2; ++pe) job.engine(pe).prepare_stop();
  for (int pe = 0; pe < 2; ++pe) job.engine(pe).stop();
  std::string rows;
  for (const std::string& row : job.engine(1).rail_rows()) rows += row + '\n';
  EXPECT_NE(rows.find("10 messages dropped"), std::string::npos) << rows;
}

}  // namespace
}  // namespace railshmem::test
