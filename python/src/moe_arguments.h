// SPDX-License-Identifier: BSD-3-Clause
// What handles of mixtures of experts take from Python: tensors in the memory of the handle's GPU.
#pragma once

#include <cstddef>

#include "python/src/array.h"
#include "python/src/team.h"
#include "python/src/waiting.h"
#include "shmemx.h"

namespace railshmem::python {

constexpr size_t kMoeUnit = 16;  ///< bytes: tokens and results begin at multiples of it
constexpr size_t kChannelsOfScale = 128;

/// What the elements of an argument must be.
struct Wanted {
  Kind kind;
  size_t itemsize;
  const char* name;
};
constexpr Wanted kBfloat16{Kind::bfloat16, 2, "bfloat16"}, kHalf{Kind::real, 2, "float16"},
    kFloat8{Kind::float8_e4m3, 1, "float8_e4m3fn"}, kFloat{Kind::real, 4, "float32"},
    kInt32{Kind::signed_integer, 4, "int32"}, kInt64{Kind::signed_integer, 8, "int64"}, kBool{Kind::boolean, 1, "bool"};

shmem_team_t team_of(const char* function, const Team* team);
/// RuntimeError where the library refused a call.
void must(const char* function, int status);

/// Of one handle. Its functions name the function and the argument in exceptions.
class MoeArguments {
 public:
  /// The workspace decides on the GPU.
  MoeArguments(const char* function, const Array& workspace);

  /// RuntimeError where the handle is NULL or of the time before finalize().
  void require_live(const char* function, const void* handle) const;
  /// Any number of elements; the caller checks it.
  void* of(const char* function, const Array& array, const Wanted& wanted, size_t unit = 1) const;
  void* of(const char* function, const Array& array, const Wanted& wanted, size_t elements, size_t unit) const;
  const void* read(const char* function, const char* argument, nanobind::handle object, const Wanted& wanted,
                   size_t elements, size_t unit = 1) const {
    return of(function, Array(function, argument, object, Access::read), wanted, elements, unit);
  }
  /// Null for None.
  const void* read_if(const char* function, const char* argument, nanobind::handle object, const Wanted& wanted,
                      size_t elements) const {
    return object.is_none() ? nullptr : read(function, argument, object, wanted, elements);
  }
  void* written(const char* function, const char* argument, nanobind::handle object, const Wanted& wanted,
                size_t elements, size_t unit = 1) const {
    return of(function, Array(function, argument, object, Access::write), wanted, elements, unit);
  }
  void* written_if(const char* function, const char* argument, nanobind::handle object, const Wanted& wanted,
                   size_t elements) const {
    return object.is_none() ? nullptr : written(function, argument, object, wanted, elements);
  }

  /// Calls call(stream) with torch's current stream.
  template <class Call>
  void give(const char* function, Call&& call) const {
    const shmemx_stream_t stream = current_stream();
    int status = 0;
    {
      const Waiting waits(function);
      status = call(stream);
    }
    must(function, status);
  }

 private:
  shmemx_stream_t current_stream() const;

  int device_;
  unsigned run_;
};

}  // namespace railshmem::python
