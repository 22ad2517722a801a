// SPDX-License-Identifier: BSD-3-Clause
// Messages as bytes: plain values and texts in a row. All hosts of a job have one byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "src/base/error.h"

namespace railshmem {

using Bytes = std::vector<std::byte>;

class Packer {
 public:
  template <class T>
    requires std::is_trivially_copyable_v<T>
  Packer& add(const T& value) {
    return add_bytes(std::as_bytes(std::span(&value, 1)));
  }
  Packer& add_text(std::string_view value) {
    add(static_cast<uint32_t>(value.size()));
    return add_bytes(std::as_bytes(std::span(value.data(), value.size())));
  }
  Packer& add_bytes(std::span<const std::byte> value) {
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    return *this;
  }
  Bytes take() noexcept { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

/// Reads what Packer wrote; throws Error when the message is shorter than its fields say.
class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}

  template <class T>
    requires std::is_trivially_copyable_v<T>
  T get() {
    T value;
    std::memcpy(&value, next(sizeof value).data(), sizeof value);
    return value;
  }
  std::string get_text() {
    const std::span<const std::byte> bytes = next(get<uint32_t>());
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  std::span<const std::byte> rest() const noexcept { return rest_; }

 private:
  std::span<const std::byte> next(size_t nbytes) {
    if (nbytes > rest_.size()) throw Error("a bootstrap message is shorter than its fields say");
    const std::span<const std::byte> out = rest_.first(nbytes);
    rest_ = rest_.subspan(nbytes);
    return out;
  }
  std::span<const std::byte> rest_;
};

}  // namespace railshmem
