// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/array.h"

#include <cstring>
#include <functional>

#include "python/src/errors.h"

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
  return Kind::unknown;
}

std::string class_name(nanobind::handle object) {
  return nanobind::cast<std::string>(nanobind::str(object.type().attr("__name__")));
}

}  // namespace

Array::Array(const char* function, const char* argument, nanobind::handle object, Access access) : argument_(argument) {
  if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_STRIDED_RO | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    type_error(
        text(function, ": ", argument, " is of type ", class_name(object), "; it must be a numpy array of numbers"));
  }
  std::string wrong;
  if (!PyBuffer_IsContiguous(&view_, 'C'))
    wrong = " is not contiguous; pass a contiguous part, or a copy by numpy.ascontiguousarray()";
  else if (access == Access::write && view_.readonly)
    wrong = " is read-only, and the call writes to it; pass a writable array";
  if (!wrong.empty()) {
    PyBuffer_Release(&view_);
    value_error(text(function, ": ", argument, wrong));
  }
  kind_ = kind_of(view_.format);
}

Array::~Array() {
  PyBuffer_Release(&view_);
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
    case Kind::unknown:
      break;
  }
  return text("a type with the format '", view_.format, "'");
}

bool Array::has_type_of(const Array& other) const noexcept {
  if (kind_ != other.kind_ || itemsize() != other.itemsize()) return false;
  return kind_ != Kind::unknown || std::strcmp(view_.format, other.view_.format) == 0;
}

void require_one_type(const char* function, const Array& one, const Array& other) {
  if (!one.has_type_of(other))
    type_error(text(function, ": ", one.argument(), " has elements of ", one.type_name(), ", and ", other.argument(),
                    " of ", other.type_name(), "; convert one of them with astype()"));
}

void require_disjoint(const char* function, const Array& one, const Array& other) {
  const auto* a = static_cast<const std::byte*>(one.data());
  const auto* b = static_cast<const std::byte*>(other.data());
  const std::less<> before;
  if (one.nbytes() && other.nbytes() && before(a, b + other.nbytes()) && before(b, a + one.nbytes()))
    value_error(text(function, ": ", one.argument(), " and ", other.argument(),
                     " share memory; pass arrays that do not overlap"));
}

}  // namespace railshmem::python
