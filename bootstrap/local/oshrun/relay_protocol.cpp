// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/relay_protocol.h"

namespace railshmem::oshrun::relay {

Bytes pack(const CrewOrder& order) {
  Packer out;
  out.add(order.first).add(order.count).add(order.npes).add(order.bind).add(order.report);
  out.add_text(order.directory);
  out.add(static_cast<uint32_t>(order.environment.size()));
  for (const auto& [name, value] : order.environment) out.add_text(name).add_text(value);
  out.add(static_cast<uint32_t>(order.command.size()));
  for (const std::string& word : order.command) out.add_text(word);
  return out.take();
}

CrewOrder unpack_order(const Bytes& bytes) {
  Unpacker in(bytes);
  CrewOrder order;
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
  return order;
}

}  // namespace railshmem::oshrun::relay
