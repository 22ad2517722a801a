// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/address_owner.h"

#include <alloca.h>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace railshmem {
namespace {

int g_word = 1;
const int g_constant = 2;
thread_local int t_word = 3;

TEST(AddressOwner, TellsWhatAnAddressBelongsTo) {
  int* const on_stack = static_cast<int*>(alloca(sizeof(int)));  // AddressSanitizer may keep variables elsewhere
  const auto in_heap = std::make_unique<int>(4);
  EXPECT_EQ(find_owner(&g_word).kind, Owner::global);
  EXPECT_EQ(find_owner(&g_constant).kind, Owner::constant);
  EXPECT_EQ(find_owner(&t_word).kind, Owner::thread_local_);
  EXPECT_EQ(find_owner(on_stack).kind, Owner::stack);
  EXPECT_EQ(find_owner(in_heap.get()).kind, Owner::other);
  EXPECT_EQ(find_owner(nullptr).kind, Owner::other);
}

TEST(AddressOwner, NamesTheSharedLibrary) {
  // No sanitizer has one of its own.
  const AddressOwner owner = find_owner(reinterpret_cast<const void*>(&gnu_get_libc_version));
  // A program that is not position-independent may have the function's address in itself.
  if (owner.kind != Owner::library) GTEST_SKIP() << "the function has an address in the executable";
  EXPECT_EQ(owner.library.rfind("libc.so", 0), 0u) << owner.library;
}

TEST(AddressOwner, AnotherThreadsStackIsNotTheCallers) {
  int* const on_stack = static_cast<int*>(alloca(sizeof(int)));
  std::thread([&] { EXPECT_NE(find_owner(on_stack).kind, Owner::stack); }).join();
}

}  // namespace
}  // namespace railshmem
