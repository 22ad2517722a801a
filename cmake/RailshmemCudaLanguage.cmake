# SPDX-License-Identifier: BSD-3-Clause
# RAILSHMEM_CUDA_LANGUAGE: whether programs of kernels (tests/gpu/one_gpu, shmem_gpu_perf) are built; the language is CUDA then.
# RAILSHMEM_CUDA_ARCHITECTURES: the GPUs that these programs are compiled for.
set(RAILSHMEM_CUDA_LANGUAGE OFF)
set(RAILSHMEM_CUDA_ARCHITECTURES 90 CACHE STRING "GPUs that programs of kernels are compiled for")
if(RAILSHMEM_CUDA STREQUAL "OFF" OR RAILSHMEM_SANITIZE)
  return()  # nvcc knows no sanitizers of the host compiler's
endif()
include(CheckLanguage)
if(RAILSHMEM_NVCC AND NOT DEFINED ENV{CUDACXX})
  set(ENV{CUDACXX} ${RAILSHMEM_NVCC})
endif()
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(STATUS "RailSHMEM: no working CUDA compiler; programs of kernels are not built")
  return()
endif()
set(CMAKE_CUDA_ARCHITECTURES ${RAILSHMEM_CUDA_ARCHITECTURES})
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc 12 and newer have C++20
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
if(RAILSHMEM_CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${RAILSHMEM_CCACHE})
endif()
set(RAILSHMEM_CUDA_LANGUAGE ON)

# railshmem_cuda_batch(target name FILE...): these sources of the target are compiled as one. nvcc reads each file three
# times, and the C++ library's headers take most of that: five files take 10 s instead of 31. So names at namespace scope
# are unique in a batch. A file of no batch is compiled alone.
function(railshmem_cuda_batch target name)
  set(content "")
  foreach(file ${ARGN})
    string(APPEND content "#include \"${CMAKE_CURRENT_SOURCE_DIR}/${file}\"\n")
    set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/${file} PROPERTIES HEADER_FILE_ONLY ON)
  endforeach()
  set(batch ${CMAKE_CURRENT_BINARY_DIR}/${target}_${name}.cu)
  file(GENERATE OUTPUT ${batch} CONTENT "${content}")
  target_sources(${target} PRIVATE ${batch})
endfunction()
