// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/plan.h"

#include <algorithm>

#include "src/base/align.h"
#include "src/base/error.h"
#include "src/base/quantity.h"

namespace railshmem {
namespace {

constexpr size_t kUnit = 16;         // bytes that a thread handles at a time
constexpr size_t kFewThreads = 128;  // short vectors: a block each for many multiprocessors, which store at once
constexpr size_t kManyThreads = 512;
constexpr size_t kFewBlocks = 32;  // from more on, blocks of many threads
constexpr uint32_t kMostBlocks = 128;
constexpr size_t kRelayed = kManyThreads * kUnit;  // bytes of a block's slice at least
// Of the kernel behind copies: it may have to relay all that the copies could not reach. Each block adds a little to
// the time of copies that did reach it, so only long ones have many.
constexpr size_t kEndBlocks = 32;
constexpr size_t kOfEndBlock = size_t{64} << 10;
// Of the kernel that copies the own block beside the engines. With two members it is done before the link is, and takes
// no bandwidth from the engines, as more blocks would. With more members the link takes a block from each other one.
constexpr size_t kOwnBlocks = 16;
constexpr size_t kOfOwnBlock = size_t{64} << 10;

size_t units_of(size_t nbytes) noexcept {
  return (nbytes + kUnit - 1) / kUnit;
}

uint32_t capped(const Question& question, size_t blocks) noexcept {
  const size_t most = question.max_blocks == 0 ? kMostBlocks : std::min(kMostBlocks, question.max_blocks);
  return static_cast<uint32_t>(std::clamp<size_t>(blocks, 1, most));
}

/// One unit a thread as long as there are blocks for that.
Step exchange(const Question& question, size_t nbytes) noexcept {
  const size_t units = units_of(nbytes);
  const bool few = units <= kFewThreads * kFewBlocks;
  const size_t threads = few ? kFewThreads : kManyThreads;
  return {StepKind::exchange, capped(question, (units + threads - 1) / threads), static_cast<uint32_t>(threads)};
}

/// Eight vectors of a thread are under way at once; a block for less than that would only add to the meetings.
Step direct(const Question& question, size_t nbytes) noexcept {
  constexpr size_t kOfBlock = kManyThreads * kUnit * 4;
  return {StepKind::direct, capped(question, (nbytes + kOfBlock - 1) / kOfBlock), kManyThreads};
}

Step relay(const Question& question, size_t nbytes) noexcept {
  return {StepKind::relay, capped(question, (nbytes + kRelayed - 1) / kRelayed), kManyThreads};
}

Step end(const Question& question) noexcept {
  return {StepKind::end, capped(question, std::max(kEndBlocks, question.nbytes / kOfEndBlock)), kManyThreads};
}

/// The own block goes by an engine where the program allows fewer blocks than keep up with the link. A broadcast has
/// none beside copies.
Step copies(const Question& question) noexcept {
  if (question.members < 2 || question.collective == Collective::broadcast) return {StepKind::copies};
  const auto others = static_cast<size_t>(question.members - 1);
  const size_t enough = (kOwnBlocks + others - 1) / others;
  if (capped(question, enough) < enough) return {StepKind::copies};
  const size_t blocks = std::min(enough, (question.nbytes + kOfOwnBlock - 1) / kOfOwnBlock);
  return {StepKind::copies, capped(question, blocks), kManyThreads};
}

/// What there is where the way of the plan is not there for some member.
std::string otherwise(const Question& question, const Plan& plan) {
  if (question.sizes_differ && plan.algorithm == Algorithm::packets && plan.relay_from != ~size_t{0})
    return text("; relay if a block has %zu bytes or more", plan.relay_from);
  if (plan.algorithm != Algorithm::direct && plan.algorithm != Algorithm::engines) return "";
  return text("; %s where a buffer is not reached", question.nbytes >= plan.relay_from ? "relay" : "packets");
}

const char* words_of(StepKind kind) noexcept {
  switch (kind) {
    case StepKind::exchange:
      return "exchange of packets";
    case StepKind::direct:
      return "from buffer to buffer";
    case StepKind::begin:
      return "meeting";
    case StepKind::copies:
      return "copies by engines";
    case StepKind::end:
      return "meeting";
    case StepKind::relay:
      return "slices through scratch memory";
  }
  return "?";
}

}  // namespace

size_t part_nbytes(size_t nbytes, int members) noexcept {
  const auto n = static_cast<size_t>(members);
  return align_up((nbytes + n - 1) / n, kUnit);
}

Plan make_plan(const Question& question, const Choice& choice) noexcept {
  Plan plan{Algorithm::packets};
  plan.relay_from = choice.first(question.collective, Reach::unreached, question.members, Algorithm::relay);
  if (!question.sizes_differ) {
    plan.algorithm = choice.pick(question.collective, Reach::stream, question.nbytes, question.members);
  } else if (plan.relay_from == 0) {
    plan.algorithm = Algorithm::relay;
  }
  // Of sizes that nobody knows: as many blocks as the largest pay for.
  const size_t nbytes = question.sizes_differ ? kMostBlocks * kManyThreads * kUnit : question.nbytes;
  const bool reduces = question.collective == Collective::reduce;
  const size_t part = reduces ? part_nbytes(nbytes, question.members) : nbytes;
  switch (plan.algorithm) {
    case Algorithm::parts:
      plan.add(exchange(question, part));
      break;
    case Algorithm::direct:
      plan.add(direct(question, part * static_cast<size_t>(question.members)));
      break;
    case Algorithm::engines:
      plan.add({StepKind::begin, 1, kFewThreads});
      plan.add(copies(question));
      plan.add(end(question));
      break;
    case Algorithm::relay:
      plan.add(relay(question, part));
      break;
    default:
      plan.add(exchange(question, nbytes));
  }
  return plan;
}

std::string explain(const Question& question, const Plan& plan) {
  const std::string size = question.sizes_differ ? "blocks of any sizes" : text("%zu bytes", question.nbytes);
  std::string line = text("%s of %s among %s: %s", std::string(name_of(question.collective)).c_str(), size.c_str(),
                          counted(static_cast<uint64_t>(question.members), "member").c_str(),
                          std::string(name_of(plan.algorithm)).c_str());
  for (const Step& step : plan) {
    line += text("; %s", words_of(step.kind));
    if (step.kind == StepKind::copies && step.blocks != 0) line += " beside a kernel for the own block";
    if (step.blocks != 0) line += text(" (%s of %u threads)", counted(step.blocks, "block").c_str(), step.threads);
  }
  return line + otherwise(question, plan);
}

}  // namespace railshmem
