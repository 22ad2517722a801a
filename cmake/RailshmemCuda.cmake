# SPDX-License-Identifier: BSD-3-Clause
# RAILSHMEM_CUDA: nvcc, for headers that kernels include and for the library's own kernels. The library never links
# CUDA.
set(nvcc_found OFF)
if(NOT RAILSHMEM_CUDA STREQUAL "OFF")
  find_program(RAILSHMEM_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
  mark_as_advanced(RAILSHMEM_NVCC)
  if(RAILSHMEM_NVCC)
    set(nvcc_found ON)
  endif()
endif()
railshmem_require(CUDA nvcc_found "nvcc in PATH, in CUDA_PATH/bin or in /usr/local/cuda/bin")
if(RAILSHMEM_HAVE_CUDA)
  set(RAILSHMEM_NVCC_FOR_TESTS ${RAILSHMEM_NVCC})
else()
  set(RAILSHMEM_NVCC_FOR_TESTS no-nvcc)  # no such program: the tests say that they skip it
endif()
