// SPDX-License-Identifier: BSD-3-Clause
// Dispatch and combine against a plain reference, bit for bit: all types, random, skewed and empty routings, whole
// calls and halves, call by call and from graphs whose routing changes.
//   moe [ROUNDS]     rounds of each case (default: 4)
#include "tests/gpu/multi_gpu/moe_rig.h"

#include <shmem.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "moe/kernels/call.h"
#include "tests/gpu/multi_gpu/expect.h"
#include "tests/gpu/multi_gpu/moe_calls.h"
#include "tests/gpu/multi_gpu/stream_driver.h"

namespace {

using namespace railshmem::multi;

/// Memory of the GPU's heap. Collective.
class Memory {
 public:
  explicit Memory(size_t nbytes) : at_(static_cast<std::byte*>(shmem_align(256, std::max<size_t>(nbytes, 1)))) {
    if (at_ != nullptr) return;
    std::printf("FAILED: PE %d: no %zu bytes in the heap\n", me, nbytes);
    shmem_global_exit(2);
  }
  ~Memory() { shmem_free(at_); }
  Memory(const Memory&) = delete;
  std::byte* at() const { return at_; }

 private:
  std::byte* const at_;
};

class Rig {
 public:
  Rig(const StreamDriver& driver, const MoeCase& one)
      : driver_(driver),
        case_(one),
        capacity_(static_cast<size_t>(npes) * static_cast<size_t>(one.max_tokens)),
        row_nbytes_(static_cast<size_t>(one.hidden) * (one.dispatch_type == one.type ? 2 : 1)),
        groups_(static_cast<size_t>(one.hidden) / 128),
        workspace_(nbytes()),
        x_(tokens() * hidden() * 2),
        x_scales_(tokens() * groups_ * sizeof(float)),
        experts_(tokens() * topk() * sizeof(int64_t)),
        weights_(tokens() * topk() * sizeof(float)),
        rows_(local() * capacity_ * row_nbytes_),
        scales_(local() * capacity_ * groups_ * sizeof(float)),
        counts_(local() * static_cast<size_t>(npes) * sizeof(int32_t)),
        totals_(local() * sizeof(int32_t)),
        ranges_(local() * static_cast<size_t>(npes) * sizeof(int64_t)),
        sources_(local() * capacity_ * sizeof(int32_t)),
        results_(local() * capacity_ * hidden() * 2),
        out_(tokens() * hidden() * 2) {
    const shmemx_moe_config_t config = configuration();
    if (shmemx_moe_create(SHMEM_TEAM_WORLD, &config, workspace_.at(), nbytes(), &handle_) != 0) shmem_global_exit(2);
    if (one.renewed) put_old_packets();
    dispatch_ = SHMEMX_MOE_DISPATCH_INITIALIZER;
    dispatch_.handle = handle_;
    dispatch_.hook = one.hook ? 1 : 0;
    dispatch_.x = x_.at();
    if (one.x_scaled) dispatch_.x_scales = reinterpret_cast<const float*>(x_scales_.at());
    dispatch_.experts = reinterpret_cast<const int64_t*>(experts_.at());
    const auto* const weights = reinterpret_cast<const float*>(weights_.at());
    dispatch_.weights = one.weighted && !one.late_weights ? weights : nullptr;
    dispatch_.rows = rows_.at();
    dispatch_.scales = scales_.at();
    dispatch_.counts = reinterpret_cast<int32_t*>(counts_.at());
    if (one.late_weights || one.hook) {  // not in all cases
      dispatch_.totals = reinterpret_cast<int32_t*>(totals_.at());
      dispatch_.ranges = reinterpret_cast<int64_t*>(ranges_.at());
      dispatch_.sources = reinterpret_cast<int32_t*>(sources_.at());
    }
    combine_ = SHMEMX_MOE_COMBINE_INITIALIZER;
    combine_.handle = handle_;
    combine_.hook = one.hook ? 1 : 0;
    combine_.rows = results_.at();
    combine_.out = out_.at();
    combine_.weights = one.late_weights ? weights : nullptr;
  }
  ~Rig() {
    shmem_barrier_all();
    if (shmemx_moe_destroy(handle_) != 0) shmem_global_exit(2);
  }
  Rig(const Rig&) = delete;

