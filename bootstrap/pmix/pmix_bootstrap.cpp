// SPDX-License-Identifier: BSD-3-Clause
// PEs started by a PMIx server (Open MPI's mpirun, prterun, srun --mpi=pmix): put, commit, fence, get.
#include <pmix.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "bootstrap/common/deadline.h"
#include "bootstrap/common/plugin_entry.h"
#include "src/base/error.h"
#include "src/base/process.h"

namespace railshmem {
namespace {

void check_pmix(pmix_status_t status, const char* call) {
  if (status != PMIX_SUCCESS) throw Error(text("%s failed: %s", call, PMIx_Error_string(status)));
}

constexpr double kYears = 1e8;  // seconds; a limit of 0 means none

/// The names of those that are set, for whoever has to unset them.
std::string pmix_variables() {
  std::string names;
  for (const std::string& entry : process_environment())
    if (entry.rfind("PMIX_", 0) == 0) names += (names.empty() ? "" : " ") + entry.substr(0, entry.find('='));
  return names;
}

/// Counts exchanges of the whole process, because keys cannot be taken back.
uint64_t next_exchange() noexcept {
  return g_process.numbers.pmi_exchanges.fetch_add(1, std::memory_order_relaxed);
}

/// Where a fence's answer arrives. Shared with PMIx, which may answer after we gave up.
struct FenceState {
  std::mutex mutex;
  std::condition_variable done;
  std::optional<pmix_status_t> status;
};

void on_fence(pmix_status_t status, void* raw) {
  const std::unique_ptr<std::shared_ptr<FenceState>> state(static_cast<std::shared_ptr<FenceState>*>(raw));
  const std::lock_guard lock((*state)->mutex);
  (*state)->status = status;
  (*state)->done.notify_one();
}

}  // namespace

class PmixBootstrap final : public Bootstrap {
 public:
  explicit PmixBootstrap(double timeout_s) : timeout_s_(timeout_s), owner_(getpid()) {
    const pmix_status_t status = PMIx_Init(&self_, nullptr, 0);
    if (status != PMIX_SUCCESS)
      throw Error(
          text("PMIx_Init failed: %s. No PMIx server takes this process as one of its job: start it with Open "
               "MPI's mpirun, prterun or srun --mpi=pmix. To run it without, unset what another job has left in "
               "the environment: %s",
               PMIx_Error_string(status), pmix_variables().c_str()));
    try {
      npes_ = static_cast<int>(job_size());
    } catch (...) {
      PMIx_Finalize(nullptr, 0);
      throw;
    }
  }
  ~PmixBootstrap() override {
    // Counted by PMIx: an MPI library in this process keeps its own reference.
    if (getpid() == owner_) PMIx_Finalize(nullptr, 0);
  }

  std::string_view name() const noexcept override { return "pmix"; }
  int pe() const noexcept override { return static_cast<int>(self_.rank); }
  int npes() const noexcept override { return npes_; }

  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    if (all.size() != mine.size() * static_cast<size_t>(npes_))
      throw Error(
          text("an exchange of %zu bytes per PE among %d PEs has room for %zu", mine.size(), npes_, all.size()));
    if (mine.empty()) return barrier();
    const std::string key = text("railshmem-%llu", static_cast<unsigned long long>(next_exchange()));
    put(key, mine);
    fence("exchange", PMIX_COLLECT_DATA);
    for (int pe = 0; pe < npes_; ++pe) {
      const auto slot = all.subspan(static_cast<size_t>(pe) * mine.size(), mine.size());
      if (pe == this->pe())
        std::copy(mine.begin(), mine.end(), slot.begin());
      else
        get(pe, key, slot);
    }
  }

  void barrier() override { fence("barrier", nullptr); }

  void notify_end(int status, std::string_view why) noexcept override {
    char message[256] = {};
    why.copy(message, sizeof message - 1);
    PMIx_Abort(status, message, nullptr, 0);
  }
  bool notifying_kills() const noexcept override { return true; }

 private:
  uint32_t job_size() {
    pmix_proc_t job;
    PMIX_LOAD_PROCID(&job, self_.nspace, PMIX_RANK_WILDCARD);
    pmix_value_t* value = nullptr;
    check_pmix(PMIx_Get(&job, PMIX_JOB_SIZE, nullptr, 0, &value), "PMIx_Get(PMIX_JOB_SIZE)");
    const uint32_t size = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    return size;
  }

