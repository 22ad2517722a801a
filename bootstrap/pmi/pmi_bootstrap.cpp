// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/pmi/pmi_bootstrap.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>

#include "bootstrap/common/loaded_mpi.h"
#include "bootstrap/common/variables.h"
#include "bootstrap/pmi/base64.h"
#include "src/base/error.h"
#include "src/base/process.h"

namespace railshmem {

/// Finalizes PMI at exit when MPI was in the process but never started: the process manager takes an exit without
/// finalize for a crash and kills the other PEs.
struct pmi::FinalizeAtExit {
  pid_t owner = getpid();
  std::optional<pmi::Wire> wire;
};

namespace {

constexpr const char* kRemedy = "start the program with MPICH's mpiexec -n 2 program (mpiexec.hydra)";

/// Counts exchanges of the whole process: a key can be put only once per job, also by a second bootstrap.
uint64_t next_exchange() noexcept {
  return g_process.numbers.pmi_exchanges.fetch_add(1, std::memory_order_relaxed);
}

int number(pmi::Fields& fields, const char* key) {
  const std::string& value = fields[key];
  char* end = nullptr;
  const long out = std::strtol(value.c_str(), &end, 10);
  if (value.empty() || *end != '\0' || out < 0 || out > INT_MAX)
    throw Error(text("the PMI server's %s is '%s', expected a number", key, value.c_str()));
  return static_cast<int>(out);
}

/// Whether `host` is this host's own name. mpiexec may name the host that it runs on, though no name service knows it.
bool is_own_name(const std::string& host) {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, sizeof name - 1) == 0 && host == name;
}

UniqueFd connect_to_server(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  int status = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (status != 0 && is_own_name(host)) status = getaddrinfo(nullptr, port.c_str(), &hints, &found);  // loopback
  if (status != 0)
    throw Error(text("PMI_PORT names host '%s', which is unknown: %s", host.c_str(), gai_strerror(status)));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  for (const addrinfo* one = found; one; one = one->ai_next) {
    UniqueFd fd(socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (fd && connect(fd.get(), one->ai_addr, one->ai_addrlen) == 0) return fd;
  }
  throw Error(text("PMI_PORT is %s:%s, but no PMI server answers there", host.c_str(), port.c_str()));
}

void finalize(pmi::Wire& wire) noexcept {
  try {
    wire.ask("cmd=finalize", "finalize_ack");
  } catch (const std::exception& e) {
    log_debug("PMI finalize: %s", e.what());
  }
}

void finalize_at_exit() {
  pmi::FinalizeAtExit& mine = g_process.pmi_at_exit.get();
  const bool mpi_used = find_loaded_mpi().phase != MpiPhase::before_init;
  if (mine.wire && !mpi_used && getpid() == mine.owner) finalize(*mine.wire);
}

void keep_for_exit(pmi::Wire wire) {
  const auto make = [] {
    std::atexit(finalize_at_exit);
    return new pmi::FinalizeAtExit;
  };
  g_process.pmi_at_exit.get(make)->wire.emplace(std::move(wire));
}

}  // namespace

PmiBootstrap::PmiBootstrap(double timeout_s, const BootstrapRequest& request)
    : timeout_s_(timeout_s), owner_(getpid()) {
  if (has_variable("PMI_FD"))
    connect_fd();
  else
    connect_port();
  wire_->ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init");
  pmi::Fields maxes = wire_->ask("cmd=get_maxes", "maxes");
  kvs_ = wire_->ask("cmd=get_my_kvsname", "my_kvsname")["kvsname"];
  // The maximum counts the terminating zero; 768 keeps the whole line below 1024, the line buffer of older servers.
  constexpr int kLongestValue = 768;
  const int value_length = std::min(number(maxes, "vallen_max") - 1, kLongestValue);
  if (value_length < 4) throw Error(text("the PMI server allows values of %d characters only", value_length));
  chunk_nbytes_ = static_cast<size_t>(value_length) / 4 * 3;
  if (request.make_heir) try {
      heir_ = request.make_heir(*this);
    } catch (const std::exception& e) {  // PMI serves until MPI_Finalize
      why_no_heir_ = text("; connections between the PEs, which outlive MPI_Finalize, cannot be made: %s", e.what());
    }
}

void PmiBootstrap::connect_fd() {
  const int fd = need_number("PMI_FD", 0, INT_MAX, "pmi", kRemedy);
  pe_ = need_number("PMI_RANK", 0, INT_MAX, "pmi", kRemedy);
  npes_ = need_number("PMI_SIZE", pe_ + 1, INT_MAX, "pmi", kRemedy);
  // Uses a copy of the descriptor: MPI_Init of this process may want the original later.
  UniqueFd copy(fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!copy) throw Error(text("PMI_FD is %d, which is not open: the program was started by a PE, not by mpiexec", fd));
  wire_.emplace(std::move(copy), timeout_s_);
}

void PmiBootstrap::connect_port() {
  const std::string place = need_variable("PMI_PORT", "pmi", kRemedy);
  const int id = need_number("PMI_ID", 0, INT_MAX, "pmi", kRemedy);
  const size_t colon = place.rfind(':');
  if (colon == std::string::npos)
    throw Error(text("PMI_PORT is '%s'; the launcher must set it to HOST:PORT", place.c_str()));
  wire_.emplace(connect_to_server(place.substr(0, colon), place.substr(colon + 1)), timeout_s_);
  wire_->ask(text("cmd=initack pmiid=%d", id), "initack");
  pmi::Fields size = wire_->receive("set");
  pmi::Fields rank = wire_->receive("set");
  wire_->receive("set");  // debug
  npes_ = number(size, "size");
  pe_ = number(rank, "rank");
}

PmiBootstrap::~PmiBootstrap() {
  if (getpid() != owner_) return;
  // PMI can be finalized once per process. An MPI library in the process does this itself; its MPI_Init may come later.
  if (find_loaded_mpi().flavour == MpiFlavour::none)
    finalize(*wire_);
  else
    keep_for_exit(std::move(*wire_));
}

void PmiBootstrap::allgather(std::span<const std::byte> mine, std::span<std::byte> all) {
  if (all.size() != mine.size() * static_cast<size_t>(npes_))
    throw Error(text("an exchange of %zu bytes per PE among %d PEs has room for %zu", mine.size(), npes_, all.size()));
  if (heir_) return heir_->allgather(mine, all);
  const auto exchange = static_cast<unsigned long long>(next_exchange());
  const auto chunk_of = [&](auto whole, size_t offset) {
    return whole.subspan(offset, std::min(chunk_nbytes_, whole.size() - offset));
  };
  for (size_t offset = 0; offset < mine.size(); offset += chunk_nbytes_)
    wire_->ask(text("cmd=put kvsname=%s key=railshmem-%llu-%d-%zu value=%s", kvs_.c_str(), exchange, pe_,
                    offset / chunk_nbytes_, pmi::encode_base64(chunk_of(mine, offset)).c_str()),
               "put_result");
  barrier();
  for (int pe = 0; pe < npes_; ++pe) {
    const auto slot = all.subspan(static_cast<size_t>(pe) * mine.size(), mine.size());
    for (size_t offset = 0; offset < slot.size(); offset += chunk_nbytes_) {
      const std::string key = text("railshmem-%llu-%d-%zu", exchange, pe, offset / chunk_nbytes_);
      const Bytes bytes = pmi::decode_base64(
          wire_->ask(text("cmd=get kvsname=%s key=%s", kvs_.c_str(), key.c_str()), "get_result")["value"]);
      const auto chunk = chunk_of(slot, offset);
      if (bytes.size() != chunk.size())
        throw Error(
            text("PE %d came to an exchange of another size than PE %d: the PEs do not make the same calls in "
                 "the same order",
                 pe, pe_));
      std::copy(bytes.begin(), bytes.end(), chunk.begin());
    }
  }
}

void PmiBootstrap::barrier() {
  if (heir_) return heir_->barrier();
  try {
    wire_->ask("cmd=barrier_in", "barrier_out");
  } catch (const Error& e) {
    throw Error(text("PE %d waits in a barrier of %d PEs, and PMI does not tell for whom: %s%s", pe_, npes_, e.what(),
                     why_no_heir_.c_str()));
  }
}

void PmiBootstrap::notify_end(int status, std::string_view why) noexcept {
  try {
    wire_->send(text("cmd=abort exitcode=%d", status));
    // The process manager kills us; leaving earlier could make it report our exit instead of this status.
    poll(nullptr, 0, 2000);
  } catch (...) {  // the process manager is gone, and with it the job; or MPI has ended PMI
  }
  if (heir_) heir_->notify_end(status, why);
}

}  // namespace railshmem