  static constexpr int kRenewedRounds = 8 + 2 * railshmem::moe::kRenewalParts;  ///< until numbers have come again
  /// The routing, the tokens and, in a graph, even their number may change: unused tokens have no expert.
  void run(int rounds) {
    constexpr int kCaptured = 2;
    void *dispatch = nullptr, *combine = nullptr;
    for (int round = 0; round < rounds; ++round) {
      const bool graphs = round >= kCaptured && driver_.graphs();
      load(static_cast<uint32_t>(round), graphs);
      if (graphs && dispatch == nullptr) {
        dispatch = driver_.capture([&] { give(dispatch_, driver_.stream); });
        combine = driver_.capture([&] { give(combine_, driver_.stream); });
      }
      come_late(round);
      graphs ? driver_.launch(dispatch) : give(dispatch_, driver_.stream);
      driver_.synchronize();
      experts(round);
      come_late(round);
      graphs ? driver_.launch(combine) : give(combine_, driver_.stream);
      driver_.synchronize();
      check_out(round);
      if (case_.late_weights && !graphs) combine_again(round);
    }
    shmem_barrier_all();
    if (dispatch != nullptr) driver_.call("cuGraphExecDestroy", dispatch);
    if (combine != nullptr) driver_.call("cuGraphExecDestroy", combine);
  }

 private:
  size_t local() const { return static_cast<size_t>(case_.local); }
  size_t hidden() const { return static_cast<size_t>(case_.hidden); }
  size_t tokens() const { return static_cast<size_t>(case_.max_tokens); }
  size_t topk() const { return static_cast<size_t>(case_.topk); }
  shmemx_moe_config_t configuration() const {
    shmemx_moe_config_t config = SHMEMX_MOE_CONFIG_INITIALIZER;
    config.experts = case_.local * npes;
    config.topk = case_.topk;
    config.hidden = case_.hidden;
    config.max_tokens = case_.max_tokens;
    config.type = case_.type;
    config.dispatch_type = case_.dispatch_type;
    config.multiprocessors = case_.multiprocessors;
    config.late_weights = case_.late_weights ? 1 : 0;
    config.scale_type = case_.scale_type;
    config.x_scaled = case_.x_scaled ? 1 : 0;
    return config;
  }
  size_t nbytes() const {
    const shmemx_moe_config_t config = configuration();
    const size_t needed = shmemx_moe_workspace(SHMEM_TEAM_WORLD, &config);
    if (needed == 0) shmem_global_exit(2);
    return needed;
  }
  std::string name(int round) const {
    return "type " + std::to_string(case_.type) + " sent as " + std::to_string(case_.dispatch_type) + ", " +
           std::to_string(case_.local) + " experts each, top " + std::to_string(case_.topk) + ", hidden " +
           std::to_string(case_.hidden) + ", routing " + std::to_string(static_cast<int>(case_.routing)) +
           (case_.hook ? ", by halves" : "") + (case_.late_weights ? ", late weights" : "") +
           (case_.x_scaled ? ", scaled before" : "") + ", round " + std::to_string(round);
  }

