// SPDX-License-Identifier: BSD-3-Clause
// Dispatches and combines of many tokens against a plain reference, bit for bit: types, words beside the tokens,
// routings with tokens for all, some, one and none of the members, combines in any order, call by call and from graphs.
//   moe_bulk [ROUNDS [CASES]]     rounds of each case (default: 6), and how many of the cases (default: all)
#include <shmem.h>
#include <shmemx_moe.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <numeric>

#include "tests/gpu/multi_gpu/expect.h"
#include "tests/gpu/multi_gpu/moe_rig.h"
#include "tests/gpu/multi_gpu/stream_driver.h"

namespace {

using namespace railshmem::multi;

struct Case {
  int type, x_type, hidden, max_tokens, words, multiprocessors;
  uint32_t chance;  ///< of 100, that a token goes to a member
};

/// What one PE sends in one round.
struct Sent {
  Sent(const Case& one, int pe, uint32_t round) : case_(one), seed_(round * 64 + static_cast<uint32_t>(pe)) {
    const auto random = mixed(3, static_cast<uint32_t>(pe), round);
    count = round == 0 ? one.max_tokens : static_cast<int>(random % (static_cast<uint32_t>(one.max_tokens) + 1));
    std::vector<int32_t> before(static_cast<size_t>(npes), 0);
    for (int t = 0; t < count; ++t)
      for (int m = 0; m < npes; ++m) {
        const bool goes = mixed(seed_, static_cast<uint32_t>(t), static_cast<uint32_t>(m)) % 100 < one.chance;
        numbers.push_back(goes ? before[static_cast<size_t>(m)]++ : -1);
      }
  }
  int32_t number(int t, int m) const { return numbers[static_cast<size_t>(t * npes + m)]; }
  uint8_t byte(int t, size_t i) const {
    return static_cast<uint8_t>(mixed(seed_ + 5, static_cast<uint32_t>(t), static_cast<uint32_t>(i)));
  }
  int32_t word(int t, int w) const {
    return static_cast<int32_t>(mixed(seed_ + 7, static_cast<uint32_t>(t), static_cast<uint32_t>(w)));
  }
  /// What PE m makes of its row of a token.
  uint16_t result(int t, int m, int h) const {
    const uint32_t bits = mixed(seed_ + 11, static_cast<uint32_t>(t * 64 + m), static_cast<uint32_t>(h));
    return rounded((static_cast<float>(bits >> 8) * 0x1p-23F - 1) * (bits % 5 == 0 ? 300.0F : 1.0F), case_.type);
  }

  int count = 0;
  std::vector<int32_t> numbers;  ///< [count][npes]

 private:
  const Case case_;
  const uint32_t seed_;
};

/// A route in the GPU's memory, and the rows that come by it.
class Rig {
 public:
  Rig(const StreamDriver& driver, const Case& one)
      : driver_(driver), case_(one), tokens_(static_cast<size_t>(one.max_tokens)) {
    shmemx_moe_bulk_config_t config = SHMEMX_MOE_BULK_CONFIG_INITIALIZER;
    config.hidden = one.hidden;
    config.max_tokens = one.max_tokens;
    config.type = one.type;
    config.words = one.words;
    config.multiprocessors = one.multiprocessors;
    const size_t nbytes = shmemx_moe_bulk_workspace(SHMEM_TEAM_WORLD, &config);
    workspace_ = memory(nbytes);
    if (shmemx_moe_bulk_create(SHMEM_TEAM_WORLD, &config, workspace_, nbytes, &handle_) != 0) shmem_global_exit(2);
    room_ = tokens_ * static_cast<size_t>(npes);
    const auto pes = static_cast<size_t>(npes);
    numbers_ = memory(tokens_ * pes * 4), begins_ = memory((pes + 1) * 4);
    x_ = memory(tokens_ * row()), x_words_ = memory(tokens_ * words() * 4);
    rows_ = memory(room_ * row()), row_words_ = memory(room_ * words() * 4), sources_ = memory(room_ * 4);
    results_ = memory(room_ * hidden() * 2), out_ = memory(tokens_ * hidden() * 2);
    dispatch_ = SHMEMX_MOE_BULK_DISPATCH_INITIALIZER;
    dispatch_.handle = handle_;
    dispatch_.x_type = one.x_type;
    dispatch_.words = one.words;
    dispatch_.route.room = static_cast<int>(room_);
    dispatch_.route.numbers = static_cast<const int32_t*>(numbers_);
    dispatch_.route.begins = static_cast<const int32_t*>(begins_);
    dispatch_.x = x_, dispatch_.x_words = x_words_, dispatch_.rows = rows_, dispatch_.row_words = row_words_;
    dispatch_.sources = static_cast<int32_t*>(sources_);
    combine_ = SHMEMX_MOE_BULK_COMBINE_INITIALIZER;
    combine_.handle = handle_;
    combine_.rows = results_, combine_.out = out_;
  }
  ~Rig() {
    shmem_barrier_all();
    if (shmemx_moe_bulk_destroy(handle_) != 0) shmem_global_exit(2);
    for (auto at = owned_.rbegin(); at != owned_.rend(); ++at) shmem_free(*at);
  }
  Rig(const Rig&) = delete;

