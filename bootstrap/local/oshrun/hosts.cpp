// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/hosts.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "src/base/error.h"

namespace railshmem::oshrun {
namespace {

constexpr int kMostSlots = 1 << 20;

int parse_slots(std::string_view digits, const std::string& entry) {
  int slots = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), slots);
  if (failed != std::errc() || end != digits.data() + digits.size() || slots < 1 || slots > kMostSlots)
    throw Error(text("'%s' is no host with a number of PEs; accepted is NAME or NAME:NUMBER", entry.c_str()));
  return slots;
}

Host parse_host(const std::string& entry) {
  Host host{entry, 0};
  const size_t colon = entry.rfind(':');
  // Several colons without brackets are an IPv6 address.
  const bool bare_ipv6 = std::count(entry.begin(), entry.end(), ':') > 1 && entry.find(']') == std::string::npos;
  if (colon != std::string::npos && !bare_ipv6 && entry.back() != ']')
    host = {entry.substr(0, colon), parse_slots(std::string_view(entry).substr(colon + 1), entry)};
  if (host.name.size() > 2 && host.name.front() == '[' && host.name.back() == ']')
    host.name = host.name.substr(1, host.name.size() - 2);
  // ssh would take it for an option.
  if (host.name.empty() || host.name.front() == '-') throw Error(text("'%s' is no name of a host", entry.c_str()));
  return host;
}

/// Gives all mentions of this host, under any of its names, the name of the first mention.
std::vector<Host> with_one_own_name(std::vector<Host> hosts) {
  std::string own;
  for (Host& host : hosts) {
    if (!is_this_host(host.name)) continue;
    if (own.empty()) own = host.name;
    host.name = own;
  }
  return hosts;
}

/// Every host once, in the order of first mention.
std::vector<Host> merged(const std::vector<Host>& hosts) {
  const bool counted = std::any_of(hosts.begin(), hosts.end(), [&](const Host& host) {
    return host.slots > 0 ||
           std::count_if(hosts.begin(), hosts.end(), [&](const Host& other) { return other.name == host.name; }) > 1;
  });
  std::vector<Host> out;
  for (const Host& host : hosts) {
    const int slots = host.slots > 0 ? host.slots : counted ? 1 : 0;
    const auto known = std::find_if(out.begin(), out.end(), [&](const Host& one) { return one.name == host.name; });
    if (known == out.end())
      out.push_back({host.name, slots});
    else
      known->slots += slots;
  }
  return out;
}

}  // namespace

std::vector<Host> parse_host_list(std::string_view list) {
  std::vector<Host> hosts;
  std::istringstream in{std::string(list)};
  for (std::string entry; std::getline(in, entry, ',');) hosts.push_back(parse_host(entry));
  if (hosts.empty()) throw Error("the list of hosts is empty");
  return hosts;
}

std::vector<Host> parse_hostfile(std::string_view content) {
  std::vector<Host> hosts;
  std::istringstream in{std::string(content)};
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name, slots, more;
    if (!(words >> name)) continue;
    hosts.push_back(parse_host(name));
    constexpr std::string_view kSlots = "slots=";
    if (!(words >> slots)) continue;
    if (slots.rfind(kSlots, 0) != 0 || words >> more)
      throw Error(
          text("'%s' is no line of a hostfile; accepted is NAME, NAME:NUMBER or NAME slots=NUMBER", line.c_str()));
    hosts.back().slots = parse_slots(std::string_view(slots).substr(kSlots.size()), line);
  }
  if (hosts.empty()) throw Error("the hostfile names no host");
  return hosts;
}

std::vector<Share> place(const std::vector<Host>& hosts, int npes) {
  std::vector<Host> all = merged(with_one_own_name(hosts));
  const auto nhosts = static_cast<int>(all.size());
  if (all.front().slots == 0)
    for (int i = 0; i < nhosts; ++i)
      all[static_cast<size_t>(i)].slots = npes == 0 ? 1 : npes / nhosts + (i < npes % nhosts ? 1 : 0);
  int room = 0;
  for (const Host& host : all) room += host.slots;
  if (npes > room)
    throw Error(
        text("%d PEs do not fit on the %d slot%s of %d host%s; give hosts more slots (NAME:NUMBER), or none at "
             "all to divide the PEs evenly",
             npes, room, room == 1 ? "" : "s", nhosts, nhosts == 1 ? "" : "s"));
  std::vector<Share> shares;
  int next = 0;
  for (const Host& host : all) {
    const int count = std::min(host.slots, (npes == 0 ? room : npes) - next);
    if (count > 0) shares.push_back({host.name, next, count});
    next += std::max(count, 0);
  }
  return shares;
}

bool is_this_host(const std::string& name) {
  char mine[256] = "";
  gethostname(mine, sizeof mine - 1);
  const std::string own = mine;
  return name == "localhost" || name == own || name == own.substr(0, own.find('.'));
}

}  // namespace railshmem::oshrun
