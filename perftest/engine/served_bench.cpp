// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/engine/served_bench.h"

#include <array>

#include "perftest/engine/instructions.h"
#include "perftest/engine/request_rail.h"
#include "src/base/cpu.h"
#include "src/base/log.h"
#include "src/proxy/target/responder.h"

namespace railshmem::perftest {
namespace {

constexpr uint64_t kBatch = 64;  // what a peer sends before it looks for answers

AmoMessage first_request() {
  AmoMessage message{};
  message.header.kind = MessageKind::amo;
  message.header.op = static_cast<uint8_t>(AmoOp::add);
  message.header.width = sizeof(uint64_t);
  message.header.answer = Answer::acknowledge;
  message.header.port = Port::host;
  message.header.pe = 1;
  message.operand = 1;
  return message;
}

}  // namespace

EngineFigures measure_served(const EngineBenchOptions& options) {
  std::array<uint64_t, 8> heap{};
  RequestRail rail(first_request());
  Initiator<RequestRail> initiator(std::span(&rail, 1), InitiatorConfig{Port::proxy, 0, 2, 64});
  const Segment segment{SegmentId::heap, reinterpret_cast<std::byte*>(heap.data()), sizeof heap};
  Responder<RequestRail> responder(initiator, std::span(&segment, 1), 2);
  const Instructions counter;
  const uint64_t before = counter.read().value_or(0);
  const uint64_t start = now_ns();
  uint64_t served = 0;
  for (; served < options.commands; served += kBatch) {
    rail.send_me(kBatch);
    while (rail.left() > 0)
      initiator.poll([&](size_t r, const std::byte* bytes, size_t n) { responder.execute(r, bytes, n); });
    responder.flush();
  }
  const uint64_t spent_ns = now_ns() - start;
  const uint64_t retired = counter.read().value_or(0) - before;
  if (heap[0] != served) die("engine bench: %llu requests were served", static_cast<unsigned long long>(heap[0]));
  EngineFigures figures{static_cast<double>(served) * 1e3 / static_cast<double>(spent_ns), {}};
  if (counter.read()) figures.instructions = static_cast<double>(retired) / static_cast<double>(served);
  return figures;
}

}  // namespace railshmem::perftest
