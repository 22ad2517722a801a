// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/operations.h"

#include <nanobind/stl/optional.h>

#include <string>
#include <string_view>

#include "python/src/errors.h"
#include "shmemx.h"

namespace railshmem::python {
namespace {

constexpr Operation kOperations[] = {
    {"sum", SHMEMX_OP_SUM}, {"prod", SHMEMX_OP_PROD}, {"min", SHMEMX_OP_MIN},
    {"max", SHMEMX_OP_MAX}, {"and", SHMEMX_OP_AND},   {"or", SHMEMX_OP_OR},
    {"xor", SHMEMX_OP_XOR}, {"avg", SHMEMX_OP_AVG},   {"premul", SHMEMX_OP_PREMUL_SUM}};

const Operation* find(nanobind::handle asked) noexcept {
  const char* const text = PyUnicode_Check(asked.ptr()) ? PyUnicode_AsUTF8AndSize(asked.ptr(), nullptr) : nullptr;
  if (!text) {
    PyErr_Clear();
    return nullptr;
  }
  std::string_view name = text;
  if (name == "band" || name == "bor" || name == "bxor") name.remove_prefix(1);  // names that torch.distributed has
  for (const Operation& operation : kOperations)
    if (operation.name == name) return &operation;
  return nullptr;
}

[[noreturn]] void no_operation(const char* function, nanobind::handle asked) {
  std::string all;
  for (const Operation& operation : kOperations) all += (all.empty() ? "" : ", ") + std::string(operation.name);
  value_error(text(function, ": op is ", nanobind::repr(asked).c_str(), "; accepted: ", all));
}

bool fits(int op, Kind kind) noexcept {
  const bool bits = op == SHMEMX_OP_AND || op == SHMEMX_OP_OR || op == SHMEMX_OP_XOR;
  const bool scales = op == SHMEMX_OP_AVG || op == SHMEMX_OP_PREMUL_SUM;
  switch (kind) {
    case Kind::complex:
      return !bits && op != SHMEMX_OP_MIN && op != SHMEMX_OP_MAX;
    case Kind::real:
    case Kind::bfloat16:
    case Kind::float8_e4m3:
    case Kind::float8_e5m2:
      return !bits;
    case Kind::boolean:
      return !scales && op != SHMEMX_OP_SUM;
    case Kind::signed_integer:
    case Kind::unsigned_integer:
      return !scales;
    case Kind::unknown:
      return false;
  }
  return false;
}

const char* checked_op(const char* function, nanobind::handle op, const std::optional<double>& factor,
                       nanobind::handle input) {
  return operation_of(function, op, factor, Array(function, "input", input, Access::read)).name;
}

}  // namespace

const Operation& operation_of(const char* function, nanobind::handle name, const std::optional<double>& factor,
                              const Array& array) {
  const Operation* const found = find(name);
  if (!found) no_operation(function, name);
  const Operation& operation = *found;
  if (factor.has_value() != (operation.value == SHMEMX_OP_PREMUL_SUM))
    value_error(text(function, ": op is '", operation.name, "' and factor is ",
                     factor ? nanobind::repr(nanobind::float_(*factor)).c_str() : "None",
                     "; op='premul' has a factor, and no other op has"));
  if (!fits(operation.value, array.kind()))
    type_error(text(function, ": ", array.argument(), " has elements of ", array.type_name(), ", which the operation ",
                    operation.name, " does not take"));
  return operation;
}

void bind_operations(nanobind::module_& module) {
  namespace nb = nanobind;
  module.def("checked_op", checked_op, nb::arg("function"), nb::arg("op").none(), nb::arg("factor").none(),
             nb::arg("input"));
}

}  // namespace railshmem::python
