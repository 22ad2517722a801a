// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/env_types.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "src/base/error.h"

namespace railshmem {
namespace {

/// A table of words and their meaning; the error lists every word.
template <class V, size_t N>
V choose(std::string_view value, const std::array<std::pair<const char*, V>, N>& words) {
  std::string accepted;
  for (const auto& [word, meaning] : words) {
    if (value == word) return meaning;
    accepted += accepted.empty() ? "" : ", ";
    accepted += word;
  }
  throw Error("accepted: " + accepted);
}

int scale_bits(char suffix) {
  switch (suffix) {
    case 'k':
    case 'K':
      return 10;
    case 'm':
    case 'M':
      return 20;
    case 'g':
    case 'G':
      return 30;
    case 't':
    case 'T':
      return 40;
    default:
      return -1;
  }
}

std::vector<std::string_view> split(std::string_view whole, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = whole.find(separator);
    parts.push_back(whole.substr(0, end));
    if (end == std::string_view::npos) return parts;
    whole.remove_prefix(end + 1);
  }
}

constexpr int kMostCpus = 1024;  // of a cpu_set_t

/// "3" or "4-7"
void add_cpus(std::string_view range, std::vector<int>& cpus) {
  int first = -1, last = -1;
  const char* const end = range.data() + range.size();
  auto read = std::from_chars(range.data(), end, first);
  last = first;
  if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
  if (read.ec != std::errc() || read.ptr != end || first < 0 || last < first || last >= kMostCpus)
    throw Error(text("accepted: auto, none, or CPUs below %d like 3 or 0,4-7, with ; between lists for several PEs",
                     kMostCpus));
  for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
}

}  // namespace

uint64_t parse_size(std::string_view value) {
  static constexpr const char* kForm =
      "accepted: a number >= 0, also with a fraction, and an optional suffix K, M, G or T, for example 512M or 1.5g";
  double number = 0;
  // 'fixed' leaves 1e3 unread, which then fails as a suffix: the standard has no exponent form.
  const auto [end, status] =
      std::from_chars(value.data(), value.data() + value.size(), number, std::chars_format::fixed);
  if (status != std::errc{} || !std::isfinite(number) || std::signbit(number)) throw Error(kForm);
  int bits = 0;
  if (end != value.data() + value.size() && (bits = scale_bits(*end)) < 0) throw Error(kForm);
  const double bytes = std::ceil(std::ldexp(number, bits));
  if (bytes >= 0x1p63) throw Error("accepted: less than 2^63 bytes");
  return static_cast<uint64_t>(bytes);
}

namespace env_types {

bool Flag::parse(std::string_view) {
  return true;
}
bool Switch::parse(std::string_view value) {
  return choose<bool, 4>(value, {{{"1", true}, {"0", false}, {"on", true}, {"off", false}}});
}
std::string Text::parse(std::string_view value) {
  return std::string(value);
}
std::string Secret::parse(std::string_view value) {
  if (!value.empty() && value.size() < kShortestSecret)
    throw Error(text("it has %zu characters and needs %zu or more, such as: openssl rand -hex 32", value.size(),
                     kShortestSecret));
  return std::string(value);
}
uint64_t Size::parse(std::string_view value) {
  return parse_size(value);
}

uint64_t HeapSize::parse(std::string_view value) {
  if (value == "auto") return kAutomaticSize;
  try {
    return parse_size(value);
  } catch (const Error& e) {
    throw Error(std::string(e.what()) + ", or auto");
  }
}

uint64_t Count::parse(std::string_view value) {
  uint64_t count = 0;
  const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), count);
  constexpr uint64_t kLargest = 1u << 30;  // far above any sensible count, far below an overflow of products
  if (status != std::errc{} || end != value.data() + value.size() || count > kLargest)
    throw Error("accepted: a whole number from 0 to 1073741824");
  return count;
}

double Seconds::parse(std::string_view value) {
  double seconds = 0;
  const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  constexpr double kLargest = 1e8;  // three years
  if (status != std::errc{} || end != value.data() + value.size() || !(seconds >= 0 && seconds <= kLargest))
    throw Error("accepted: seconds from 0 to 100000000, also with a fraction, for example 0.5");
  return seconds;
}

