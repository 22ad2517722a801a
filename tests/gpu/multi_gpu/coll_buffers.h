// SPDX-License-Identifier: BSD-3-Clause
// Buffers of collectives: every kind of memory that a program may name.
#pragma once

#include <shmemx.h>

#include <cstddef>
#include <string>

#include "tests/gpu/multi_gpu/coll_reference.h"
#include "tests/gpu/multi_gpu/stream_driver.h"

namespace railshmem::multi {

/// heap: symmetric. shifted: of the heap, at another offset on each PE. odd: of the heap, at no multiple of 16. plain:
/// of cuMemAlloc. registered: that too, registered, at another offset on each PE.
enum class Kind : uint8_t { heap, shifted, odd, plain, registered };
inline constexpr const char* kKindNames[] = {"heap", "shifted heap", "odd heap", "plain memory", "registered memory"};

/// Memory of one kind for source and dest. Collective to make and to destroy.
class Buffers {
 public:
  Buffers(const StreamDriver& driver, Kind kind, size_t nbytes) : driver_(driver), kind_(kind), nbytes_(nbytes) {
    const size_t whole = 2 * nbytes_ + kRoom;
    if (kind == Kind::plain || kind == Kind::registered) {
      driver_.call("cuMemAlloc_v2", &base_, whole);
      if (kind == Kind::registered && shmemx_coll_register(base_, whole) != 0) shmem_global_exit(2);
    } else {
      base_ = static_cast<std::byte*>(shmem_malloc(whole));
    }
  }
  ~Buffers() {
    if (kind_ == Kind::registered && shmemx_coll_deregister(base_) != 0) shmem_global_exit(2);
    if (kind_ == Kind::plain || kind_ == Kind::registered) {
      driver_.call("cuMemFree_v2", base_);
    } else {
      shmem_free(base_);
    }
  }
  Buffers(const Buffers&) = delete;

  std::byte* source(size_t element) const { return base_ + shift(element); }
  std::byte* dest(size_t element) const { return base_ + nbytes_ + shift(element); }
  void write(std::byte* to, const Bytes& bytes) const { driver_.upload(to, bytes.data(), bytes.size()); }
  Bytes read(const std::byte* from, size_t nbytes) const {
    Bytes bytes(nbytes);
    driver_.download(bytes.data(), from, nbytes);
    return bytes;
  }

 private:
  static constexpr size_t kRoom = 1 << 16;
  size_t shift(size_t element) const {
    if (kind_ == Kind::shifted || kind_ == Kind::registered) return static_cast<size_t>(shmem_my_pe() % 8) * 4096;
    return kind_ == Kind::odd ? element : 0;
  }

  const StreamDriver& driver_;
  const Kind kind_;
  const size_t nbytes_;
  std::byte* base_ = nullptr;
};

}  // namespace railshmem::multi
