# SPDX-License-Identifier: BSD-3-Clause
# The library's own kernels (src/cuda/kernels/*.cu) as bytes in the library: it never links CUDA.
set(generated ${CMAKE_CURRENT_BINARY_DIR}/kernel_images.cpp)
set(source ${CMAKE_CURRENT_SOURCE_DIR}/cuda/kernels/words.cu)
if(RAILSHMEM_HAVE_CUDA)
  set(fatbin ${CMAKE_CURRENT_BINARY_DIR}/words.fatbin)
  # Code for Hopper, and portable code that the driver compiles for what comes after and before it.
  add_custom_command(
    OUTPUT ${fatbin}
    COMMAND ${RAILSHMEM_NVCC} -std=c++17 --fatbin -I${PROJECT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/include
            -gencode arch=compute_90,code=sm_90 -gencode arch=compute_75,code=compute_75 -o ${fatbin} ${source}
            -MD -MF ${fatbin}.d
    DEPENDS ${source}
    DEPFILE ${fatbin}.d
    VERBATIM)
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DFATBIN=${fatbin} -DOUT=${generated} -P ${PROJECT_SOURCE_DIR}/cmake/EmbedKernels.cmake
    DEPENDS ${fatbin} ${PROJECT_SOURCE_DIR}/cmake/EmbedKernels.cmake
    VERBATIM)
else()
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DOUT=${generated} -P ${PROJECT_SOURCE_DIR}/cmake/EmbedKernels.cmake
    DEPENDS ${PROJECT_SOURCE_DIR}/cmake/EmbedKernels.cmake
    VERBATIM)
endif()
target_sources(railshmem_cuda PRIVATE ${generated})
