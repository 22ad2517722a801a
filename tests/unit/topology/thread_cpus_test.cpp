// SPDX-License-Identifier: BSD-3-Clause
#include "src/topology/thread_cpus.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <thread>

#include "src/base/cpu.h"
#include "src/base/error.h"

namespace railshmem {
namespace {

cpu_set_t cpus_of(std::initializer_list<int> list) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : list) CPU_SET(cpu, &set);
  return set;
}

TEST(ThreadCpus, ListsGoRoundThePesOfAHost) {
  const CpuWish wish = env_types::CpuLists::parse("0,4-6;9");
  EXPECT_EQ(cpu_list(of_list(wish, 0)), "0,4-6");
  EXPECT_EQ(cpu_list(of_list(wish, 1)), "9");
  EXPECT_EQ(cpu_list(of_list(wish, 2)), "0,4-6");
}

TEST(ThreadCpus, OneWordSaysWhereElse) {
  EXPECT_EQ(env_types::CpuLists::parse("auto").kind, CpuWish::Kind::automatic);
  EXPECT_EQ(env_types::CpuLists::parse("none").kind, CpuWish::Kind::none);
}

TEST(ThreadCpus, NonsenseIsRefused) {
  for (const char* value : {"", "1,", "x", "-1", "3-1", "1-", "1024", "2 3", "1;;2", "0x3", "Auto", "99999999999"})
    EXPECT_THROW(env_types::CpuLists::parse(value), Error) << value;
}

TEST(ThreadCpus, NearMeansWithinThePesOwn) {
  EXPECT_EQ(cpu_list(nearest(cpus_of({0, 1, 2, 3}), cpus_of({2, 3, 4, 5}))), "2-3");
  EXPECT_EQ(cpu_list(nearest(cpus_of({0, 1}), cpus_of({2, 3}))), "") << "bound elsewhere: it stays there";
  EXPECT_EQ(cpu_list(nearest(cpus_of({2}), cpus_of({2, 3}))), "") << "bound to one CPU: nothing to change";
  EXPECT_EQ(cpu_list(nearest(cpus_of({0, 1}), cpus_of({}))), "") << "the device's place is unknown";
}

TEST(ThreadCpus, BindsTheCallingThreadAlone) {
  cpu_set_t before, mine;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  std::jthread([&] {
    EXPECT_TRUE(bind_thread(cpus_of({first}), Binding::demanded));
    EXPECT_EQ(sched_getcpu(), first);
  }).join();
  ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &mine));
}

TEST(ThreadCpus, ARefusalIsAnErrorOnlyWhereTheCpuWasNamed) {
  const cpu_set_t none_here = cpus_of({1023});
  std::jthread([&] {
    EXPECT_FALSE(bind_thread(none_here, Binding::hoped_for));
    try {
      bind_thread(none_here, Binding::demanded);
      ADD_FAILURE() << "this machine has 1024 CPUs?";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("SHMEM_PROXY_AFFINITY"), std::string::npos) << error.what();
    }
  }).join();
}

}  // namespace
}  // namespace railshmem