  void run(int rounds) {
    constexpr int kCaptured = 3;
    void* graph = nullptr;
    for (int round = 0; round < rounds; ++round) {
      const bool captured = round >= kCaptured && driver_.graphs();
      load(static_cast<uint32_t>(round), captured);
      if (captured && graph == nullptr) graph = driver_.capture([&] { give(1); });
      captured ? driver_.launch(graph) : give(1 + round % 3);
      driver_.synchronize();
      check(round);
    }
    shmem_barrier_all();
    if (graph != nullptr) driver_.call("cuGraphExecDestroy", graph);
  }

 private:
  size_t hidden() const { return static_cast<size_t>(case_.hidden); }
  size_t words() const { return static_cast<size_t>(case_.words); }
  size_t row() const { return hidden() * (case_.x_type == case_.type ? 2 : 1); }
  void* memory(size_t nbytes) {
    void* const made = shmem_align(256, std::max<size_t>(nbytes, 1));
    if (made == nullptr) shmem_global_exit(2);
    owned_.push_back(made);
    return made;
  }

  void give(int combines) {
    combine_.route = dispatch_.route;
    if (shmemx_moe_bulk_dispatch_on_stream(&dispatch_, driver_.stream) != 0) shmem_global_exit(2);
    for (int i = 0; i < combines; ++i)
      if (shmemx_moe_bulk_combine_on_stream(&combine_, driver_.stream) != 0) shmem_global_exit(2);
  }

  /// A graph has the number of tokens that it captured: those that are not there go nowhere.
  void load(uint32_t round, bool all_tokens) {
    sent_.clear();
    for (int pe = 0; pe < npes; ++pe) sent_.emplace_back(case_, pe, round);
    const Sent& mine = sent_[static_cast<size_t>(me)];
    dispatch_.route.tokens = all_tokens ? case_.max_tokens : mine.count;
    std::vector<int32_t> numbers(tokens_ * static_cast<size_t>(npes), -1), begins{0}, words_of;
    std::copy(mine.numbers.begin(), mine.numbers.end(), numbers.begin());
    std::vector<uint8_t> x;
    std::vector<uint16_t> results;
    for (int t = 0; t < mine.count; ++t) {
      for (size_t i = 0; i < row(); ++i) x.push_back(mine.byte(t, i));
      for (int w = 0; w < case_.words; ++w) words_of.push_back(mine.word(t, w));
    }
    for (int s = 0; s < npes; ++s) {
      const Sent& theirs = sent_[static_cast<size_t>(s)];
      int32_t rows = begins.back();
      for (int t = 0; t < theirs.count; ++t) {
        if (theirs.number(t, me) < 0) continue;
        ++rows;
        for (int h = 0; h < case_.hidden; ++h) results.push_back(theirs.result(t, me, h));
      }
      begins.push_back(rows);
    }
    driver_.upload(numbers_, numbers.data(), numbers.size() * 4);
    driver_.upload(begins_, begins.data(), begins.size() * 4);
    driver_.upload(x_, x.data(), x.size());
    driver_.upload(x_words_, words_of.data(), words_of.size() * 4);
    driver_.upload(results_, results.data(), results.size() * 2);
  }

