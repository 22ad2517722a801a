// SPDX-License-Identifier: BSD-3-Clause
// PEs of an MPI program: collectives on a communicator of our own. Compiled once for every MPI that is installed.
#include <mpi.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

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

// Open MPI has sessions since 5.0, which does not yet call itself MPI 4.
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
#define RAILSHMEM_MPI_SESSIONS 1
#else
#define RAILSHMEM_MPI_SESSIONS 0
#endif

/// The MPI that a bootstrap runs in: the program's, or one that is started for it where the program has started none. A
/// session leaves the program free to call MPI_Init and MPI_Finalize whenever it likes.
class RunningMpi {
 public:
  /// `from` is null, or a communicator of the program's.
  explicit RunningMpi(MPI_Comm* from) : theirs_(mpi_says(MPI_Initialized)) {
    if (theirs_) {
      // Not the user's communicator: our messages must not meet theirs.
      check_mpi(MPI_Comm_dup(from ? *from : MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
    } else {
      start();
    }
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ~RunningMpi() {
    if (!usable()) return;
    MPI_Comm_free(&comm_);
    if (!theirs_) stop();
  }
  RunningMpi(const RunningMpi&) = delete;  // ends once

  /// A forked child must leave MPI alone; so must everyone after the program's MPI_Finalize.
  bool usable() const noexcept {
    return owner_ == getpid() && ((RAILSHMEM_MPI_SESSIONS && !theirs_) || !mpi_says(MPI_Finalized));
  }
  MPI_Comm comm() const noexcept { return comm_; }
  /// Whether the program has started it, and ends it when it likes.
  bool theirs() const noexcept { return theirs_; }

 private:
#if RAILSHMEM_MPI_SESSIONS
  void start() {
    check_mpi(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session_), "MPI_Session_init");
    MPI_Group world = MPI_GROUP_NULL;
    check_mpi(MPI_Group_from_session_pset(session_, "mpi://WORLD", &world), "MPI_Group_from_session_pset");
    const int status = MPI_Comm_create_from_group(world, "railshmem", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm_);
    MPI_Group_free(&world);
    check_mpi(status, "MPI_Comm_create_from_group");
  }
  void stop() {
    MPI_Session_finalize(&session_);
  }
  MPI_Session session_ = MPI_SESSION_NULL;
#else
  void start() {
    int provided = 0;
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
  }
  void stop() {
    MPI_Finalize();
  }
#endif
  bool theirs_;
  pid_t owner_ = getpid();
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Calls a function at the beginning of the program's MPI_Finalize, when all of MPI still works: MPI deletes the
/// attributes of MPI_COMM_SELF first.
class MpiEnd {
 public:
  explicit MpiEnd(std::function<void()> at_end) : at_end_(std::move(at_end)) {
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &key_, nullptr), "MPI_Comm_create_keyval");
    check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, key_, this), "MPI_Comm_set_attr");
  }
  MpiEnd(const MpiEnd&) = delete;  // MPI holds its address
  ~MpiEnd() {
    if (!at_end_) return;
    at_end_ = nullptr;
    if (owner_ != getpid()) return;
    MPI_Comm_delete_attr(MPI_COMM_SELF, key_);
    MPI_Comm_free_keyval(&key_);
  }

 private:
  static int deleted(MPI_Comm, int, void* value, void*) {
    auto& self = *static_cast<MpiEnd*>(value);
    if (const auto at_end = std::exchange(self.at_end_, nullptr); at_end && self.owner_ == getpid()) at_end();
    return MPI_SUCCESS;
  }

  std::function<void()> at_end_;  ///< empty once it was called
  pid_t owner_ = getpid();
  int key_ = MPI_KEYVAL_INVALID;
};

}  // namespace

class MpiBootstrap final : public Bootstrap {
 public:
  MpiBootstrap(double timeout_s, const BootstrapRequest& request)
      : timeout_s_(timeout_s), mpi_(static_cast<MPI_Comm*>(request.mpi_comm)) {
    MPI_Comm_rank(mpi_.comm(), &pe_);
    MPI_Comm_size(mpi_.comm(), &npes_);
    if (mpi_.theirs() && request.make_heir)
      end_.emplace([this, make_heir = request.make_heir] { outlive_mpi(make_heir); });
  }

