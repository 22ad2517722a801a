// SPDX-License-Identifier: BSD-3-Clause
// PEs of an MPI program: collectives on a communicator of our own. Compiled once for every MPI that is installed.
#include <mpi.h>
#include <poll.h>
#include <unistd.h>

#include <climits>

#include "bootstrap/common/deadline.h"
#include "bootstrap/common/plugin_entry.h"
#include "src/base/error.h"

namespace railshmem {
namespace {

void check_mpi(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  char reason[MPI_MAX_ERROR_STRING] = "?";
  int length = 0;
  MPI_Error_string(status, reason, &length);
  throw Error(text("%s failed: %s", call, reason));
}

bool mpi_says(int (*question)(int*)) noexcept {
  int answer = 0;
  return question(&answer) == MPI_SUCCESS && answer != 0;
}

/// MPI_Init and MPI_Finalize when nobody else does them.
class MpiSession {
 public:
  MpiSession() : ours_(!mpi_says(MPI_Initialized)) {
    int provided = 0;
    if (ours_) check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  }
  ~MpiSession() {
    if (ours_ && owner_ == getpid() && !mpi_says(MPI_Finalized)) MPI_Finalize();
  }
  MpiSession(const MpiSession&) = delete;  // finalizes once

  /// A forked child must leave MPI alone; so must everyone after MPI_Finalize.
  bool usable() const noexcept { return owner_ == getpid() && !mpi_says(MPI_Finalized); }

 private:
  bool ours_;
  pid_t owner_ = getpid();
};

}  // namespace

class MpiBootstrap final : public Bootstrap {
 public:
  MpiBootstrap(double timeout_s, MPI_Comm* from) : timeout_s_(timeout_s) {
    // Not the user's communicator: our messages must not meet theirs.
    check_mpi(MPI_Comm_dup(from ? *from : MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &pe_);
    MPI_Comm_size(comm_, &npes_);
  }
  ~MpiBootstrap() override {
    if (session_.usable()) MPI_Comm_free(&comm_);
  }

  std::string_view name() const noexcept override { return "mpi"; }
  int pe() const noexcept override { return pe_; }
  int npes() const noexcept override { return npes_; }

  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    if (all.size() != mine.size() * static_cast<size_t>(npes_))
      throw Error(
          text("an exchange of %zu bytes per PE among %d PEs has room for %zu", mine.size(), npes_, all.size()));
    if (mine.size() > INT_MAX) throw Error(text("an exchange of %zu bytes per PE is too large for MPI", mine.size()));
    must_be_usable();
    const int nbytes = static_cast<int>(mine.size());
    MPI_Request request;
    check_mpi(MPI_Iallgather(mine.data(), nbytes, MPI_BYTE, all.data(), nbytes, MPI_BYTE, comm_, &request),
              "MPI_Iallgather");
    finish(request, "MPI_Iallgather");
  }

  void barrier() override {
    must_be_usable();
    MPI_Request request;
    check_mpi(MPI_Ibarrier(comm_, &request), "MPI_Ibarrier");
    finish(request, "MPI_Ibarrier");
  }

  [[noreturn]] void abort(int status, std::string_view) noexcept override {
    if (session_.usable()) MPI_Abort(comm_, status);
    _exit(status);
  }

 private:
  void must_be_usable() const {
    if (!session_.usable())
      throw Error(
          "OpenSHMEM was started inside MPI and must be finalized before MPI_Finalize, in the process that "
          "started it");
  }

  void finish(MPI_Request request, const char* call) {
    const Deadline deadline = Deadline::of_limit(timeout_s_);
    for (int complete = 0, looks = 0;; ++looks) {
      const bool last = deadline.passed();
      check_mpi(MPI_Test(&request, &complete, MPI_STATUS_IGNORE), call);
      if (complete) return;
      if (last)
        throw Error(text("PE %d waited %g s (SHMEM_TIMEOUT) in %s among %d PEs; MPI does not tell who is missing", pe_,
                         timeout_s_, call, npes_));
      constexpr int kEagerLooks = 1000;  // then the others are late, and the core serves better elsewhere
      if (looks > kEagerLooks) poll(nullptr, 0, 1);
    }
  }

  double timeout_s_;
  MpiSession session_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int pe_ = 0;
  int npes_ = 1;
};

}  // namespace railshmem

RAILSHMEM_PLUGIN_VERSION_HERE;
RAILSHMEM_PLUGIN_EXPORT railshmem::Bootstrap* railshmem_make_bootstrap(const railshmem::Env& env,
                                                                       const railshmem::BootstrapRequest& request) {
  return new railshmem::MpiBootstrap(env.timeout_s, static_cast<MPI_Comm*>(request.mpi_comm));
}