  /// The round of the second dispatch behind the renewal of all places, which begins in round 2.
  static constexpr uint32_t kRenewedFrom = 4 + 2 * railshmem::moe::kRenewalParts;
  /// As if this were some dispatch before a renewal: packets of the second and third one behind it lie in all places.
  void put_old_packets() const {
    using namespace railshmem::moe;
    const Layout layout({npes, case_.local * npes, case_.topk, case_.hidden, case_.max_tokens,
                         case_.dispatch_type == case_.type ? 2u : 1u, case_.late_weights ? 1u : 0u,
                         static_cast<Scaling>(case_.scale_type)});
    const uint64_t last = kRenewal - 2 * kRenewalParts - 3, old = last + 1 + kRenewedFrom;
    driver_.upload(workspace_.at() + Layout::kEpoch, &last, sizeof last);
    for (const uint64_t epoch : {old, old + 1}) fill(layout.packets(epoch, 0, 0), layout.set_nbytes(), epoch);
    fill(layout.numbered(), layout.numbered_nbytes(), case_.late_weights ? old << 1 : old);
    shmem_barrier_all();
  }
  /// Members in turn, so that the others look at old packets before theirs come.
  void come_late(int round) const {
    if (case_.renewed && round + 2 >= static_cast<int>(kRenewedFrom) && round % npes == me)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  /// Packets of a number, with ones in all bits of their data.
  void fill(uint64_t from, uint64_t nbytes, uint64_t number) const {
    std::vector<uint64_t> words(nbytes / sizeof(uint64_t), railshmem::moe::Numbered::of(number, ~uint64_t{0}));
    driver_.upload(workspace_.at() + from, words.data(), nbytes);
  }

  /// Some members may be a whole call ahead of others.
  void combine_again(int round) {
    for (int i = 0; i < 3; ++i) give(combine_, driver_.stream);
    driver_.synchronize();
    check_out(round);
  }

  void load(uint32_t round, bool all_tokens) {
    sent_.clear();
    for (int pe = 0; pe < npes; ++pe) sent_.emplace_back(case_, npes, pe, round);
    if (case_.renewed && round < kRenewedFrom)  // what is in the places stays there
      for (Tokens& theirs : sent_) {
        theirs.count = 0;
        theirs.experts.clear();
        theirs.x.clear();
      }
    const Tokens& mine = sent_[static_cast<size_t>(me)];
    dispatch_.tokens = all_tokens ? case_.max_tokens : mine.count;
    if (case_.x_scaled) {
      load_scaled(mine);
    } else {
      driver_.upload(x_.at(), mine.x.data(), mine.x.size() * 2);
    }
    std::vector<int64_t> chosen(tokens() * topk(), -1);
    std::copy(mine.experts.begin(), mine.experts.end(), chosen.begin());
    driver_.upload(experts_.at(), chosen.data(), chosen.size() * sizeof(int64_t));
    driver_.upload(weights_.at(), mine.weights.data(), mine.weights.size() * sizeof(float));
  }

  void load_scaled(const Tokens& mine) const {
    std::vector<uint8_t> bytes;
    std::vector<float> scales;
    for (size_t t = 0; t < static_cast<size_t>(mine.count); ++t) {
      const Row row = row_of(case_, &mine.x[t * hidden()]);
      bytes.insert(bytes.end(), row.bytes.begin(), row.bytes.end());
      scales.insert(scales.end(), row.scales.begin(), row.scales.end());
    }
    driver_.upload(x_.at(), bytes.data(), bytes.size());
    driver_.upload(x_scales_.at(), scales.data(), scales.size() * sizeof(float));
  }

  /// Compares what has come with what must come, and computes the experts' results.
  void experts(int round) {
    std::vector<uint8_t> rows(local() * capacity_ * row_nbytes_);
    std::vector<float> scales(local() * capacity_ * groups_);
    std::vector<int32_t> counts(local() * static_cast<size_t>(npes));
    driver_.download(rows.data(), rows_.at(), rows.size());
    driver_.download(scales.data(), scales_.at(), scales.size() * sizeof(float));
    driver_.download(counts.data(), counts_.at(), counts.size() * sizeof(int32_t));
    std::vector<uint16_t> results(local() * capacity_ * hidden());
    const bool described = dispatch_.sources != nullptr;
    std::vector<int32_t> totals(local()), sources(local() * capacity_);
    std::vector<int64_t> ranges(local() * static_cast<size_t>(npes));
    driver_.download(totals.data(), totals_.at(), totals.size() * sizeof(int32_t));
    driver_.download(ranges.data(), ranges_.at(), ranges.size() * sizeof(int64_t));
    driver_.download(sources.data(), sources_.at(), sources.size() * sizeof(int32_t));
    for (size_t e = 0; e < local(); ++e) {
      const int64_t expert = static_cast<int64_t>(e) + static_cast<int64_t>(local()) * me;
      size_t row = 0;
      for (int source = 0; source < npes; ++source) {
        const Tokens& theirs = sent_[static_cast<size_t>(source)];
        const size_t first = row;
        int32_t count = 0;
        for (int t = 0; t < theirs.count; ++t)
          for (int k = 0; k < case_.topk; ++k) {
            if (expert_of(theirs, case_.topk, t, k) != expert) continue;
            ++count;
            const Row right = row_of(case_, &theirs.x[static_cast<size_t>(t) * hidden()]);
            const size_t at = e * capacity_ + row++;
            expect(!described || sources[at] == t, name(round) + ": the source of a row");
            expect(std::equal(right.bytes.begin(), right.bytes.end(), &rows[at * row_nbytes_]),
                   name(round) + ": a row");
            for (size_t g = 0; g < right.scales.size(); ++g)
              expect(scale_of(scales, e, g, at - e * capacity_) == right.scales[g], name(round) + ": a scale");
            const std::vector<uint16_t> result = expert_result(case_, expert, right);
            std::copy(result.begin(), result.end(), results.begin() + static_cast<std::ptrdiff_t>(at * hidden()));
          }
        const size_t pair = e * static_cast<size_t>(npes) + static_cast<size_t>(source);
        expect(counts[pair] == count, name(round) + ": a count");
        expect(!described || ranges[pair] == (static_cast<int64_t>(first) << 32 | count), name(round) + ": a range");
      }
      expect(!described || totals[e] == static_cast<int32_t>(row), name(round) + ": a total");
    }
    driver_.upload(results_.at(), results.data(), results.size() * 2);
  }

  /// The scale of group g of a row of local expert e.
  float scale_of(const std::vector<float>& scales, size_t e, size_t g, size_t row) const {
    if (case_.scale_type != SHMEMX_MOE_SCALE_UE8M0) return scales[(e * groups_ + g) * capacity_ + row];
    const auto four = std::bit_cast<uint32_t>(scales[(e * (groups_ / 4) + g / 4) * capacity_ + row]);
    return std::bit_cast<float>((four >> (8 * (g % 4)) & 0xff) << 23);
  }

  void check_out(int round) {
    const Tokens& mine = sent_[static_cast<size_t>(me)];
    std::vector<uint16_t> out(tokens() * hidden());
    driver_.download(out.data(), out_.at(), out.size() * 2);
    for (int t = 0; t < mine.count; ++t) {
      const std::vector<uint16_t> right = combined(case_, npes, mine, t);
      expect(std::equal(right.begin(), right.end(), &out[static_cast<size_t>(t) * hidden()]),
             name(round) + ": the sum of token " + std::to_string(t));
    }
  }

  const StreamDriver& driver_;
  const MoeCase case_;
  const size_t capacity_, row_nbytes_, groups_;
  const Memory workspace_, x_, x_scales_, experts_, weights_, rows_, scales_, counts_, totals_, ranges_, sources_,
      results_, out_;
  shmemx_moe_t handle_ = nullptr;
  shmemx_moe_dispatch_t dispatch_{};
  shmemx_moe_combine_t combine_{};
  std::vector<Tokens> sent_;
};

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 4;
  shmem_init();
  if (shmemx_attach_device() != 0) return 1;
  me = shmem_my_pe();
  npes = shmem_n_pes();
  {
    const StreamDriver driver;
    constexpr int kBfloat16 = SHMEMX_DATATYPE_BFLOAT16, kHalf = SHMEMX_DATATYPE_HALF;
    constexpr int kFloat8 = SHMEMX_DATATYPE_FLOAT8_E4M3;
    const MoeCase cases[] = {
        {kBfloat16, kBfloat16, 3, 4, 72, 9, Routing::random, true, false},
        {kHalf, kHalf, 2, 2, 64, 7, Routing::skewed, true, true},
        {kBfloat16, kFloat8, 2, 3, 256, 6, Routing::with_dropped, true, false},
        {kHalf, kFloat8, 1, 1, 128, 5, Routing::random, false, true},
        {kBfloat16, kBfloat16, 4, 9, 16, 8, Routing::twice, true, false, 1},
        {kHalf, kHalf, 2, 2, 8, 6, Routing::one_expert, false, false},
        {kBfloat16, kBfloat16, 2, 2, 24, 6, Routing::none, true, true},
        {kBfloat16, kBfloat16, 4, 4, 40, 7, Routing::cancelling, true, false},
        {kBfloat16, kBfloat16, 4, 4, 40, 7, Routing::cancelling, true, false, 0, true},
        {kHalf, kFloat8, 3, 3, 128, 6, Routing::with_dropped, true, true, 0, true},
        {kBfloat16, kBfloat16, 4, 9, 16, 8, Routing::twice, true, false, 2, true},
        {kHalf, kHalf, 2, 2, 24, 6, Routing::none, true, false, 0, true},
        {kBfloat16, kFloat8, 2, 3, 256, 6, Routing::random, true, true, 0, false, SHMEMX_MOE_SCALE_POWER},
        {kHalf, kFloat8, 2, 2, 1024, 5, Routing::with_dropped, true, false, 0, true, SHMEMX_MOE_SCALE_UE8M0},
        {kBfloat16, kFloat8, 2, 3, 256, 6, Routing::with_dropped, true, false, 0, false, SHMEMX_MOE_SCALE_FLOAT, true},
        {kHalf, kFloat8, 1, 2, 384, 7, Routing::twice, true, true, 0, true, SHMEMX_MOE_SCALE_FLOAT, true},
        // Several blocks share a token.
        {kBfloat16, kBfloat16, 3, 4, 72, 1, Routing::random, true, false},
        {kHalf, kFloat8, 2, 3, 384, 1, Routing::with_dropped, true, true, 0, true},
        {kBfloat16, kFloat8, 2, 3, 1024, 1, Routing::random, true, false, 0, false, SHMEMX_MOE_SCALE_UE8M0},
        // Members with more than 128 tokens get sums and words, the others packets.
        {kBfloat16, kBfloat16, 2, 2, 16, 150, Routing::random, true, false},
        {kHalf, kHalf, 1, 2, 24, 140, Routing::with_dropped, true, true, 0, true},
    };
    for (const MoeCase& one : cases) Rig(driver, one).run(rounds);
    MoeCase renewed = {kBfloat16, kBfloat16, 3, 4, 72, 9, Routing::random, true, false};
    for (const bool late : {false, true}) {
      renewed.late_weights = late;
      renewed.renewed = true;
      Rig(driver, renewed).run(std::max(rounds, Rig::kRenewedRounds));
    }
  }
  shmem_barrier_all();
  const int failed = failures;
  if (failed == 0 && me == 0) std::printf("moe: %d PEs, %d rounds of each case: all well\n", npes, rounds);
  shmem_finalize();
  return failed == 0 ? 0 : 1;
}
