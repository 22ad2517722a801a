// SPDX-License-Identifier: BSD-3-Clause
// The protocols of overlapped products inside a node, in every order that a few preemptions can make: calls that follow
// each other, whose operands the program overwrites as soon as its own stream is over. Each word is shown to be needed:
// without it some order goes wrong.
#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <string>

#include "tests/model/overlap_machine.h"
#include "tests/model/overlap_products.h"

namespace railshmem::model {
namespace {

constexpr size_t kRow = sizeof(uint64_t);  // bytes: two floats
constexpr int kCalls = 2;

constexpr const char* kOtherRow = "a row is not that of its owner in this call";
constexpr const char* kOtherSum = "a sum has other operands";

/// scatter: of products of the program, which a kernel adds up. added: of cuBLASLt's, which add what has come.
enum class Call : uint8_t { get, put, scatter, added };
bool scatters(Call call) {
  return call == Call::scatter || call == Call::added;
}

/// A row of two floats that nobody else has; sums of some rows are exact.
uint64_t row_of(int member, size_t row, int call) {
  const float value = static_cast<float>(call * 10000 + member * 100 + static_cast<int>(row) + 1);
  const float floats[2] = {value, -value};
  uint64_t word = 0;
  std::memcpy(&word, floats, sizeof word);
  return word;
}
/// Of two rows, element by element.
uint64_t added_up(uint64_t row, uint64_t other) {
  float to[2], from[2];
  std::memcpy(to, &row, sizeof to);
  std::memcpy(from, &other, sizeof from);
  for (int i = 0; i < 2; ++i) to[i] += from[i];
  std::memcpy(&row, to, sizeof row);
  return row;
}
uint64_t sum_of(int members, size_t row, int call) {
  float sum = 0;
  for (int k = 0; k < members; ++k) sum += static_cast<float>(call * 10000 + k * 100 + static_cast<int>(row) + 1);
  const float floats[2] = {sum, -sum};
  uint64_t word = 0;
  std::memcpy(&word, floats, sizeof word);
  return word;
}

/// Members that make a few calls, and look at every row that they multiply and at every result.
class Layer {
 public:
  Layer(Call call, int members, size_t pieces, Without without)
      : machine_(members, without),
        call_(call),
        rows_(pieces),
        all_(rows_ * static_cast<size_t>(members)),
        gathered_(machine_.allocate(all_ * kRow)),
        result_(machine_.allocate(all_ * kRow)) {
    for (int number = 1; number <= kCalls; ++number)
      for (int k = 0; k < members; ++k) {
        machine_.act_as(k);
        numbers_.push_back(std::make_unique<Number>(Number{this, k, number}));
        scatters(call) ? scatter(*numbers_.back()) : gather(*numbers_.back());
      }
  }

  size_t explore(int preemptions, Queues queues) { return machine_.explore(preemptions, queues); }

 private:
  struct Number {
    Layer* layer;
    int member, call;
  };

  std::byte* own_rows(int member) const {
    return machine_.at(member, gathered_) + static_cast<size_t>(member) * rows_ * kRow;
  }
  shmemx_gemm_t gemm(Number& number) {
    shmemx_gemm_t gemm = SHMEMX_GEMM_INITIALIZER;
    gemm.handle = machine_.handle();
    gemm.m = all_;
    gemm.n = gemm.k = 2;
    gemm.type = gemm.result_type = SHMEMX_DATATYPE_FLOAT;
    gemm.pieces = static_cast<int>(rows_);
    gemm.protocol = call_ == Call::put ? SHMEMX_PROTOCOL_PUT : SHMEMX_PROTOCOL_GET;
    gemm.c = machine_.at(number.member, result_);
    gemm.argument = &number;
    if (call_ != Call::added) gemm.product = product;
    return gemm;
  }

  void gather(Number& number) {
    std::byte* const own = own_rows(number.member);
    machine_.give(machine_.stream(), [this, own, &number] {
      for (size_t i = 0; i < rows_; ++i) {
        machine_.explorer().step();
        machine_.store(own + i * kRow, row_of(number.member, i, number.call));
      }
    });
    shmemx_gemm_t call = gemm(number);
    call.a = own;
    call.gathered = machine_.at(number.member, gathered_);
    ASSERT_EQ(shmemx_ag_gemm_on_stream(&call, machine_.stream()), 0);
    machine_.give(machine_.stream(), [this, &number] {
      machine_.explorer().step();
      for (size_t row = 0; row < all_; ++row)
        look(machine_.at(number.member, gathered_) + row * kRow, row, number.call);
    });
  }

