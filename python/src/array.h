// SPDX-License-Identifier: BSD-3-Clause
// An argument that is an array, as its memory: through Python's buffer protocol, which numpy's arrays have.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>

namespace railshmem::python {

/// What the elements are. Elements of an unknown kind can be moved, but not reduced.
enum class Kind { signed_integer, unsigned_integer, real, complex, unknown };

enum class Access { read, write };

/// Holds the buffer of an object from construction to destruction; both need the GIL, the rest does not.
class Array {
 public:
  /// TypeError where the object is no array. ValueError where it is not contiguous in C order, or is read-only and
  /// access is write. `function` and `argument` name it in messages.
  Array(const char* function, const char* argument, nanobind::handle object, Access access);
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  void* data() const noexcept { return view_.buf; }
  size_t nbytes() const noexcept { return static_cast<size_t>(view_.len); }
  size_t itemsize() const noexcept { return static_cast<size_t>(view_.itemsize); }
  size_t elements() const noexcept { return itemsize() ? nbytes() / itemsize() : 0; }
  Kind kind() const noexcept { return kind_; }
  const char* argument() const noexcept { return argument_; }
  /// The element type for messages: "float32".
  std::string type_name() const;
  bool has_type_of(const Array& other) const noexcept;

 private:
  const char* argument_;
  Py_buffer view_{};
  Kind kind_ = Kind::unknown;
};

/// TypeError unless both have one element type.
void require_one_type(const char* function, const Array& one, const Array& other);

/// ValueError where the two share memory.
void require_disjoint(const char* function, const Array& one, const Array& other);

}  // namespace railshmem::python