  std::string_view name() const noexcept override { return "mpi"; }
  int pe() const noexcept override { return pe_; }
  int npes() const noexcept override { return npes_; }

  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    if (all.size() != mine.size() * static_cast<size_t>(npes_))
      throw Error(
          text("an exchange of %zu bytes per PE among %d PEs has room for %zu", mine.size(), npes_, all.size()));
    if (Bootstrap* other = heir()) return other->allgather(mine, all);
    if (mine.size() > INT_MAX) throw Error(text("an exchange of %zu bytes per PE is too large for MPI", mine.size()));
    must_be_usable();
    const int nbytes = static_cast<int>(mine.size());
    MPI_Request request;
    check_mpi(MPI_Iallgather(mine.data(), nbytes, MPI_BYTE, all.data(), nbytes, MPI_BYTE, mpi_.comm(), &request),
              "MPI_Iallgather");
    finish(request, "MPI_Iallgather");
  }

  void barrier() override {
    if (Bootstrap* other = heir()) return other->barrier();
    must_be_usable();
    MPI_Request request;
    check_mpi(MPI_Ibarrier(mpi_.comm(), &request), "MPI_Ibarrier");
    finish(request, "MPI_Ibarrier");
  }

  void notify_end(int status, std::string_view why) noexcept override {
    if (Bootstrap* other = heir()) other->notify_end(status, why);
    if (mpi_.usable()) MPI_Abort(mpi_.comm(), status);
  }
  bool notifying_kills() const noexcept override { return !heir(); }
  std::optional<JobEnd> end_told() noexcept override {
    Bootstrap* other = heir();
    return other ? other->end_told() : std::nullopt;
  }
  void await_news(int wake, int timeout_ms) noexcept override {
    Bootstrap* other = heir();
    other ? other->await_news(wake, timeout_ms) : Bootstrap::await_news(wake, timeout_ms);
  }
  std::optional<std::string> failure() noexcept override {
    Bootstrap* other = heir();
    return other ? other->failure() : std::nullopt;
  }
  void abandon() noexcept override {
    if (Bootstrap* other = heir()) other->abandon();
  }
  bool ends_with_world() const noexcept override { return mpi_.theirs(); }

 private:
  /// The bootstrap to use once the program's MPI has ended.
  Bootstrap* heir() const noexcept { return heir_.load(std::memory_order_acquire); }

  void outlive_mpi(const std::function<std::unique_ptr<Bootstrap>(Bootstrap&)>& make_heir) noexcept {
    try {
      made_ = make_heir(*this);
      heir_.store(made_.get(), std::memory_order_release);  // pairs with heir()
    } catch (const std::exception& e) {
      why_no_heir_ = e.what();
    }
  }

  void must_be_usable() const {
    if (!mpi_.usable())
      throw Error(
          text("the program has ended MPI, by which the PEs met, and they have no other connections: %s; call "
               "shmem_finalize before MPI_Finalize",
               why_no_heir_.c_str()));
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
  RunningMpi mpi_;
  int pe_ = 0;
  int npes_ = 1;
  std::string why_no_heir_ = "OpenSHMEM has started this MPI itself";
  std::unique_ptr<Bootstrap> made_;
  std::atomic<Bootstrap*> heir_{nullptr};  ///< made_, for threads that ask failure() while the program's MPI ends
  std::optional<MpiEnd> end_;              ///< last: it uses everything above
};

}  // namespace railshmem

RAILSHMEM_PLUGIN_VERSION_HERE;
RAILSHMEM_PLUGIN_EXPORT railshmem::Bootstrap* railshmem_make_bootstrap(const railshmem::Env& env,
                                                                       const railshmem::BootstrapRequest& request) {
  return new railshmem::MpiBootstrap(env.timeout_s, request);
}