  void scatter(Number& number) {
    shmemx_gemm_t call = gemm(number);
    const std::byte* const a = machine_.at(number.member, gathered_);  // nobody reads it
    call.a = call.b = a;
    on_product() = [this, a, &number](const GivenProduct& given) {
      const size_t first_row = static_cast<size_t>(static_cast<const std::byte*>(given.a) - a) / kRow;
      machine_.give(given.stream, [=, this, &number] {
        for (size_t i = 0; i < given.nrows; ++i) {
          machine_.explorer().step();
          const uint64_t row = row_of(number.member, first_row + i, number.call);
          const auto* const added = static_cast<const std::byte*>(given.added) + i * kRow;
          machine_.store(static_cast<std::byte*>(given.c) + i * kRow,
                         given.beta != 0 ? added_up(row, Machine::load(added)) : row);
        }
      });
    };
    ASSERT_EQ(shmemx_gemm_rs_on_stream(&call, machine_.stream()), 0);
    machine_.give(machine_.stream(), [this, &number] {
      machine_.explorer().step();
      for (size_t i = 0; i < rows_; ++i) {
        const size_t row = static_cast<size_t>(number.member) * rows_ + i;
        machine_.explorer().require(Machine::load(machine_.at(number.member, result_) + i * kRow) ==
                                        sum_of(machine_.members(), row, number.call),
                                    kOtherSum);
      }
    });
  }

  void look(const void* at, size_t row, int call) const {
    machine_.explorer().require(Machine::load(at) == row_of(static_cast<int>(row / rows_), row % rows_, call),
                                kOtherRow);
  }

  static int product(void* argument, size_t first_row, size_t nrows, const void* a, void* c, shmemx_stream_t stream) {
    const Number& number = *static_cast<Number*>(argument);
    Layer& layer = *number.layer;
    layer.machine_.give(stream, [=, &layer, &number] {
      for (size_t i = 0; i < nrows; ++i) {
        layer.machine_.explorer().step();
        if (scatters(layer.call_)) {
          layer.machine_.store(static_cast<std::byte*>(c) + i * kRow,
                               row_of(number.member, first_row + i, number.call));
        } else {
          layer.look(static_cast<const std::byte*>(a) + i * kRow, first_row + i, number.call);
        }
      }
    });
    return 0;
  }

  Machine machine_;
  const Call call_;
  const size_t rows_, all_;  ///< of a member, of all
  const size_t gathered_, result_;
  std::vector<std::unique_ptr<Number>> numbers_;
};

/// What goes wrong in the first order that is bad; "nothing".
std::string wrong(Call call, Without without) {
  Layer layer(call, 2, 1, without);
  try {
    layer.explore(1, Queues::each);
  } catch (const std::runtime_error& error) {
    const std::string what = error.what();
    return what.substr(0, what.find(" in schedule"));
  }
  return "nothing";
}

class OverlapModel : public ::testing::TestWithParam<Call> {};

TEST_P(OverlapModel, PiecesOfTwoMembersAreRightInEveryOrder) {
  Layer layer(GetParam(), 2, 2, Without::nothing);
  EXPECT_GT(layer.explore(1, Queues::each), 1000u);
}

/// Nothing waits for what is given later, so all streams of a member may share a queue.
TEST_P(OverlapModel, NobodyWaitsForEverWhereAMemberHasOneQueue) {
  for (const int members : {2, 3, 4}) {
    Layer layer(GetParam(), members, 2, Without::nothing);
    EXPECT_GT(layer.explore(1, Queues::one), 10u) << members << " members";
  }
}

INSTANTIATE_TEST_SUITE_P(Calls, OverlapModel, ::testing::Values(Call::get, Call::put, Call::scatter, Call::added),
                         [](const ::testing::TestParamInfo<Call>& which) {
                           return which.param == Call::get       ? "Get"
                                  : which.param == Call::put     ? "Put"
                                  : which.param == Call::scatter ? "Scatter"
                                                                 : "Added";
                         });

// Without a word some order goes wrong. So the orders above prove something, and each word is needed.
TEST(OverlapModelWithout, ComeRowsAreFetchedBeforeTheyAreThere) {
  EXPECT_EQ(wrong(Call::get, Without::come), kOtherRow);
}
TEST(OverlapModelWithout, TakenRowsAreOverwrittenBeforeTheyAreFetched) {
  EXPECT_EQ(wrong(Call::get, Without::taken), kOtherRow);
}
TEST(OverlapModelWithout, ComeRowsArePushedOverThoseOfTheCallBefore) {
  EXPECT_EQ(wrong(Call::put, Without::come), kOtherRow);
}
TEST(OverlapModelWithout, ArrivedRowsAreMultipliedBeforeTheyCome) {
  EXPECT_EQ(wrong(Call::put, Without::arrived), kOtherRow);
}
TEST(OverlapModelWithout, ComeResultsArePushedOverThoseOfTheCallBefore) {
  EXPECT_EQ(wrong(Call::scatter, Without::come), kOtherSum);
  EXPECT_EQ(wrong(Call::added, Without::come), kOtherSum);
}
TEST(OverlapModelWithout, ArrivedResultsAreAddedUpBeforeTheyCome) {
  EXPECT_EQ(wrong(Call::scatter, Without::arrived), kOtherSum);
  EXPECT_EQ(wrong(Call::added, Without::arrived), kOtherSum);
}
TEST(OverlapModelWithout, ClearingWordsOfACallHoldForTheNext) {
  EXPECT_EQ(wrong(Call::get, Without::clearing), kOtherRow);
  EXPECT_EQ(wrong(Call::put, Without::clearing), kOtherRow);
  EXPECT_EQ(wrong(Call::scatter, Without::clearing), kOtherSum);
  EXPECT_EQ(wrong(Call::added, Without::clearing), kOtherSum);
}

}  // namespace
}  // namespace railshmem::model
