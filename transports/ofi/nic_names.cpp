// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/nic_names.h"

#include <algorithm>

#include "src/base/error.h"

namespace railshmem::ofi {
namespace {

std::vector<std::string_view> split(std::string_view value, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = value.find(at);
    parts.push_back(value.substr(0, end));
    if (end == std::string_view::npos) return parts;
    value.remove_prefix(end + 1);
  }
}

std::vector<std::string> parse_list(std::string_view value) {
  std::vector<std::string> names;
  for (const std::string_view part : split(value, ',')) {
    const std::string name(part);
    if (name.empty()) throw Error("a name is empty");
    if (name.find_first_of("^ ") != std::string::npos)
      throw Error(text("'%s' is no name: '^' goes before the whole value, and there are no spaces", name.c_str()));
    if (std::find(names.begin(), names.end(), name) != names.end())
      throw Error(text("%s is named twice; SHMEM_OFI_RAILS_PER_NIC opens several rails on a NIC", name.c_str()));
    names.push_back(name);
  }
  return names;
}

}  // namespace

NicNames parse_nic_names(std::string_view value) {
  NicNames names;
  if (value.empty()) return names;
  names.kind = value.front() == '^' ? NicNames::Kind::except : NicNames::Kind::only;
  if (names.kind == NicNames::Kind::except) value.remove_prefix(1);
  for (const std::string_view part : split(value, ';')) names.lists.push_back(parse_list(part));
  if (names.kind == NicNames::Kind::except && names.lists.size() > 1) throw Error("'^' takes one list, without ';'");
  return names;
}

}  // namespace railshmem::ofi
