// SPDX-License-Identifier: BSD-3-Clause
// Chooses the bootstrap: what the caller gave, what SHMEM_BOOTSTRAP says, or what the launcher left in the environment.
#include "bootstrap/common/loaded_mpi.h"
#include "bootstrap/common/variables.h"
#include "bootstrap/local/local_bootstrap.h"
#include "bootstrap/local/protocol.h"
#include "bootstrap/lone_task.h"
#include "bootstrap/plugin_loader.h"
#include "bootstrap/pmi/pmi_bootstrap.h"
#include "bootstrap/single.h"
#include "bootstrap/tcp/make_tcp.h"
#include "src/base/log.h"
#include "src/base/plugin_file.h"

namespace railshmem {
namespace {

MpiFlavour mpi_of_launcher() noexcept {
  if (has_variable("OMPI_COMM_WORLD_SIZE")) return MpiFlavour::openmpi;
  if (has_variable("PMI_FD") || has_variable("PMI_PORT") || has_variable("MPIR_CVAR_CH4_NETMOD"))
    return MpiFlavour::mpich;
  return MpiFlavour::none;
}

const char* mpi_plugin_name(MpiFlavour flavour) noexcept {
  return flavour == MpiFlavour::openmpi ? "mpi-openmpi" : "mpi-mpich";
}
/// Empty where it is not installed.
std::string mpi_plugin_of(MpiFlavour flavour) {
  return find_plugin_file(std::string("bootstrap-") + mpi_plugin_name(flavour));
}

/// PEs that have met by MPI or its PMI, and go on over connections of their own when the program ends its MPI.
std::unique_ptr<Bootstrap> make_heir(const Env& env, Bootstrap& bootstrap) {
  struct Offer {
    char id[128];
    bool made;
  } mine{};
  std::string why = "PE 0 cannot listen for connections";
  if (bootstrap.pe() == 0) try {
      make_tcp_unique_id(env, mine.id);
      mine.made = true;
    } catch (const std::exception& e) {  // the others wait for an answer
      why = e.what();
    }
  const Offer offer = exchange(bootstrap, mine).front();
  if (!offer.made) throw Error(why);
  return make_tcp_bootstrap_from_id(env, offer.id, bootstrap.pe(), bootstrap.npes());
}

std::unique_ptr<Bootstrap> make_mpi(const Env& env, BootstrapRequest request) {
  request.make_heir = [env](Bootstrap& bootstrap) { return make_heir(env, bootstrap); };
  if (!env.mpi_plugin.empty()) {
    check_named_plugin(env.mpi_plugin, "SHMEM_MPI_PLUGIN");
    return start_plugin(env.mpi_plugin, env, request);
  }
  const LoadedMpi loaded = find_loaded_mpi();
  const MpiFlavour flavour = loaded.flavour != MpiFlavour::none ? loaded.flavour : mpi_of_launcher();
  if (request.mpi_comm && loaded.phase != MpiPhase::running)
    throw Error("a communicator was given, but MPI is not running in this process; call MPI_Init first");
  if (loaded.phase == MpiPhase::finalized)
    throw Error("the mpi bootstrap needs MPI, but MPI_Finalize was called already; start OpenSHMEM before it");
  if (flavour == MpiFlavour::none)
    throw Error(
        "the mpi bootstrap needs a program linked with Open MPI or MPICH, or started by their mpirun; neither is "
        "here. SHMEM_MPI_PLUGIN names the plug-in for another MPI");
  const std::string path = mpi_plugin_of(flavour);
  if (path.empty())
    throw Error(
        text("librailshmem-bootstrap-%s.so is not installed next to the library; build RailSHMEM with that MPI, or "
             "name a plug-in in SHMEM_MPI_PLUGIN",
             mpi_plugin_name(flavour)));
  return start_plugin(path, env, request);
}

std::unique_ptr<Bootstrap> make_pmix(const Env& env, const BootstrapRequest& request) {
  need_variable("PMIX_RANK", "pmix", "start the program with Open MPI's mpirun, prterun or srun --mpi=pmix");
  need_variable("PMIX_NAMESPACE", "pmix", "start the program with Open MPI's mpirun, prterun or srun --mpi=pmix");
  const std::string path = find_plugin_file("bootstrap-pmix");
  if (!path.empty()) return start_plugin(path, env, request);
  if (env.bootstrap == BootstrapKind::automatic && mpi_of_launcher() != MpiFlavour::none) return make_mpi(env, request);
  throw Error("librailshmem-bootstrap-pmix.so is not installed next to the library; build RailSHMEM with PMIx");
}

std::unique_ptr<Bootstrap> make_pmi(const Env& env, BootstrapRequest request) {
  const LoadedMpi mpi = find_loaded_mpi();
  if (mpi.flavour != MpiFlavour::none && mpi.phase == MpiPhase::finalized)
    throw Error("MPI_Finalize has ended PMI in this process; call shmem_init before MPI_Finalize");
  if (!has_variable("PMI_FD") && !has_variable("PMI_PORT"))
    need_variable("PMI_FD", "pmi", "start the program with MPICH's mpiexec -n 2 program");
  // PMI belongs to MPI, whose MPI_Finalize ends it.
  if (mpi.flavour != MpiFlavour::none) request.make_heir = [env](Bootstrap& pmi) { return make_heir(env, pmi); };
  return std::make_unique<PmiBootstrap>(env.timeout_s, request);
}

/// What the launcher's variables say; automatic when there is no launcher.
BootstrapKind kind_of_launcher() {
  if (has_variable(local::kFdVariable)) return BootstrapKind::local;
  const LoadedMpi mpi = find_loaded_mpi();
  if (mpi.flavour != MpiFlavour::none && mpi.phase == MpiPhase::running) return BootstrapKind::mpi;
  if (has_variable("PMIX_RANK") && has_variable("PMIX_NAMESPACE")) {
    const bool session = mpi.has_sessions && mpi.phase == MpiPhase::before_init && !mpi_plugin_of(mpi.flavour).empty();
    return session ? BootstrapKind::mpi : BootstrapKind::pmix;
  }
  if (has_variable("PMI_FD") || has_variable("PMI_PORT")) return BootstrapKind::pmi;
  if (has_variable("RANK") && has_variable("WORLD_SIZE") && has_variable("MASTER_ADDR") && has_variable("MASTER_PORT"))
    return BootstrapKind::tcp;
  return BootstrapKind::automatic;
}

}  // namespace

std::unique_ptr<Bootstrap> make_bootstrap(const Env& env, const BootstrapRequest& request) {
  if (request.unique_id) return make_tcp_bootstrap_from_id(env, request.unique_id, request.pe, request.npes);
  if (request.mpi_comm) return make_mpi(env, request);
  switch (env.bootstrap == BootstrapKind::automatic ? kind_of_launcher() : env.bootstrap) {
    case BootstrapKind::local:
      return std::make_unique<LocalBootstrap>(env.timeout_s);
    case BootstrapKind::tcp:
      return make_tcp_bootstrap(env);
    case BootstrapKind::pmi:
      return make_pmi(env, request);
    case BootstrapKind::pmix:
      return make_pmix(env, request);
    case BootstrapKind::mpi:
      return make_mpi(env, request);
    case BootstrapKind::automatic:
      break;
  }
  const std::string lone = describe_lone_task(launcher_variable);
  if (!lone.empty()) log_warn("%s", lone.c_str());
  return std::make_unique<SingleBootstrap>();
}

void make_unique_id(const Env& env, char (&id)[128]) {
  make_tcp_unique_id(env, id);
}

}  // namespace railshmem
