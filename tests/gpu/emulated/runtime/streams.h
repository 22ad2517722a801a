// SPDX-License-Identifier: BSD-3-Clause
// Streams: work in order, beside the thread that asks for it.
#pragma once

#include <algorithm>
#include <future>
#include <utility>
#include <vector>

namespace railshmem::emulated_cuda {

class Stream {
 public:
  Stream() { all().push_back(this); }
  ~Stream() {
    synchronize();
    std::erase(all(), this);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// That of a handle; null is the default one. Of one thread, as the programs here use them.
  static Stream& of(Stream* handle) {
    static Stream by_default;
    return handle != nullptr ? *handle : by_default;
  }
  static std::vector<Stream*>& all() {
    static std::vector<Stream*> streams;
    return streams;
  }

  /// Runs `work` after what is there already. One piece of work waits at most: what comes more, waits here.
  template <class Work>
  std::shared_future<void> enqueue(Work work) {
    const std::shared_future<void> before = std::exchange(last_, {});
    if (before_.valid()) before_.wait();
    before_ = before;
    last_ = std::async(std::launch::async, [before, work = std::move(work)] {
              if (before.valid()) before.wait();
              work();
            }).share();
    return last_;
  }
  void synchronize() const {
    if (last_.valid()) last_.wait();
  }

 private:
  std::shared_future<void> before_, last_;
};

}  // namespace railshmem::emulated_cuda
