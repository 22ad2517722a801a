// SPDX-License-Identifier: BSD-3-Clause
// The jobs that this process belongs to, and which of them a start asks for.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>

#include "src/plugin/bootstrap.h"
#include "src/world/world.h"

namespace railshmem::job {

/// A start that names no job asks for the launcher's. A start by a unique id or a communicator names a job. The
/// bootstraps live on after finalize, so that a later start can come back to its job; one that names another job makes
/// a new one. No launcher lets a process join its job twice, so the launcher's is kept besides.
class Memberships {
 public:
  /// The bootstrap of the job that `request` asks for; collective over its PEs where it is new. Throws Error.
  Bootstrap& enter(const Env& env, const BootstrapRequest& request);

  /// For a start while `world` runs on the job entered last, collective over its PEs: throws Error on all of them
  /// unless it is that job which every `request` asks for. A request that names no job asks for any.
  void must_be_current(World& world, const BootstrapRequest& request);

  /// After the last finalize: forgets a job that cannot be come back to.
  void leave();

  /// The one entered last; null while no job is entered.
  Bootstrap* current() const noexcept { return current_; }

  /// Says goodbye to launcher and peers.
  void end();

  /// Bootstrap::abandon() of all. Any thread of the parent may have been in any of the functions above.
  void abandon() noexcept;

 private:
  enum Kind : size_t { kLaunchers, kNamed, kKinds };

  std::string describe_current() const;
  void keep(Kind kind, std::unique_ptr<Bootstrap> bootstrap) noexcept;

  std::array<std::unique_ptr<Bootstrap>, kKinds> kept_;
  std::array<std::atomic<Bootstrap*>, kKinds> open_{};  ///< kept_, for abandon()
  std::string unique_id_;                               ///< of kept_[kNamed]; empty: it was made from a communicator
  Bootstrap* current_ = nullptr;
};

}  // namespace railshmem::job
