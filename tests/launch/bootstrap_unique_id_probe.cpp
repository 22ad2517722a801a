// SPDX-License-Identifier: BSD-3-Clause
// Joins a job by unique id: PE 0 makes the id and hands it to the others through a file, as a framework would.
//   bootstrap_unique_id_probe PE NPES FILE [maker PE]
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "src/base/error.h"
#include "tests/support/bootstrap_suite.h"

namespace {

using namespace railshmem;

void read_id(const std::string& file, char (&id)[128]) {
  for (int look = 0; look < 1000; ++look) {
    if (std::ifstream in(file, std::ios::binary); in.read(id, sizeof id)) return;
    usleep(10000);
  }
  throw Error("nobody wrote " + file);
}

void write_id(const std::string& file, const char (&id)[128]) {
  const std::string partial = file + ".partial";
  std::ofstream(partial, std::ios::binary).write(id, sizeof id);
  if (std::rename(partial.c_str(), file.c_str()) != 0) throw Error("cannot write " + file);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 4) throw Error("usage: PE NPES FILE [maker PE]");
    const int pe = std::atoi(argv[1]);
    const int maker = argc > 4 ? std::atoi(argv[4]) : 0;
    const Env env = Env::parse();
    char id[128] = {};
    if (pe == maker) {
      make_unique_id(env, id);
      write_id(argv[3], id);
    } else {
      read_id(argv[3], id);
    }
    BootstrapRequest request;
    request.unique_id = id;
    request.pe = pe;
    request.npes = std::atoi(argv[2]);
    const auto bootstrap = make_bootstrap(env, request);
    railshmem::tests::check_bootstrap(*bootstrap, "");
    if (pe == 0) std::printf("unique id: %d PEs agree\n", bootstrap->npes());
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "probe: %s\n", e.what());
    return 4;
  }
}
