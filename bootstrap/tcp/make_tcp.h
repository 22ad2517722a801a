// SPDX-License-Identifier: BSD-3-Clause
// The two ways into a tcp job: the environment of torchrun and its like, and a unique id.
#pragma once

#include "src/plugin/bootstrap.h"

namespace railshmem {

/// From RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT.
std::unique_ptr<Bootstrap> make_tcp_bootstrap(const Env& env);

/// Opens PE 0's listening socket in this process and writes its address and a random key to the id.
void make_tcp_unique_id(const Env& env, char (&id)[128]);
/// PE 0 must be the process that made the id.
std::unique_ptr<Bootstrap> make_tcp_bootstrap_from_id(const Env& env, const char* id, int pe, int npes);

}  // namespace railshmem
