// SPDX-License-Identifier: BSD-3-Clause
// The contexts of an endpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/base/error.h"
#include "src/proxy/post/net_context.h"

namespace railshmem {

class NetContexts {
 public:
  explicit NetContexts(int npes) : npes_(npes) {}

  /// Throws Error when 65536 exist.
  NetContext& add() {
    if (!free_.empty()) {
      const uint16_t id = free_.back();
      contexts_[id] = std::make_unique<NetContext>(id, npes_);
      free_.pop_back();
      return *contexts_[id];
    }
    if (contexts_.size() > UINT16_MAX) throw Error("65536 contexts and teams exist; destroy some");
    free_.reserve(contexts_.size() + 1);  // so that drop() cannot fail
    contexts_.push_back(std::make_unique<NetContext>(static_cast<uint16_t>(contexts_.size()), npes_));
    return *contexts_.back();
  }
  /// The context must be quiet.
  void drop(const NetContext& context) noexcept {
    const uint16_t id = context.id;
    contexts_[id].reset();
    free_.push_back(id);
  }

  void clear_all() noexcept {
    for (auto& context : contexts_)
      if (context) context->clear();
  }

 private:
  const int npes_;
  std::vector<std::unique_ptr<NetContext>> contexts_;
  std::vector<uint16_t> free_;
};

}  // namespace railshmem
