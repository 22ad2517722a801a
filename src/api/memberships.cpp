// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/memberships.h"

#include <time.h>
#include <unistd.h>

#include "src/base/error.h"
#include "src/base/fingerprint.h"
#include "src/collective/agree.h"

namespace railshmem::job {
namespace {

constexpr size_t kIdBytes = 128;

bool names_a_job(const BootstrapRequest& request) noexcept {
  return request.unique_id || request.mpi_comm;
}

std::string place(int pe, int npes) {
  return text("PE %d of %d", pe, npes);
}
std::string place(const Bootstrap& bootstrap) {
  return place(bootstrap.pe(), bootstrap.npes());
}

/// What a request asks for. The name is equal on all PEs of that job, and on those of no other.
struct Wanted {
  int pe;
  int npes;
  uint64_t name;
};

/// Collective over the PEs of the job that is asked for, where a communicator names it.
Wanted look_at(const BootstrapRequest& request) {
  if (request.unique_id) return {request.pe, request.npes, fnv1a({request.unique_id, kIdBytes})};
  const std::unique_ptr<Bootstrap> of_comm = make_bootstrap(Env::parse(), request);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const uint64_t mine = (static_cast<uint64_t>(now.tv_sec) << 32) ^ (static_cast<uint64_t>(now.tv_nsec) << 16) ^
                        static_cast<uint64_t>(getpid()) ^ host_id();
  return {of_comm->pe(), of_comm->npes(), exchange(*of_comm, mine).front()};
}

/// Votes are a job's name and its complement, all bits for any job, and none for another job than the running one. A
/// bit that neither half keeps is one in which two names differ.
bool is_one_job(const Ballot& all) noexcept {
  return (all.common[0] | all.common[1]) == ~uint64_t{0};
}

}  // namespace

Bootstrap& Memberships::enter(const Env& env, const BootstrapRequest& request) {
  if (!names_a_job(request)) {
    if (!kept_[kLaunchers]) keep(kLaunchers, make_bootstrap(env, request));
    return *(current_ = kept_[kLaunchers].get());
  }
  const Bootstrap* const named = kept_[kNamed].get();
  const std::string id = request.unique_id ? std::string(request.unique_id, kIdBytes) : "";
  if (named && !id.empty() && id == unique_id_) {
    if (named->pe() != request.pe || named->npes() != request.npes)
      throw Error(
          text("this process was %s in the job of this unique id before shmem_finalize, and cannot be %s in it now",
               place(*named).c_str(), place(request.pe, request.npes).c_str()));
  } else {
    keep(kNamed, make_bootstrap(env, request));
    unique_id_ = id;
  }
  return *(current_ = kept_[kNamed].get());
}

std::string Memberships::describe_current() const {
  if (current_ == kept_[kLaunchers].get())
    return text("%s of the launcher's job (bootstrap %s)", place(*current_).c_str(),
                std::string(current_->name()).c_str());
  return text("%s of a job by %s", place(*current_).c_str(), unique_id_.empty() ? "communicator" : "unique id");
}

void Memberships::must_be_current(World& world, const BootstrapRequest& request) {
  const Ballot any_job{{~uint64_t{0}, ~uint64_t{0}}, 0};
  const Ballot no_job{};
  if (!names_a_job(request)) {
    if (!is_one_job(agree(world.teams().world(), "shmem_init", any_job)))
      throw Error(text("this process is %s already, and other PEs ask for another job; call shmem_finalize first",
                       describe_current().c_str()));
    return;
  }
  const Wanted wanted = look_at(request);
  const bool fits = wanted.pe == current_->pe() && wanted.npes == current_->npes();
  const Ballot mine = fits ? Ballot{{wanted.name, ~wanted.name}, 0} : no_job;
  // Another size tells all PEs that it is another job, so nobody waits for a vote.
  if (wanted.npes == current_->npes() && is_one_job(agree(world.teams().world(), "shmem_init", mine))) return;
  throw Error(
      text("this process is %s already, and this start asks for %s of another job by %s; call shmem_finalize first",
           describe_current().c_str(), place(wanted.pe, wanted.npes).c_str(),
           request.unique_id ? "unique id" : "communicator"));
}

void Memberships::leave() {
  for (const Kind kind : {kLaunchers, kNamed})
    if (kept_[kind] && kept_[kind].get() == current_ && current_->ends_with_world()) {
      current_ = nullptr;
      keep(kind, nullptr);
    }
}

void Memberships::keep(Kind kind, std::unique_ptr<Bootstrap> bootstrap) noexcept {
  // release: pairs with abandon(), which may use a bootstrap as soon as it sees its address.
  open_[kind].store(bootstrap.get(), std::memory_order_release);
  if (current_ == kept_[kind].get()) current_ = nullptr;
  kept_[kind] = std::move(bootstrap);
}

void Memberships::end() {
  for (const Kind kind : {kNamed, kLaunchers}) keep(kind, nullptr);
}

void Memberships::abandon() noexcept {
  // acquire: pairs with keep().
  for (std::atomic<Bootstrap*>& open : open_)
    if (Bootstrap* bootstrap = open.exchange(nullptr, std::memory_order_acquire)) bootstrap->abandon();
}

}  // namespace railshmem::job