LogLevel LogLevelText::parse(std::string_view value) {
  static constexpr std::array<std::pair<std::string_view, LogLevel>, 10> kWords{{
      {"error", LogLevel::error},
      {"warn", LogLevel::warn},
      {"info", LogLevel::info},
      {"debug", LogLevel::debug},
      {"trace", LogLevel::trace},
      {"0", LogLevel::error},
      {"1", LogLevel::warn},
      {"2", LogLevel::info},
      {"3", LogLevel::debug},
      {"4", LogLevel::trace},
  }};
  for (const auto& [word, level] : kWords)
    if (value == word) return level;
  return LogLevel::debug;  // the standard: any value switches debugging on
}

BootstrapKind BootstrapName::parse(std::string_view value) {
  return choose<BootstrapKind, 6>(value, {{{"auto", BootstrapKind::automatic},
                                           {"local", BootstrapKind::local},
                                           {"tcp", BootstrapKind::tcp},
                                           {"pmi", BootstrapKind::pmi},
                                           {"pmix", BootstrapKind::pmix},
                                           {"mpi", BootstrapKind::mpi}}});
}

std::vector<TransportKind> TransportList::parse(std::string_view value) {
  static constexpr std::array<std::pair<std::string_view, TransportKind>, 3> kWords{
      {{"p2p", TransportKind::p2p}, {"ofi", TransportKind::ofi}, {"loopback", TransportKind::loopback}}};
  std::vector<TransportKind> list;
  if (value == "auto") return list;
  while (true) {
    const size_t comma = value.find(',');
    const std::string_view word = value.substr(0, comma);
    const auto* const found =
        std::find_if(kWords.begin(), kWords.end(), [&](const auto& known) { return known.first == word; });
    if (found == kWords.end() || std::find(list.begin(), list.end(), found->second) != list.end())
      throw Error("accepted: auto, or a list of p2p, ofi and loopback with commas between them, each at most once");
    list.push_back(found->second);
    if (comma == std::string_view::npos) return list;
    value.remove_prefix(comma + 1);
  }
}

HeapKind HeapKindName::parse(std::string_view value) {
  return choose<HeapKind, 3>(value,
                             {{{"auto", HeapKind::automatic}, {"host", HeapKind::host}, {"device", HeapKind::device}}});
}

HugePagesMode HugePages::parse(std::string_view value) {
  return choose<HugePagesMode, 3>(
      value, {{{"auto", HugePagesMode::automatic}, {"on", HugePagesMode::on}, {"off", HugePagesMode::off}}});
}

DataSegmentMode DataSegment::parse(std::string_view value) {
  return choose<DataSegmentMode, 4>(value, {{{"auto", DataSegmentMode::automatic},
                                             {"shared", DataSegmentMode::shared},
                                             {"network", DataSegmentMode::network},
                                             {"off", DataSegmentMode::off}}});
}

OfiProgressMode OfiProgress::parse(std::string_view value) {
  return choose<OfiProgressMode, 3>(value, {{{"auto", OfiProgressMode::automatic},
                                             {"manual", OfiProgressMode::manual},
                                             {"thread", OfiProgressMode::thread}}});
}

GpuContextMode GpuContext::parse(std::string_view value) {
  return choose<GpuContextMode, 2>(value, {{{"program", GpuContextMode::program}, {"own", GpuContextMode::own}}});
}

GatherProtocol GatherProtocolName::parse(std::string_view value) {
  return choose<GatherProtocol, 3>(
      value, {{{"auto", GatherProtocol::automatic}, {"get", GatherProtocol::get}, {"put", GatherProtocol::put}}});
}

OfiHmemMode OfiHmem::parse(std::string_view value) {
  return choose<OfiHmemMode, 4>(value, {{{"auto", OfiHmemMode::automatic},
                                         {"hmem", OfiHmemMode::hmem},
                                         {"dmabuf", OfiHmemMode::dmabuf},
                                         {"staging", OfiHmemMode::staging}}});
}

FlushMode FlushName::parse(std::string_view value) {
  return choose<FlushMode, 5>(value, {{{"auto", FlushMode::automatic},
                                       {"none", FlushMode::none},
                                       {"cuda", FlushMode::cuda},
                                       {"read", FlushMode::read},
                                       {"write_read", FlushMode::write_read}}});
}

CpuWish CpuLists::parse(std::string_view value) {
  if (value == "auto") return {};
  if (value == "none") return {CpuWish::Kind::none};
  CpuWish wish{CpuWish::Kind::lists};
  for (const std::string_view list : split(value, ';')) {
    wish.lists.emplace_back();
    for (const std::string_view range : split(list, ',')) add_cpus(range, wish.lists.back());
  }
  return wish;
}

}  // namespace env_types
}  // namespace railshmem
