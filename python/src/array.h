// SPDX-License-Identifier: BSD-3-Clause
// An argument that is an array, as its memory: a numpy array by Python's buffer protocol, or a tensor of torch.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>

namespace railshmem::python {

/// What the elements are. Elements of an unknown kind can be moved, but not reduced.
enum class Kind {
  signed_integer,
  unsigned_integer,
  boolean,
  real,
  bfloat16,
  float8_e4m3,
  float8_e5m2,
  complex,
  unknown
};

enum class Access { read, write };

/// Memory of arrays: the host's, or that of the GPU with this number.
constexpr int kOnHost = -1;

/// Holds the buffer of a numpy array from construction to destruction; both need the GIL, the rest does not. A tensor
/// is not held: the caller's frame does.
class Array {
 public:
  /// TypeError where the object is no array. ValueError where it is not contiguous in C order, or is read-only and
  /// access is write. `function` and `argument` name it in messages.
  Array(const char* function, const char* argument, nanobind::handle object, Access access);
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  void* data() const noexcept { return data_; }
  size_t nbytes() const noexcept { return nbytes_; }
  size_t itemsize() const noexcept { return itemsize_; }
  size_t elements() const noexcept { return itemsize() ? nbytes() / itemsize() : 0; }
  Kind kind() const noexcept { return kind_; }
  const char* argument() const noexcept { return argument_; }
  /// The element type for messages: "float32".
  std::string type_name() const;
  bool has_type_of(const Array& other) const noexcept;
  bool is_tensor() const noexcept { return is_tensor_; }
  /// The number of the GPU that has it, or kOnHost.
  int device() const noexcept { return device_; }
  bool on_host() const noexcept { return device_ == kOnHost; }

 private:
  void read_buffer(const char* function, nanobind::handle object, Access access);

  const char* argument_;
  void* data_ = nullptr;
  size_t nbytes_ = 0;
  size_t itemsize_ = 0;
  Kind kind_ = Kind::unknown;
  int device_ = kOnHost;
  bool is_tensor_ = false;
  Py_buffer view_{};  ///< of what is no tensor
};

/// TypeError unless both have one element type.
void require_one_type(const char* function, const Array& one, const Array& other);

/// ValueError where the two share memory.
void require_disjoint(const char* function, const Array& one, const Array& other);

/// TypeError unless both are in the memory of the host, or of one GPU.
void require_one_device(const char* function, const Array& one, const Array& other);

/// TypeError unless the array is in the memory of the host.
void require_on_host(const char* function, const Array& array);

/// The package that a function is of, for messages: "railshmem.numpy".
std::string package_of(const char* function);

}  // namespace railshmem::python
