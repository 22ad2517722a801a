# SPDX-License-Identifier: BSD-3-Clause
# The library's own kernels (src/cuda/kernels/*.cu) as bytes in the library: it never links CUDA.
# Code for Hopper, and portable code that the driver compiles for GPUs after and before it. Builds with sanitizers have
# only the portable code, which takes 2 s instead of 15.
set(kernel_targets -gencode arch=compute_75,code=compute_75)
set(RAILSHMEM_KERNEL_EFFORT 3 CACHE STRING "How hard ptxas optimises the library's own kernels for Hopper: 1 takes half of the time of 3")
mark_as_advanced(RAILSHMEM_KERNEL_EFFORT)
if(NOT RAILSHMEM_SANITIZE)
  list(APPEND kernel_targets -gencode arch=compute_90,code=sm_90 -Xptxas -O${RAILSHMEM_KERNEL_EFFORT})
endif()
set(RAILSHMEM_KERNEL_TARGETS ${kernel_targets} PARENT_SCOPE)  # for overlap/ and moe/
foreach(name words reduce stream coll)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/cuda/kernels/${name}.cu)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/kernel_image_${name}.cpp)
  set(fatbin ${CMAKE_CURRENT_BINARY_DIR}/${name}.fatbin)
  set(image "")
  if(RAILSHMEM_HAVE_CUDA)
    set(image ${fatbin})
    # Without fused products sums have the bits that the CPU gives them. The driver unpacks compressed images as it loads them.
    add_custom_command(
      OUTPUT ${fatbin}
      COMMAND ${RAILSHMEM_NVCC} -std=c++20 --fatbin --fmad=false --expt-relaxed-constexpr -I${PROJECT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/include
              -Xfatbin -compress-all ${kernel_targets} -o ${fatbin} ${source}
              -MD -MF ${fatbin}.d
      DEPENDS ${source}
      DEPFILE ${fatbin}.d
      VERBATIM)
  endif()
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DFATBIN=${image} -DOUT=${generated}
            -P ${PROJECT_SOURCE_DIR}/cmake/EmbedKernels.cmake
    DEPENDS ${image} ${PROJECT_SOURCE_DIR}/cmake/EmbedKernels.cmake
    VERBATIM)
  target_sources(railshmem_cuda PRIVATE ${generated})
endforeach()
