// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "bootstrap/local/oshrun/binding.h"
#include "src/base/cpu.h"
#include "src/base/error.h"

namespace railshmem::oshrun {
namespace {

cpu_set_t range(int first, int last) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu = first; cpu <= last; ++cpu) CPU_SET(cpu, &set);
  return set;
}

/// Two packages, each a NUMA node, of four cores of two hardware threads.
constexpr const char* kMachine = "pack:2 [numa] core:4 pu:2";

std::string shown(Bind bind, int npes, const cpu_set_t& allowed = range(0, 15), const char* machine = kMachine) {
  std::string out;
  for (const cpu_set_t& cpus : bindings(bind, npes, allowed, machine)) out += cpu_list(cpus) + " ";
  return out;
}

class Binding : public ::testing::Test {
 protected:
  void SetUp() override {
#if !RAILSHMEM_HAVE_HWLOC
    GTEST_SKIP() << "built without hwloc";
#endif
  }
};

TEST_F(Binding, PesShareTheCoresAndNoneIsShared) {
  EXPECT_EQ(shown(Bind::automatic, 8), "0-1 2-3 4-5 6-7 8-9 10-11 12-13 14-15 ");
  EXPECT_EQ(shown(Bind::automatic, 4), "0-3 4-7 8-11 12-15 ");
  EXPECT_EQ(shown(Bind::automatic, 2), "0-7 8-15 ");
  // No share is in two packages.
  EXPECT_EQ(shown(Bind::automatic, 3), "0-3 4-7 8-15 ");
}

TEST_F(Binding, EveryNumberOfPesGetsDisjointCores) {
  for (int npes = 2; npes <= 24; ++npes) {
    const auto sets = bindings(Bind::core, npes, range(0, 47), "pack:2 [numa] l3:3 core:4 pu:2");
    ASSERT_EQ(sets.size(), static_cast<size_t>(npes));
    cpu_set_t seen;
    CPU_ZERO(&seen);
    for (const cpu_set_t& set : sets) {
      EXPECT_GE(CPU_COUNT(&set), 2) << npes;
      cpu_set_t both;
      CPU_AND(&both, &seen, &set);
      EXPECT_EQ(CPU_COUNT(&both), 0) << npes;
      CPU_OR(&seen, &seen, &set);
    }
  }
}

TEST_F(Binding, OnlyWhereThereAreCoresForAll) {
  EXPECT_EQ(shown(Bind::automatic, 9), "");
  EXPECT_EQ(shown(Bind::automatic, 17), "");
  EXPECT_EQ(shown(Bind::automatic, 1), "");
  EXPECT_EQ(shown(Bind::none, 2), "");
  EXPECT_THROW(shown(Bind::core, 9), Error);
}

TEST_F(Binding, StaysInTheMaskOfOshrun) {
  EXPECT_EQ(shown(Bind::automatic, 2, range(4, 7)), "4-5 6-7 ");
  EXPECT_EQ(shown(Bind::automatic, 2, range(6, 9)), "6-7 8-9 ");
  EXPECT_EQ(shown(Bind::automatic, 3, range(4, 7)), "");
  EXPECT_EQ(shown(Bind::numa, 2, range(6, 9)), "6-7 8-9 ");
}

TEST_F(Binding, NumaNodesTakePesInTurn) {
  EXPECT_EQ(shown(Bind::numa, 2), "0-7 8-15 ");
  EXPECT_EQ(shown(Bind::numa, 5), "0-7 0-7 0-7 8-15 8-15 ");
  EXPECT_EQ(shown(Bind::numa, 1), "0-7 ");
  EXPECT_EQ(shown(Bind::numa, 40).substr(0, 8), "0-7 0-7 ");
}

}  // namespace
}  // namespace railshmem::oshrun
