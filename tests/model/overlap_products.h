// SPDX-License-Identifier: BSD-3-Clause
// A cuBLASLt for the model: what a product does is a function of the test.
#pragma once

#include <shmemx.h>

#include <cstddef>
#include <functional>

namespace railshmem::model {

/// A product as the library gives it to a stream: rows of a, what beta times is added to them, and where results go.
struct GivenProduct {
  size_t nrows;
  const void* a;
  float beta;
  const void* added;
  void* c;
  shmemx_stream_t stream;
};

/// Is called for each product of cuBLASLt.
std::function<void(const GivenProduct&)>& on_product();

}  // namespace railshmem::model
