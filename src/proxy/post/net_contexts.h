// SPDX-License-Identifier: BSD-3-Clause
// The scopes of an endpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/base/error.h"
#include "src/proxy/post/scope.h"

namespace railshmem {

class Scopes {
 public:
  explicit Scopes(int npes) : npes_(npes) {}

  /// Throws Error when 65536 exist.
  NetContext& add() {
    if (!free_.empty()) {
      const uint16_t id = free_.back();
      scopes_[id] = std::make_unique<NetContext>(id, npes_);
      free_.pop_back();
      return *scopes_[id];
    }
    if (scopes_.size() > UINT16_MAX) throw Error("65536 contexts and teams exist; destroy some");
    free_.reserve(scopes_.size() + 1);  // so that drop() cannot fail
    scopes_.push_back(std::make_unique<NetContext>(static_cast<uint16_t>(scopes_.size()), npes_));
    return *scopes_.back();
  }
  /// The scope must be quiet.
  void drop(const NetContext& scope) noexcept {
    const uint16_t id = scope.id;
    scopes_[id].reset();
    free_.push_back(id);
  }

  void clear_all() noexcept {
    for (auto& scope : scopes_)
      if (scope) scope->clear();
  }

 private:
  const int npes_;
  std::vector<std::unique_ptr<NetContext>> scopes_;
  std::vector<uint16_t> free_;
};

}  // namespace railshmem
