// SPDX-License-Identifier: BSD-3-Clause
// Which MPI library is in this process, found without linking any.
#pragma once

#include <cstdint>

namespace railshmem {

enum class MpiFlavour : uint8_t { none, openmpi, mpich };
enum class MpiPhase : uint8_t { before_init, running, finalized };

struct LoadedMpi {
  MpiFlavour flavour = MpiFlavour::none;
  MpiPhase phase = MpiPhase::before_init;
  /// A library may use it before the program calls MPI_Init, which must not find PMIx in use (docs/gotchas.md).
  bool has_sessions = false;
};

LoadedMpi find_loaded_mpi() noexcept;

}  // namespace railshmem
