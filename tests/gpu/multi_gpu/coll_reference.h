// SPDX-License-Identifier: BSD-3-Clause
// What collectives must give, bit for bit: one reference for every path, on the host.
#pragma once

#include <shmemx.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "src/base/small_floats.h"

namespace railshmem::multi {

using Bytes = std::vector<std::byte>;

struct TypeOf {
  int datatype;
  const char* name;
  size_t nbytes;
  bool integer;
  bool complex;
};
inline constexpr TypeOf kTypes[] = {
    {SHMEMX_DATATYPE_INT8, "int8", 1, true, false},
    {SHMEMX_DATATYPE_INT16, "int16", 2, true, false},
    {SHMEMX_DATATYPE_INT32, "int32", 4, true, false},
    {SHMEMX_DATATYPE_INT64, "int64", 8, true, false},
    {SHMEMX_DATATYPE_UINT8, "uint8", 1, true, false},
    {SHMEMX_DATATYPE_UINT16, "uint16", 2, true, false},
    {SHMEMX_DATATYPE_UINT32, "uint32", 4, true, false},
    {SHMEMX_DATATYPE_UINT64, "uint64", 8, true, false},
    {SHMEMX_DATATYPE_FLOAT, "float", 4, false, false},
    {SHMEMX_DATATYPE_DOUBLE, "double", 8, false, false},
    {SHMEMX_DATATYPE_COMPLEX_FLOAT, "complex float", 8, false, true},
    {SHMEMX_DATATYPE_COMPLEX_DOUBLE, "complex double", 16, false, true},
    {SHMEMX_DATATYPE_HALF, "half", 2, false, false},
    {SHMEMX_DATATYPE_BFLOAT16, "bfloat16", 2, false, false},
    {SHMEMX_DATATYPE_FLOAT8_E4M3, "float8 e4m3", 1, false, false},
    {SHMEMX_DATATYPE_FLOAT8_E5M2, "float8 e5m2", 1, false, false},
};

/// Whether a reduction of these elements has the operation.
inline bool has_op(const TypeOf& type, int op) {
  if (op <= SHMEMX_OP_XOR) return type.integer;
  if (op == SHMEMX_OP_MAX || op == SHMEMX_OP_MIN) return !type.complex;
  if (op == SHMEMX_OP_AVG || op == SHMEMX_OP_PREMUL_SUM) return !type.integer;
  return true;
}

namespace reference {

template <class T>
T load(const Bytes& from, size_t i) {
  T value;
  std::memcpy(&value, from.data() + i * sizeof(T), sizeof(T));
  return value;
}

template <class T>
T combine(int op, T a, T b) {
  switch (op) {
    case SHMEMX_OP_MAX:
      return a > b ? a : b;
    case SHMEMX_OP_MIN:
      return a < b ? a : b;
    case SHMEMX_OP_PROD:
      return static_cast<T>(a * b);
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (op == SHMEMX_OP_AND) return a & b;
    if (op == SHMEMX_OP_OR) return a | b;
    if (op == SHMEMX_OP_XOR) return a ^ b;
  }
  return static_cast<T>(a + b);
}

/// Elements of type T are held as Held while operands meet, and rounded at the end.
/// `factor`: of each operand (PREMUL_SUM), or what the sum is divided by (AVG).
template <class T, class Held, class Hold, class Round>
void reduce(Bytes& out, const std::vector<const Bytes*>& operands, int op, double factor, Hold&& hold, Round&& round) {
  const size_t n = out.size() / sizeof(T);
  const auto operand = [&](size_t k, size_t i) {
    Held held = hold(load<T>(*operands[k], i));
    if (op == SHMEMX_OP_PREMUL_SUM) held = static_cast<Held>(held * static_cast<Held>(factor));
    return held;
  };
  for (size_t i = 0; i < n; ++i) {
    Held held = operand(0, i);
    for (size_t k = 1; k < operands.size(); ++k) held = combine<Held>(op, held, operand(k, i));
    if (op == SHMEMX_OP_AVG) held = static_cast<Held>(held / static_cast<Held>(factor));
    const T result = round(held);
    std::memcpy(out.data() + i * sizeof(T), &result, sizeof(T));
  }
}
template <class T>
void reduce_plain(Bytes& out, const std::vector<const Bytes*>& operands, int op, double factor) {
  const auto same = [](T value) { return value; };
  reduce<T, T>(out, operands, op, factor, same, same);
}
template <class T>
void reduce_small(Bytes& out, const std::vector<const Bytes*>& operands, int op, double factor) {
  reduce<T, float>(
      out, operands, op, factor, [](T value) { return value.value(); }, [](float value) { return T(value); });
}
template <class Real>
void reduce_complex(Bytes& out, const std::vector<const Bytes*>& operands, int op, double factor) {
  if (op != SHMEMX_OP_PROD) return reduce_plain<Real>(out, operands, op, factor);  // part by part
  for (size_t i = 0; i < out.size() / sizeof(Real); i += 2) {
    Real re = load<Real>(*operands[0], i), im = load<Real>(*operands[0], i + 1);
    for (size_t k = 1; k < operands.size(); ++k) {
      const Real a = load<Real>(*operands[k], i), b = load<Real>(*operands[k], i + 1);
      const volatile Real ra = re * a, ib = im * b, rb = re * b, ia = im * a;  // volatile: no fused products
      re = ra - ib;
      im = rb + ia;
    }
    std::memcpy(out.data() + i * sizeof(Real), &re, sizeof re);
    std::memcpy(out.data() + (i + 1) * sizeof(Real), &im, sizeof im);
  }
}

}  // namespace reference

/// The operands in their order, element by element; all as long as the result.
inline Bytes combined(const TypeOf& type, int op, double factor, const std::vector<const Bytes*>& operands) {
  Bytes out(operands[0]->size());
  switch (type.datatype) {
#define CASE(NAME, CALL)                        \
  case SHMEMX_DATATYPE_##NAME:                  \
    reference::CALL(out, operands, op, factor); \
    break
    CASE(INT8, reduce_plain<int8_t>);
    CASE(INT16, reduce_plain<int16_t>);
    CASE(INT32, reduce_plain<int32_t>);
    CASE(INT64, reduce_plain<int64_t>);
    CASE(UINT8, reduce_plain<uint8_t>);
    CASE(UINT16, reduce_plain<uint16_t>);
    CASE(UINT32, reduce_plain<uint32_t>);
    CASE(UINT64, reduce_plain<uint64_t>);
    CASE(FLOAT, reduce_plain<float>);
    CASE(DOUBLE, reduce_plain<double>);
    CASE(COMPLEX_FLOAT, reduce_complex<float>);
    CASE(COMPLEX_DOUBLE, reduce_complex<double>);
    CASE(HALF, reduce_small<Half>);
    CASE(BFLOAT16, reduce_small<Bfloat16>);
    CASE(FLOAT8_E4M3, reduce_small<Float8E4M3>);
    CASE(FLOAT8_E5M2, reduce_small<Float8E5M2>);
#undef CASE
    default:
      break;
  }
  return out;
}

/// The operands in the order of ranks inside each node, then the nodes' results in the order of nodes. node_of: the
/// node of each operand, ascending.
inline Bytes reduced(const TypeOf& type, int op, double factor, const std::vector<const Bytes*>& operands,
                     const std::vector<int>& node_of) {
  const auto members = static_cast<double>(operands.size());
  if (node_of.front() == node_of.back()) return combined(type, op, op == SHMEMX_OP_AVG ? members : factor, operands);
  std::vector<Bytes> results;
  for (size_t first = 0, end = 0; first < operands.size(); first = end) {
    while (end < operands.size() && node_of[end] == node_of[first]) ++end;
    const std::vector<const Bytes*> of_node(operands.begin() + static_cast<long>(first),
                                            operands.begin() + static_cast<long>(end));
    results.push_back(combined(type, op == SHMEMX_OP_AVG ? static_cast<int>(SHMEMX_OP_SUM) : op, factor, of_node));
  }
  std::vector<const Bytes*> nodes;
  for (const Bytes& result : results) nodes.push_back(&result);
  return combined(type, op == SHMEMX_OP_PREMUL_SUM ? static_cast<int>(SHMEMX_OP_SUM) : op, members, nodes);
}

/// `n` elements of a PE in a round: numbers that are no integers, small enough for products to stay finite.
inline Bytes operand_of(const TypeOf& type, size_t n, int pe, int round) {
  Bytes bytes(n * type.nbytes);
  const auto value = [&](size_t i) {
    const auto mixed =
        (static_cast<uint64_t>(i) * 2654435761u + static_cast<uint64_t>(pe * 7919 + round * 104729)) % 61;
    return static_cast<double>(mixed) / 16 - 1.5;
  };
  const auto put = [&](auto convert) {
    using T = decltype(convert(0.0));
    for (size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
      const T element = convert(value(i));
      std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
    }
  };
  switch (type.datatype) {
    case SHMEMX_DATATYPE_FLOAT:
    case SHMEMX_DATATYPE_COMPLEX_FLOAT:
      put([](double v) { return static_cast<float>(v * 1.1); });
      break;
    case SHMEMX_DATATYPE_DOUBLE:
    case SHMEMX_DATATYPE_COMPLEX_DOUBLE:
      put([](double v) { return v * 1.1; });
      break;
    case SHMEMX_DATATYPE_HALF:
      put([](double v) { return Half(static_cast<float>(v * 1.1)); });
      break;
    case SHMEMX_DATATYPE_BFLOAT16:
      put([](double v) { return Bfloat16(static_cast<float>(v * 1.1)); });
      break;
    case SHMEMX_DATATYPE_FLOAT8_E4M3:
      put([](double v) { return Float8E4M3(static_cast<float>(v * 1.1)); });
      break;
    case SHMEMX_DATATYPE_FLOAT8_E5M2:
      put([](double v) { return Float8E5M2(static_cast<float>(v * 1.1)); });
      break;
    default:
      for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] =
            static_cast<std::byte>((i * 131 + static_cast<size_t>(pe) * 17 + static_cast<size_t>(round) * 29) ^ i >> 8);
  }
  return bytes;
}

/// The node of each PE, as SHMEM_NODE_SIZE makes them.
inline std::vector<int> node_of_pe(int npes) {
  const char* const text = std::getenv("SHMEM_NODE_SIZE");
  const int size = text == nullptr || std::atoi(text) == 0 ? npes : std::atoi(text);
  std::vector<int> nodes;
  for (int pe = 0; pe < npes; ++pe) nodes.push_back(pe / size);
  return nodes;
}

}  // namespace railshmem::multi
