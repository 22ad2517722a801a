// SPDX-License-Identifier: BSD-3-Clause
// A process manager that says anything over PMI: lines, base64 values, and a whole start with one exchange.
#include <sys/socket.h>

#include "bootstrap/pmi/base64.h"
#include "bootstrap/pmi/pmi_bootstrap.h"
#include "src/base/error.h"
#include "tests/fuzz/fuzz.h"

namespace railshmem {
namespace {

using fuzz::must;

void read_values(fuzz::Input input) {
  const std::vector<std::byte> bytes = input.bytes(input.u8());
  must(pmi::decode_base64(pmi::encode_base64(bytes)) == bytes, "base64 brings back the bytes");
  const std::string line = input.text();
  for (const auto& [key, value] : pmi::parse_line(line))
    must(key.find('=') == std::string::npos && value.find(' ') == std::string::npos, "a value ends at a blank");
  try {
    (void)pmi::decode_base64(line);
  } catch (const Error&) {
  }
}

/// The server's lines are in the socket before the PE asks, and nothing follows them.
void start(fuzz::Input input) {
  constexpr int kServerFd = 900;
  int ends[2];
  must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "there are sockets");
  const UniqueFd server(ends[0]);
  must(dup2(ends[1], kServerFd) == kServerFd, "there are descriptors");
  close(ends[1]);
  const UniqueFd pes(kServerFd);
  const std::string lines = input.text();
  must(send(server.get(), lines.data(), lines.size(), MSG_DONTWAIT) == static_cast<ssize_t>(lines.size()),
       "a socket takes one input");
  shutdown(server.get(), SHUT_WR);
  try {
    PmiBootstrap bootstrap(1.0, BootstrapRequest{});
    const std::vector<std::byte> mine(24, std::byte{7});
    std::vector<std::byte> all(mine.size() * static_cast<size_t>(bootstrap.npes()));
    bootstrap.allgather(mine, all);
  } catch (const Error&) {
  }
}

std::vector<fuzz::Data> seeds() {
  const std::string bytes(24, '\7');
  const std::string value = pmi::encode_base64(std::as_bytes(std::span(bytes.data(), bytes.size())));
  const std::string hello =
      "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
      "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\ncmd=my_kvsname kvsname=kvs_4711_0\n";
  const std::string exchange = "cmd=put_result rc=0 msg=success\ncmd=barrier_out\ncmd=get_result rc=0 value=" + value +
                               "\ncmd=get_result rc=0 value=" + value + "\ncmd=finalize_ack\n";
  return {fuzz::seed("\1" + hello + exchange), fuzz::seed("\1" + hello + "cmd=put_result rc=-1 msg=bad_key\n"),
          fuzz::seed("\2\3abccmd=get_result rc=0 value=" + value), fuzz::seed("\2\1a" + value)};
}

}  // namespace
}  // namespace railshmem

RAILSHMEM_FUZZ(pmi, railshmem::seeds) {
  setenv("PMI_FD", "900", 1);
  setenv("PMI_RANK", "1", 1);
  setenv("PMI_SIZE", "2", 1);
  if (input.u8() % 2 == 1)
    railshmem::start(input);
  else
    railshmem::read_values(input);
}
