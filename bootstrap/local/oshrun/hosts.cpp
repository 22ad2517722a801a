// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/hosts.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <unordered_map>

#include "bootstrap/local/oshrun/own_host.h"
#include "src/base/error.h"

namespace railshmem::oshrun {
namespace {

constexpr int kMostSlots = 1 << 20;  // as many as a job has PEs at most

int parse_slots(std::string_view digits, const std::string& entry) {
  int slots = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), slots);
  if (failed != std::errc() || end != digits.data() + digits.size() || slots < 1 || slots > kMostSlots)
    throw Error(
        text("'%s' does not say how many PEs the host takes; use NAME, NAME:NUMBER or, in a hostfile, NAME "
             "slots=NUMBER, with a number from 1 to %d",
             entry.c_str(), kMostSlots));
  return slots;
}

std::string trimmed(std::string_view in) {
  constexpr const char* kBlanks = " \t\r\n";
  const size_t first = in.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return std::string(in.substr(first, in.find_last_not_of(kBlanks) + 1 - first));
}

Host parse_host(std::string_view given) {
  const std::string entry = trimmed(given);
  Host host{entry, 0};
  const size_t colon = entry.rfind(':');
  // Several colons without brackets are an IPv6 address.
  const bool bare_ipv6 = std::count(entry.begin(), entry.end(), ':') > 1 && entry.find(']') == std::string::npos;
  if (colon != std::string::npos && !bare_ipv6 && entry.back() != ']')
    host = {entry.substr(0, colon), parse_slots(std::string_view(entry).substr(colon + 1), entry)};
  if (host.name.size() > 2 && host.name.front() == '[' && host.name.back() == ']')
    host.name = host.name.substr(1, host.name.size() - 2);
  // ssh would take it for an option.
  if (host.name.empty() || host.name.front() == '-' || host.name.find_first_of(" \t") != std::string::npos)
    throw Error(text("'%s' is no name of a host", entry.c_str()));
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
  std::unordered_map<std::string, size_t> places;  // in `out`
  for (const Host& host : hosts) places.emplace(comparable_name(host.name), places.size());
  const bool counted = places.size() < hosts.size() ||
                       std::any_of(hosts.begin(), hosts.end(), [](const Host& host) { return host.slots > 0; });
  std::vector<Host> out(places.size());
  for (const Host& host : hosts) {
    Host& one = out[places.at(comparable_name(host.name))];
    if (one.name.empty()) one.name = host.name;
    one.slots = std::min(one.slots + (host.slots > 0 ? host.slots : counted ? 1 : 0), kMostSlots);
  }
  return out;
}

/// The words of a line without its comment; blanks around '=' do not count.
std::vector<std::string> words_of(std::string_view line) {
  std::string closed;
  for (const char c : line.substr(0, line.find('#'))) {
    if (c == '=') closed.erase(closed.find_last_not_of(" \t") + 1);
    if ((c != ' ' && c != '\t') || closed.empty() || closed.back() != '=') closed += c;
  }
  std::istringstream in(closed);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// The number of a word "slots=4" for the key "slots"; none for another key.
std::optional<int> number_for(std::string_view key, std::string_view word, const std::string& line) {
  if (!word.starts_with(key) || word.substr(key.size()).substr(0, 1) != "=") return std::nullopt;
  return parse_slots(word.substr(key.size() + 1), line);
}

/// Reads a line of a hostfile that names a host. max_slots is how far other launchers may exceed slots; here slots
/// is the most already.
Host parse_line(const std::vector<std::string>& words, const std::string& line) {
  Host host = parse_host(words.front());
  int most = 0;
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (const auto slots = number_for("slots", word, line))
      host.slots = *slots;
    else if (const auto bound = number_for("max_slots", word, line))
      most = *bound;
    else if (const auto dashed = number_for("max-slots", word, line))
      most = *dashed;
    else
      throw Error(text("'%s' is no line of a hostfile; use NAME, NAME:NUMBER or NAME slots=NUMBER max_slots=NUMBER",
                       line.c_str()));
  }
  if (most != 0 && host.slots > most)
    throw Error(text("'%s' has more slots than its max_slots; lower slots or raise max_slots", line.c_str()));
  if (host.slots == 0) host.slots = most;
  return host;
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
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // some editors begin files of UTF-8 with it
  if (content.starts_with(kByteOrderMark)) content.remove_prefix(kByteOrderMark.size());
  std::vector<Host> hosts;
  std::istringstream in{std::string(content)};
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> words = words_of(line);
    if (!words.empty()) hosts.push_back(parse_line(words, trimmed(line)));
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
  int64_t slots = 0;
  for (const Host& host : all) slots += host.slots;
  if (npes == 0 && slots > kMostSlots)
    throw Error(text("the hosts have %lld slots, and a job has at most %d PEs; say how many with -n",
                     static_cast<long long>(slots), kMostSlots));
  const auto room = static_cast<int>(std::min<int64_t>(slots, kMostSlots));
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

}  // namespace railshmem::oshrun
