// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/relay_protocol.h"

namespace railshmem::oshrun::relay {
namespace {

void check(const ProcessGroupOrder& order) {
  const bool places = order.first >= 0 && order.count > 0 && order.npes > 0 && order.first < order.npes &&
                      order.count <= order.npes - order.first;
  if (!places || order.bind > Bind::none || order.report > Report::places || order.command.empty())
    throw Error(text("the order is no order of oshrun's: PEs from %d on, %d of %d, %zu words", order.first, order.count,
                     order.npes, order.command.size()));
}

}  // namespace

Bytes pack(const ProcessGroupOrder& order) {
  Packer out;
  out.add(order.first).add(order.count).add(order.npes).add(order.bind).add(order.report);
  out.add_text(order.directory);
  out.add(static_cast<uint32_t>(order.environment.size()));
  for (const auto& [name, value] : order.environment) out.add_text(name).add_text(value);
  out.add(static_cast<uint32_t>(order.command.size()));
  for (const std::string& word : order.command) out.add_text(word);
  return out.take();
}

ProcessGroupOrder unpack_order(const Bytes& bytes) {
  Unpacker in(bytes);
  ProcessGroupOrder order;
  order.first = in.get<int>();
  order.count = in.get<int>();
  order.npes = in.get<int>();
  order.bind = in.get<Bind>();
  order.report = in.get<Report>();
  order.output = Output::captured;
  order.directory = in.get_text();
  for (auto left = in.get<uint32_t>(); left > 0; --left) {
    std::string name = in.get_text();
    order.environment.emplace_back(std::move(name), in.get_text());
  }
  for (auto left = in.get<uint32_t>(); left > 0; --left) order.command.push_back(in.get_text());
  check(order);
  return order;
}

MessageToPe unpack_to_pe(const Bytes& bytes, const ProcessGroupOrder& order) {
  Unpacker in(bytes);
  MessageToPe out{in.get<int>(), in.get<uint32_t>(), {}};
  if (out.pe != kEveryPe && (out.pe < order.first || out.pe - order.first >= order.count))
    throw Error(text("a message is for PE %d, which is not here", out.pe));
  out.payload = std::make_shared<const Bytes>(in.rest().begin(), in.rest().end());
  return out;
}

}  // namespace railshmem::oshrun::relay
