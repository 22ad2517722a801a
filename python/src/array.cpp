// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/array.h"

#include <nanobind/stl/string.h>

#include <cstring>
#include <functional>

#include "python/src/errors.h"
#include "python/src/tensor.h"

namespace railshmem::python {
namespace {

/// Of a format of the module struct. Another byte order than this machine's is unknown.
Kind kind_of(const char* format) {
  if (!format) return Kind::unsigned_integer;  // bytes
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  const size_t length = std::strlen(format);
  if (length == 2 && *format == 'Z' && std::strchr("fd", format[1])) return Kind::complex;
  if (length != 1) return Kind::unknown;
  if (std::strchr("bhilqn", *format)) return Kind::signed_integer;
  if (std::strchr("BHILQN", *format)) return Kind::unsigned_integer;
  if (std::strchr("efd", *format)) return Kind::real;
  if (*format == '?') return Kind::boolean;
  return Kind::unknown;
}

std::string class_name(nanobind::handle object) {
  return nanobind::cast<std::string>(nanobind::str(object.type().attr("__name__")));
}

}  // namespace

Array::Array(const char* function, const char* argument, nanobind::handle object, Access access) : argument_(argument) {
  if (const auto tensor = read_tensor(function, argument, object)) {
    is_tensor_ = true;
    data_ = tensor->data;
    itemsize_ = tensor->itemsize;
    nbytes_ = tensor->nelems * tensor->itemsize;
    kind_ = tensor->kind;
    device_ = tensor->device;
  } else {
    read_buffer(function, object, access);
  }
}

void Array::read_buffer(const char* function, nanobind::handle object, Access access) {
  if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_STRIDED_RO | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    type_error(text(function, ": ", argument_, " is of type ", class_name(object), "; it must be a ",
                    package_of(function) == "railshmem.torch" ? "tensor" : "numpy array of numbers"));
  }
  std::string wrong;
  if (!PyBuffer_IsContiguous(&view_, 'C'))
    wrong = " is not contiguous; pass a contiguous part, or a copy by numpy.ascontiguousarray()";
  else if (access == Access::write && view_.readonly)
    wrong = " is read-only, and the call writes to it; pass a writable array";
  if (!wrong.empty()) {
    PyBuffer_Release(&view_);
    value_error(text(function, ": ", argument_, wrong));
  }
  data_ = view_.buf;
  nbytes_ = static_cast<size_t>(view_.len);
  itemsize_ = static_cast<size_t>(view_.itemsize);
  kind_ = kind_of(view_.format);
}

Array::~Array() {
  if (!is_tensor_) PyBuffer_Release(&view_);
}

std::string Array::type_name() const {
  const size_t bits = itemsize() * 8;
  switch (kind_) {
    case Kind::signed_integer:
      return text("int", bits);
    case Kind::unsigned_integer:
      return text("uint", bits);
    case Kind::real:
      return text("float", bits);
    case Kind::complex:
      return text("complex", bits);
    case Kind::boolean:
      return "bool";
    case Kind::bfloat16:
      return "bfloat16";
    case Kind::float8_e4m3:
      return "float8_e4m3fn";
    case Kind::float8_e5m2:
      return "float8_e5m2";
    case Kind::unknown:
      break;
  }
  if (is_tensor_) return text("an unknown type of ", bits, " bits");
  return text("a type with the format '", view_.format, "'");
}

bool Array::has_type_of(const Array& other) const noexcept {
  if (kind_ != other.kind_ || itemsize() != other.itemsize()) return false;
  if (kind_ != Kind::unknown || is_tensor_ || other.is_tensor_) return true;
  return std::strcmp(view_.format, other.view_.format) == 0;
}

void require_one_type(const char* function, const Array& one, const Array& other) {
  if (!one.has_type_of(other))
    type_error(text(function, ": ", one.argument(), " has elements of ", one.type_name(), ", and ", other.argument(),
                    " of ", other.type_name(), "; convert one of them with ", one.is_tensor() ? "to()" : "astype()"));
}

void require_disjoint(const char* function, const Array& one, const Array& other) {
  const auto* a = static_cast<const std::byte*>(one.data());
  const auto* b = static_cast<const std::byte*>(other.data());
  const std::less<> before;
  if (one.nbytes() && other.nbytes() && before(a, b + other.nbytes()) && before(b, a + one.nbytes()))
    value_error(text(function, ": ", one.argument(), " and ", other.argument(),
                     " share memory; pass arrays that do not overlap"));
}

void require_one_device(const char* function, const Array& one, const Array& other) {
  if (one.device() == other.device()) return;
  const auto place = [](const Array& array) {
    return array.on_host() ? std::string("in the memory of the CPU") : text("on the device cuda:", array.device());
  };
  type_error(text(function, ": ", one.argument(), " is ", place(one), ", and ", other.argument(), " is ", place(other),
                  "; move one of them with to()"));
}

void require_on_host(const char* function, const Array& array) {
  if (!array.on_host())
    type_error(text(function, ": ", array.argument(), " is on the device cuda:", array.device(),
                    "; this call takes CPU tensors only"));
}

std::string package_of(const char* function) {
  const std::string whole = function;
  return whole.substr(0, whole.rfind('.'));
}

}  // namespace railshmem::python
