// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/process.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace railshmem {
namespace {

TEST(Process, ThreadsMakeAnObjectOnce) {
  static constinit MadeOnce<int> once;
  std::atomic<int> made{0};
  std::vector<int*> seen(8);
  {
    std::vector<std::jthread> threads;
    for (int*& mine : seen)
      threads.emplace_back([&made, &mine] {
        mine = once.get([&made] {
          ++made;
          return new int(7);
        });
      });
  }
  EXPECT_EQ(made, 1);
  EXPECT_EQ(*seen.front(), 7);
  for (const int* one : seen) EXPECT_EQ(one, seen.front());
  EXPECT_EQ(&once.get(), seen.front());
}

TEST(Process, WhatCannotBeMadeIsTriedAgain) {
  static constinit MadeOnce<int> once;
  EXPECT_EQ(once.get([]() -> int* { return nullptr; }), nullptr);
  EXPECT_THROW(once.get([]() -> int* { throw std::runtime_error("no memory"); }), std::runtime_error);
  EXPECT_EQ(*once.get([] { return new int(3); }), 3);
  EXPECT_EQ(*once.get([] { return new int(4); }), 3);
}

TEST(Process, KeptObjectsAreNotDestroyed) {
  static constinit KeptObjects kept;
  auto object = std::make_shared<int>(5);
  const std::weak_ptr<int> watched = object;
  kept.add(std::move(object));
  kept.add(std::make_unique<int>(6));
  EXPECT_FALSE(watched.expired());
}

}  // namespace
}  // namespace railshmem