  void check(int round) const {
    const std::string name = "type " + std::to_string(case_.type) + " sent as " + std::to_string(case_.x_type) +
                             ", hidden " + std::to_string(case_.hidden) + ", chance " + std::to_string(case_.chance) +
                             ", round " + std::to_string(round);
    std::vector<uint8_t> rows(room_ * row());
    std::vector<int32_t> words_of(room_ * words()), sources(room_);
    driver_.download(rows.data(), rows_, rows.size());
    driver_.download(words_of.data(), row_words_, words_of.size() * 4);
    driver_.download(sources.data(), sources_, sources.size() * 4);
    size_t at = 0;
    for (const Sent& theirs : sent_)
      for (int t = 0; t < theirs.count; ++t) {
        if (theirs.number(t, me) < 0) continue;
        bool equal = true;
        for (size_t i = 0; i < row(); ++i) equal = equal && rows[at * row() + i] == theirs.byte(t, i);
        for (int w = 0; w < case_.words; ++w)
          equal = equal && words_of[at * words() + static_cast<size_t>(w)] == theirs.word(t, w);
        expect(equal, name + ": a row");
        expect(sources[at++] == t, name + ": the source of a row");
      }
    check_sums(name);
  }
  void check_sums(const std::string& name) const {
    const Sent& mine = sent_[static_cast<size_t>(me)];
    std::vector<uint16_t> out(tokens_ * hidden());
    driver_.download(out.data(), out_, out.size() * 2);
    for (int t = 0; t < mine.count; ++t) {
      bool equal = true;
      for (int h = 0; h < case_.hidden; ++h) {
        float sum = 0;
        for (int m = 0; m < npes; ++m)
          if (mine.number(t, m) >= 0) sum += value_of(mine.result(t, m, h), case_.type);
        equal = equal && out[static_cast<size_t>(t) * hidden() + static_cast<size_t>(h)] == rounded(sum, case_.type);
      }
      expect(equal, name + ": the sum of token " + std::to_string(t));
    }
  }

  const StreamDriver& driver_;
  const Case case_;
  const size_t tokens_;
  size_t room_ = 0;
  std::vector<void*> owned_;
  void *workspace_, *numbers_, *begins_, *x_, *x_words_, *rows_, *row_words_, *sources_, *results_, *out_;
  shmemx_moe_bulk_t handle_ = nullptr;
  shmemx_moe_bulk_dispatch_t dispatch_{};
  shmemx_moe_bulk_combine_t combine_{};
  std::vector<Sent> sent_;
};

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 6;
  const size_t most = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : ~size_t{0};
  shmem_init();
  if (shmemx_attach_device() != 0) return 1;
  me = shmem_my_pe();
  npes = shmem_n_pes();
  {
    const StreamDriver driver;
    constexpr int kBfloat16 = SHMEMX_DATATYPE_BFLOAT16, kHalf = SHMEMX_DATATYPE_HALF,
                  kFloat8 = SHMEMX_DATATYPE_FLOAT8_E4M3;
    const Case cases[] = {
        {kBfloat16, kBfloat16, 72, 9, 0, 0, 50}, {kHalf, kHalf, 64, 7, 5, 3, 100},
        {kBfloat16, kFloat8, 256, 11, 6, 0, 70}, {kHalf, kFloat8, 16, 5, 1, 1, 30},
        {kBfloat16, kBfloat16, 8, 6, 3, 0, 0},   {kBfloat16, kBfloat16, 1032, 40, 2, 2, 60},
    };
    for (size_t i = 0; i < std::min(most, std::size(cases)); ++i) Rig(driver, cases[i]).run(rounds);
  }
  shmem_barrier_all();
  const int failed = failures;
  if (failed == 0 && me == 0) std::printf("moe_bulk: %d PEs, %d rounds of each case: all well\n", npes, rounds);
  shmem_finalize();
  return failed == 0 ? 0 : 1;
}
