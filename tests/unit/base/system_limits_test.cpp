// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/system_limits.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <functional>
#include <new>
#include <string>

#include "src/base/error.h"
#include "src/base/thread.h"

namespace railshmem {
namespace {

/// A soft limit for the time of a test.
class Lowered {
 public:
  Lowered(__rlimit_resource resource, rlim_t value) : resource_(resource) {
    getrlimit(resource, &before_);
    const rlimit now{value, before_.rlim_max};
    setrlimit(resource, &now);
  }
  ~Lowered() { setrlimit(resource_, &before_); }

 private:
  __rlimit_resource resource_;
  rlimit before_{};
};

std::string error_text_of(const std::function<void()>& fails) {
  try {
    fails();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(SystemLimits, DescriptorsAreNamedWithTheirLimit) {
  const Lowered lowered(RLIMIT_NOFILE, 123);
  errno = EMFILE;
  EXPECT_EQ(error_text_of([] { check_errno(false, "socket"); }),
            "socket failed: Too many open files; the limit on descriptors is 123: raise it (ulimit -n)");
}

TEST(SystemLimits, DescriptorsAreNamedWhereFewAreLeft) {
  {
    const Lowered lowered(RLIMIT_NOFILE, 10);
    EXPECT_EQ(refusal_text(EIO),
              "Input/output error; few descriptors are left; the limit on descriptors is 10: raise it (ulimit -n)");
    EXPECT_NE(refusal_text(ETIMEDOUT).find("few descriptors are left; the limit on descriptors is 10"),
              std::string::npos);  // where accept() is refused, the other side's connection times out
  }
  const Lowered enough(RLIMIT_NOFILE, 1000);
  EXPECT_EQ(refusal_text(EIO), "Input/output error");
  EXPECT_EQ(refusal_text(ETIMEDOUT), "Connection timed out");
}

TEST(SystemLimits, MemoryIsNamedWithTheLimitsThatThereAre) {
  EXPECT_EQ(refusal_text(ENOMEM).find("Cannot allocate memory"), 0u);
  const Lowered data(RLIMIT_DATA, rlim_t{1} << 40);
  EXPECT_NE(refusal_text(ENOMEM).find("the limit on data in bytes is 1099511627776: raise it (ulimit -d)"),
            std::string::npos);
  EXPECT_NE(explain(std::bad_alloc()).find("(ulimit -d)"), std::string::npos);
}

TEST(SystemLimits, OtherReasonsStandAlone) {
  EXPECT_EQ(refusal_text(EPERM), "Operation not permitted");
  EXPECT_EQ(explain(Error("plain")), "plain");
}

TEST(SystemLimits, ThreadsAreNamedWithTheCallAndTheRemedy) {
  const std::string lack = error_text_of([] { refuse_thread("a proxy thread", EAGAIN); });
  EXPECT_EQ(lack.find("cannot start a proxy thread: pthread_create failed: Resource temporarily unavailable; "), 0u)
      << lack;
  EXPECT_NE(lack.find("pids.max"), std::string::npos) << lack;
  const std::string filter = error_text_of([] { refuse_thread("a proxy thread", EPERM); });
  EXPECT_NE(filter.find("Operation not permitted; a filter of system calls"), std::string::npos) << filter;
}

}  // namespace
}  // namespace railshmem
