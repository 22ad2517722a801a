// SPDX-License-Identifier: BSD-3-Clause
#include "include/shmem/detail/command.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace railshmem {
namespace {

constexpr uint64_t kLaps[] = {0, kLapBit};

// Every field alone takes every boundary value of its width: 0, all ones, and each single bit.
std::vector<uint64_t> boundaries(int bits) {
  std::vector<uint64_t> values{0, bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1};
  for (int bit = 0; bit < bits; ++bit) values.push_back(uint64_t{1} << bit);
  return values;
}

struct Field {
  const char* name;
  int bits;
  void (*set)(Command&, uint64_t);
};

const Field kFields[] = {
    {"op", 4, [](Command& c, uint64_t v) { c.op = static_cast<CommandOp>(v); }},
    {"amo_op", 4, [](Command& c, uint64_t v) { c.amo_op = static_cast<AmoOp>(v); }},
    {"signal_op", 1, [](Command& c, uint64_t v) { c.signal_op = static_cast<SignalOp>(v); }},
    {"segment", 4, [](Command& c, uint64_t v) { c.segment = static_cast<uint8_t>(v); }},
    {"signal_segment", 4, [](Command& c, uint64_t v) { c.signal_segment = static_cast<uint8_t>(v); }},
    {"context", 16, [](Command& c, uint64_t v) { c.context = static_cast<uint16_t>(v); }},
    {"pe", 28, [](Command& c, uint64_t v) { c.pe = static_cast<uint32_t>(v); }},
    {"nbytes", 63, [](Command& c, uint64_t v) { c.nbytes = v; }},
    {"remote_offset", 63, [](Command& c, uint64_t v) { c.remote_offset = v; }},
    {"local", 64, [](Command& c, uint64_t v) { c.local = v; }},
    {"value", 64, [](Command& c, uint64_t v) { c.value = v; }},
    {"compare", 64, [](Command& c, uint64_t v) { c.compare = v; }},
    {"signal_offset", 63, [](Command& c, uint64_t v) { c.signal_offset = v; }},
    {"signal_value", 64, [](Command& c, uint64_t v) { c.signal_value = v; }},
};

Command full() {
  Command c;
  for (const Field& field : kFields) field.set(c, boundaries(field.bits)[1]);
  return c;
}

TEST(Command, EveryBoundaryOfEveryFieldRoundTrips) {
  for (const uint64_t lap : kLaps) {
    for (const Command& base : {Command{}, full()}) {
      for (const Field& field : kFields) {
        for (const uint64_t value : boundaries(field.bits)) {
          Command c = base;
          field.set(c, value);
          const Slot slot = encode(c, lap);
          EXPECT_TRUE(is_whole(slot, lap)) << field.name << " " << value;
          EXPECT_FALSE(is_whole(slot, lap ^ kLapBit)) << field.name << " " << value;
          EXPECT_TRUE(decode(slot) == c) << field.name << " " << value;
        }
      }
    }
  }
}

TEST(Command, FieldPairsDoNotTouchEachOther) {
  for (const Field& a : kFields) {
    for (const Field& b : kFields) {
      Command c;
      a.set(c, boundaries(a.bits)[1]);
      b.set(c, boundaries(b.bits)[1]);
      EXPECT_TRUE(decode(encode(c, kLapBit)) == c) << a.name << " " << b.name;
    }
  }
}

TEST(Command, RandomCommandsRoundTrip) {
  std::mt19937_64 random(20261122);
  for (int round = 0; round < 100000; ++round) {
    Command c;
    for (const Field& field : kFields) field.set(c, random() >> (64 - field.bits));
    ASSERT_TRUE(decode(encode(c, kLaps[round % 2])) == c) << round;
  }
}

TEST(Command, TooWideValuesReachNeitherLapBitNorNeighbour) {
  Command c;
  c.pe = ~0u;
  c.nbytes = c.remote_offset = c.signal_offset = ~uint64_t{0};
  c.segment = c.signal_segment = 0xff;
  const Slot slot = encode(c, 0);
  EXPECT_TRUE(is_whole(slot, 0));
  const Command back = decode(slot);
  EXPECT_EQ(back.pe, kMaxCommandPe);
  EXPECT_EQ(back.nbytes, ~kLapBit);
  EXPECT_EQ(back.op, CommandOp::none);
  EXPECT_EQ(back.context, 0);
}

TEST(Command, EncodesAtCompileTime) {
  constexpr Command kPut = [] {
    Command c;
    c.op = CommandOp::put;
    c.pe = 7;
    c.nbytes = 4096;
    return c;
  }();
  static_assert(decode(encode(kPut, kLapBit)) == kPut);
  static_assert(!is_whole(Slot{}, lap_bit(0, 10)), "fresh memory holds no command");
}

TEST(Command, LapBitFlipsOncePerLap) {
  EXPECT_EQ(lap_bit(0, 3), kLapBit);
  EXPECT_EQ(lap_bit(7, 3), kLapBit);
  EXPECT_EQ(lap_bit(8, 3), 0u);
  EXPECT_EQ(lap_bit(16, 3), kLapBit);
  EXPECT_EQ(lap_bit(1, 0), 0u);
}

}  // namespace
}  // namespace railshmem
