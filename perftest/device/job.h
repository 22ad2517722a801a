// SPDX-License-Identifier: BSD-3-Clause
// What the host side of a bench asks of the measured library. One definition for each library: job_*.cu.
#pragma once

#include <cstddef>
#include <string>

namespace railshmem::perf::gpu::job {

/// Starts the library and makes `device` current, in the order that the library likes.
void start(int device);
void stop();

int pe();
int npes();
/// Barrier of the host over all PEs; does not wait for kernels.
void barrier();

/// Symmetric GPU memory; collective. Null when there is not enough.
void* allocate(size_t nbytes);
void release(void* block);
/// Where PE `pe`'s copy of a symmetric address is mapped here; null where load and store do not reach it. Null for
/// every PE, this one included, where the library maps nothing for programs.
void* mapped(const void* address, int pe);
/// How rows call the way to a PE whose memory is mapped here or not.
const char* way(bool mapped);
/// Copies symmetric memory of PE `pe` into this PE's. All PEs call it with one `pe` where nothing is mapped.
void get(void* dest, const void* source, size_t nbytes, int pe);

/// Name and version of the library.
std::string library();
/// What to set when allocate() returns null.
const char* heap_variable();

}  // namespace railshmem::perf::gpu::job
