// SPDX-License-Identifier: BSD-3-Clause
// The conformance suite of all bootstraps as one PE: started by every launcher, and told by words what to do.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

#include "src/base/error.h"
#include "src/plugin/bootstrap.h"
#include "tests/support/bootstrap_suite.h"

namespace {

using namespace railshmem;

[[noreturn]] void end_job(Bootstrap& bootstrap, int status, std::string_view why) {
  bootstrap.notify_end(status, why);
  _exit(status);
}

/// Waits as a PE in a barrier of the world layer does: by asking end_told() and failure() every 10 ms.
int wait_for_failure(Bootstrap& bootstrap, double seconds) {
  for (int look = 0; look < seconds * 100; ++look) {
    if (const auto end = bootstrap.end_told()) end_job(bootstrap, end->status, end->message);
    if (const auto why = bootstrap.failure()) {
      std::fprintf(stderr, "PE %d learnt: %s\n", bootstrap.pe(), why->c_str());
      return 5;
    }
    usleep(10000);
  }
  std::fprintf(stderr, "PE %d learnt nothing\n", bootstrap.pe());
  return 6;
}

/// die-by-signal | exit-3 | exit-early | abort-7 | silent: the given PE does it, the others wait for the news.
int misbehave(Bootstrap& bootstrap, const std::string& how, int who) {
  bootstrap.barrier();
  if (bootstrap.pe() != who) return wait_for_failure(bootstrap, 10);
  if (how == "die-by-signal") std::abort();
  if (how == "exit-3") _exit(3);
  if (how == "abort-7") end_job(bootstrap, 7, "asked to");
  if (how == "abort-0") end_job(bootstrap, 0, "");
  if (how == "exit-early") _exit(0);
  throw Error("unknown misbehaviour " + how);
}

int run(const std::vector<std::string>& words) {
  const auto bootstrap = make_bootstrap(Env::parse(), {});
  const std::string what = words.empty() ? "suite" : words[0];
  if (what == "silent" && bootstrap->pe() == std::atoi(words[1].c_str())) {
    sleep(12);
    return 0;
  }
  if (what == "suite" || what == "silent") {
    railshmem::tests::check_bootstrap(*bootstrap, words.size() > 1 ? words[1] : "");
    if (bootstrap->pe() == 0)
      std::printf("%s: %d PEs agree\n", std::string(bootstrap->name()).c_str(), bootstrap->npes());
    return 0;
  }
  return misbehave(*bootstrap, what, words.size() > 1 ? std::atoi(words[1].c_str()) : 0);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "probe: %s\n", e.what());
    return 4;
  }
}
