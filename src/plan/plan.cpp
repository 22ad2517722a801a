// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/plan.h"

#include <algorithm>

#include "src/base/align.h"
#include "src/base/error.h"
#include "src/base/quantity.h"

namespace railshmem {
namespace {

constexpr size_t kUnit = 16;           // bytes
constexpr uint32_t kManyUnits = 3;     // that a thread handles at a time: four packets carry three, two carry one
constexpr size_t kOneUnitBlocks = 64;  // of kManyThreads: up to so many, one unit a thread
constexpr size_t kFewThreads = 128;    // short vectors: a block each for many multiprocessors, which store at once
constexpr size_t kManyThreads = 512;
constexpr size_t kFewBlocks = 32;  // from more on, blocks of many threads
constexpr uint32_t kMostBlocks = 128;
// Of the kernel behind copies: it may have to send all that the copies could not reach. Each block adds a little to the
// time of copies that did reach it, so only long ones have many.
constexpr size_t kEndBlocks = 32;
constexpr size_t kOfEndBlock = size_t{64} << 10;
// Of the kernel that copies the own block beside the engines. With two members it is done before the link is, and takes
// no bandwidth from the engines, as more blocks would. With more members the link takes a block from each other one.
constexpr size_t kOwnBlocks = 16;
constexpr size_t kOfOwnBlock = size_t{64} << 10;
// Where the program asks to spare multiprocessors: from so many bytes on that one member hands to one other. A kernel
// that moves fewer is over in 10 us. The end has as many blocks as can send what the copies could not reach at the
// link's speed.
constexpr size_t kSparedFrom = size_t{1} << 20;
constexpr uint32_t kSparingEndBlocks = 16;

size_t units_of(size_t nbytes) noexcept {
  return (nbytes + kUnit - 1) / kUnit;
}

uint32_t capped(const Question& question, size_t blocks) noexcept {
  const size_t most = question.max_blocks == 0 ? kMostBlocks : std::min(kMostBlocks, question.max_blocks);
  return static_cast<uint32_t>(std::clamp<size_t>(blocks, 1, most));
}

/// One unit a thread where they are few: these kernels are short. Otherwise as many blocks as need one exchange for
/// all.
Step exchange(const Question& question, size_t nbytes) noexcept {
  const size_t units = units_of(nbytes);
  const size_t threads = units <= kFewThreads * kFewBlocks ? kFewThreads : kManyThreads;
  const auto blocks_for = [&](size_t of_thread) {
    return capped(question, (units + threads * of_thread - 1) / (threads * of_thread));
  };
  const uint32_t blocks = blocks_for(1);
  if (units <= std::min({size_t{blocks}, kOneUnitBlocks, packet_blocks(question.members)}) * threads)
    return {StepKind::exchange, blocks, static_cast<uint32_t>(threads), 1};
  return {StepKind::exchange, blocks_for(kManyUnits), static_cast<uint32_t>(threads), kManyUnits};
}

/// Eight vectors of a thread are under way at once; a block for less than that would only add to the meetings.
Step direct(const Question& question, size_t nbytes) noexcept {
  constexpr size_t kOfBlock = kManyThreads * kUnit * 4;
  return {StepKind::direct, capped(question, (nbytes + kOfBlock - 1) / kOfBlock), kManyThreads};
}

/// A slot of a block's chunks from all other members together: as many blocks as there are slots full.
Step staged(const Question& question, size_t nbytes) noexcept {
  constexpr size_t kSlot = size_t{64} << 10;
  const auto others = static_cast<size_t>(question.members - 1);
  return {StepKind::staged, capped(question, (nbytes * others + kSlot - 1) / kSlot), kManyThreads};
}

Step end(const Question& question) noexcept {
  if (question.spares_sms)
    return {StepKind::end, std::min(capped(question, kMostBlocks), kSparingEndBlocks), kManyThreads};
  return {StepKind::end, capped(question, std::max(kEndBlocks, question.nbytes / kOfEndBlock)), kManyThreads};
}

/// The own block goes by an engine where the program spares multiprocessors, or allows fewer blocks than keep up with
/// the link. A broadcast has none beside copies.
Step copies(const Question& question) noexcept {
  if (question.members < 2 || question.collective == Collective::broadcast || question.spares_sms)
    return {StepKind::copies};
  const auto others = static_cast<size_t>(question.members - 1);
  const size_t enough = (kOwnBlocks + others - 1) / others;
  if (capped(question, enough) < enough) return {StepKind::copies};
  const size_t blocks = std::min(enough, (question.nbytes + kOfOwnBlock - 1) / kOfOwnBlock);
  return {StepKind::copies, capped(question, blocks), kManyThreads};
}

bool reduces(const Question& question) noexcept {
  return question.collective == Collective::reduce || question.collective == Collective::reducescatter;
}

bool spares(const Question& question) noexcept {
  return question.spares_sms && !question.sizes_differ && question.nbytes >= kSparedFrom;
}

Algorithm pick(const Question& question, const Choice& choice) noexcept {
  if (question.sizes_differ) return Algorithm::packets;
  const Algorithm picked = choice.pick(question.collective, Reach::stream, question.nbytes, question.members);
  // The kernel of all types and operations takes chunks too slowly: for each chunk it calls a function, which saves and
  // restores registers.
  const bool forced = choice.is_forced(question.collective, Reach::stream);
  if (spares(question) && !reduces(question) && !forced) return Algorithm::engines;
  const bool is_slow = picked == Algorithm::staged && reduces(question) && !question.own_kernel;
  return is_slow && !forced ? Algorithm::direct : picked;
}

/// What there is where the way of the plan is not there for some member.
std::string otherwise(const Plan& plan) {
  if (plan.algorithm == Algorithm::engines) return "; staged where blocks do not lie alike in all heaps";
  return plan.algorithm == Algorithm::direct ? "; packets, or staged, where a buffer is not reached" : "";
}

const char* words_of(StepKind kind) noexcept {
  switch (kind) {
    case StepKind::exchange:
      return "exchange of packets";
    case StepKind::direct:
      return "from buffer to buffer";
    case StepKind::staged:
      return "chunks through scratch memory";
    case StepKind::begin:
      return "meeting";
    case StepKind::copies:
      return "copies by engines";
    case StepKind::end:
      return "meeting";
  }
  return "?";
}

}  // namespace

size_t part_nbytes(size_t nbytes, int members) noexcept {
  const auto n = static_cast<size_t>(members);
  return align_up((nbytes + n - 1) / n, kUnit);
}

Plan make_plan(const Question& question, const Choice& choice) noexcept {
  Plan plan{pick(question, choice)};
  // Of sizes that nobody knows: as many blocks as the largest pay for.
  const size_t nbytes = question.sizes_differ ? kMostBlocks * kManyThreads * kManyUnits * kUnit : question.nbytes;
  if (spares(question) && reduces(question)) plan.add({StepKind::begin, 1, kFewThreads});
  const size_t part = question.collective == Collective::reduce ? part_nbytes(nbytes, question.members) : nbytes;
  switch (plan.algorithm) {
    case Algorithm::parts:
      plan.add(exchange(question, part));
      break;
    case Algorithm::direct:
      plan.add(direct(question, part * static_cast<size_t>(question.members)));
      break;
    case Algorithm::staged:
      plan.add(staged(question, part));
      break;
    case Algorithm::engines:
      plan.add({StepKind::begin, 1, kFewThreads});
      plan.add(copies(question));
      plan.add(end(question));
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
  return line + otherwise(plan);
}

}  // namespace railshmem
