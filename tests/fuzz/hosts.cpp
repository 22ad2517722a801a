// SPDX-License-Identifier: BSD-3-Clause
// oshrun's lists of hosts, host files and the places of PEs on hosts, and lines of PEs' output.
#include "bootstrap/local/oshrun/hosts.h"

#include "bootstrap/local/oshrun/line_tagger.h"
#include "src/base/error.h"
#include "src/base/printable.h"
#include "tests/fuzz/fuzz.h"

namespace railshmem::oshrun {
namespace {

using fuzz::must;

/// Every PE has one place, and no host has more PEs than slots.
void check_places(const std::vector<Host>& hosts, int npes) {
  const std::vector<Share> shares = place(hosts, npes);
  int next = 0;
  for (const Share& share : shares) {
    must(share.count > 0 && share.first == next, "the shares of hosts are consecutive and not empty");
    next += share.count;
  }
  must(npes == 0 ? next > 0 : next == npes, "every PE has a place");
}

void read_hosts(fuzz::Input input, std::vector<Host> (*parse)(std::string_view)) {
  const int npes = input.u16();
  const std::string text = input.text();
  try {
    const std::vector<Host> hosts = parse(text);
    for (const Host& host : hosts)
      must(!host.name.empty() && host.name.front() != '-' && host.slots >= 0, "a host has a name that is no option");
    check_places(hosts, npes);
    check_places(hosts, 0);
  } catch (const Error&) {
  }
}

/// However output is cut into pieces, the lines are the same.
void tag_lines(fuzz::Input input) {
  const size_t step = input.u8() + size_t{1};
  const std::string text = input.text();
  LineTagger whole("[1] "), pieces("[1] ");
  std::string one = whole.feed(text), other;
  one += whole.finish();
  for (size_t at = 0; at < text.size(); at += step) other += pieces.feed(std::string_view(text).substr(at, step));
  other += pieces.finish();
  must(one == other, "tagged lines do not depend on how output is cut");
  const std::string shown = printable(text);
  for (const char c : shown)
    must(static_cast<uint8_t>(c) >= 0x20 && c != 0x7f, "printable text has no control characters");
  must(printable(shown) == shown, "printable text stays as it is");
}

std::vector<fuzz::Data> seeds() {
  using namespace std::string_view_literals;
  return {fuzz::seed("\0\3\0node1:4,node2"sv), fuzz::seed("\0\0\0user@[fe80::1]:2,10.0.0.1,::1"sv),
          fuzz::seed("\1\3\0\xef\xbb\xbf# two hosts\nnode1 slots = 4 max_slots=4\nnode2:3\n\n  node3  # one\n"sv),
          fuzz::seed("\1\0\0localhost\nlocalhost slots=2\n"sv),
          fuzz::seed("\2\3one line\nanother \x1b[31mline\n\xc3\xa9 \xe2\x80\xae end"sv)};
}

}  // namespace
}  // namespace railshmem::oshrun

RAILSHMEM_FUZZ(hosts, railshmem::oshrun::seeds) {
  switch (input.u8() % 3) {
    case 0:
      return railshmem::oshrun::read_hosts(input, railshmem::oshrun::parse_host_list);
    case 1:
      return railshmem::oshrun::read_hosts(input, railshmem::oshrun::parse_hostfile);
    default:
      return railshmem::oshrun::tag_lines(input);
  }
}