  void put(const std::string& key, std::span<const std::byte> mine) {
    pmix_value_t value{};
    value.type = PMIX_BYTE_OBJECT;
    // PMIx copies the bytes and does not write them; its structure merely lacks const.
    value.data.bo.bytes = reinterpret_cast<char*>(const_cast<std::byte*>(mine.data()));
    value.data.bo.size = mine.size();
    check_pmix(PMIx_Put(PMIX_GLOBAL, key.c_str(), &value), "PMIx_Put");
    check_pmix(PMIx_Commit(), "PMIx_Commit");
  }

  void get(int pe, const std::string& key, std::span<std::byte> slot) {
    pmix_proc_t peer;
    PMIX_LOAD_PROCID(&peer, self_.nspace, static_cast<pmix_rank_t>(pe));
    pmix_info_t limit;
    // PMIx takes 0 for no limit, as we do.
    int seconds = timeout_s_ > 0 ? std::max(1, static_cast<int>(std::min(timeout_s_, kYears))) : 0;
    PMIX_INFO_LOAD(&limit, PMIX_TIMEOUT, &seconds, PMIX_INT);
    pmix_value_t* value = nullptr;
    const pmix_status_t status = PMIx_Get(&peer, key.c_str(), &limit, 1, &value);
    PMIX_INFO_DESTRUCT(&limit);
    if (status != PMIX_SUCCESS)
      throw Error(text("PE %d gave nothing to an exchange with PE %d: %s", pe, this->pe(), PMIx_Error_string(status)));
    const bool fits = value->type == PMIX_BYTE_OBJECT && value->data.bo.size == slot.size();
    if (fits) std::memcpy(slot.data(), value->data.bo.bytes, slot.size());
    PMIX_VALUE_RELEASE(value);
    if (!fits)
      throw Error(
          text("PE %d came to an exchange of another size than PE %d: the PEs do not make the same calls in the "
               "same order",
               pe, this->pe()));
  }

  /// Waits ourselves because not every server honours PMIX_TIMEOUT.
  void fence(const char* purpose, const char* attribute) {
    auto state = std::make_shared<FenceState>();
    auto handle = std::make_unique<std::shared_ptr<FenceState>>(state);
    pmix_info_t collect;
    bool yes = true;
    if (attribute) PMIX_INFO_LOAD(&collect, attribute, &yes, PMIX_BOOL);
    const pmix_status_t started =
        PMIx_Fence_nb(nullptr, 0, attribute ? &collect : nullptr, attribute ? 1 : 0, on_fence, handle.get());
    if (started == PMIX_SUCCESS) handle.release();  // NOLINT: on_fence() owns it now
    if (started != PMIX_OPERATION_SUCCEEDED) {
      check_pmix(started, "PMIx_Fence_nb");
      std::unique_lock lock(state->mutex);
      const auto limit = std::chrono::duration<double>(timeout_s_ > 0 ? std::min(timeout_s_, kYears) : kYears);
      if (!state->done.wait_for(lock, limit, [&] { return state->status.has_value(); }))
        throw Error(text("PE %d waited %g s (SHMEM_TIMEOUT) in the %s of all %d PEs; PMIx does not tell who is missing",
                         pe(), timeout_s_, purpose, npes_));
      if (*state->status != PMIX_SUCCESS)
        throw Error(text("the %s of all %d PEs failed: %s", purpose, npes_, PMIx_Error_string(*state->status)));
    }
    if (attribute) PMIX_INFO_DESTRUCT(&collect);
  }

  double timeout_s_;
  pid_t owner_;  ///< a forked child must not finalize in the PE's name
  pmix_proc_t self_{};
  int npes_ = 1;
};

}  // namespace railshmem

RAILSHMEM_PLUGIN_VERSION_HERE;
RAILSHMEM_PLUGIN_EXPORT railshmem::Bootstrap* railshmem_make_bootstrap(const railshmem::Env& env,
                                                                       const railshmem::BootstrapRequest&) {
  return new railshmem::PmixBootstrap(env.timeout_s);
}
