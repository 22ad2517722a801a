# SPDX-License-Identifier: BSD-3-Clause
# Kernels that a library brings with it, as bytes in the library: it never links CUDA.
# Code for Hopper, and portable code that the driver compiles for GPUs after and before it. Builds with sanitizers have
# only the portable code, which takes a quarter of the time.
set(RAILSHMEM_KERNELS_FOR "" CACHE STRING "One GPU architecture, such as 90, for which alone the libraries' own kernels are compiled; empty: code for Hopper and portable code")
if(NOT RAILSHMEM_KERNELS_FOR MATCHES "^[0-9]*$")
  message(FATAL_ERROR "RAILSHMEM_KERNELS_FOR is '${RAILSHMEM_KERNELS_FOR}'; give the compute capability without a dot, such as 90, or leave it empty")
endif()
set(kernel_targets -gencode arch=compute_75,code=compute_75)
# Effort 1 is not for GPUs: its kernels need more local memory than a context has (1 KB a thread), and a launch that makes
# room waits until all running kernels end, which may wait for it.
set(RAILSHMEM_KERNEL_EFFORT 3 CACHE STRING "How hard nvcc optimises the libraries' own kernels for Hopper: 3, or 1 for builds that no GPU runs, which takes a fifth of the time")
set(RAILSHMEM_KERNELS_OF "" CACHE PATH "A build folder of these sources whose compiled kernels of the libraries are taken; empty: they are compiled")
mark_as_advanced(RAILSHMEM_KERNEL_EFFORT RAILSHMEM_KERNELS_OF)
if(NOT RAILSHMEM_SANITIZE)
  list(APPEND kernel_targets -gencode arch=compute_90,code=sm_90)
  if(RAILSHMEM_KERNELS_FOR)
    set(kernel_targets -gencode arch=compute_${RAILSHMEM_KERNELS_FOR},code=sm_${RAILSHMEM_KERNELS_FOR})
  endif()
  set(knows_fast "")
  if(RAILSHMEM_HAVE_CUDA AND RAILSHMEM_KERNEL_EFFORT LESS 3)
    execute_process(COMMAND ${RAILSHMEM_NVCC} --help OUTPUT_VARIABLE help ERROR_QUIET)
    string(FIND "${help}" "--Ofast-compile" at)
    if(at GREATER -1)
      set(knows_fast ON)  # nvcc of CUDA 12.4 does not
    endif()
  endif()
  if(knows_fast)
    list(APPEND kernel_targets --Ofast-compile max)
  else()
    list(APPEND kernel_targets -Xptxas -O${RAILSHMEM_KERNEL_EFFORT})
  endif()
endif()

# railshmem_kernel_images(OUT FOLDER HEADER NAMESPACE name...): OUT becomes the sources whose NAME_kernels(), which the header
# declares in the namespace, is FOLDER/NAME.cu, compiled; empty where there is no nvcc.
function(railshmem_kernel_images out folder header namespace)
  set(images "")
  list(TRANSFORM RAILSHMEM_INCLUDES PREPEND -I OUTPUT_VARIABLE generated_includes)
  foreach(name ${ARGN})
    set(generated ${CMAKE_CURRENT_BINARY_DIR}/kernel_image_${name}.cpp)
    set(fatbin "")
    if(RAILSHMEM_HAVE_CUDA AND RAILSHMEM_KERNELS_OF)
      file(RELATIVE_PATH here ${PROJECT_BINARY_DIR} ${CMAKE_CURRENT_BINARY_DIR})
      set(fatbin ${RAILSHMEM_KERNELS_OF}/${here}/${name}.fatbin)
      if(NOT EXISTS ${fatbin})
        message(FATAL_ERROR "RAILSHMEM_KERNELS_OF is '${RAILSHMEM_KERNELS_OF}', and there is no ${fatbin}; build RailSHMEM there first, or leave the option empty")
      endif()
    elseif(RAILSHMEM_HAVE_CUDA)
      set(fatbin ${CMAKE_CURRENT_BINARY_DIR}/${name}.fatbin)
      # Without fused products sums have the bits that the CPU gives them. The driver unpacks compressed images as it loads them.
      add_custom_command(
        OUTPUT ${fatbin}
        COMMAND ${RAILSHMEM_NVCC} -std=c++20 --fatbin --fmad=false --expt-relaxed-constexpr -I${PROJECT_SOURCE_DIR} ${generated_includes}
                -Xfatbin -compress-all ${kernel_targets} -o ${fatbin} ${folder}/${name}.cu -MD -MF ${fatbin}.d
        DEPENDS ${folder}/${name}.cu
        DEPFILE ${fatbin}.d
        VERBATIM)
    endif()
    set(NAME ${name})
    set(HEADER ${header})
    set(NAMESPACE ${namespace})
    set(READ "")
    if(fatbin)
      set(READ ".incbin \\\"${fatbin}\\\"")
    endif()
    configure_file(${PROJECT_SOURCE_DIR}/cmake/kernel_image.cpp.in ${generated} @ONLY)
    # ccache does not keep what includes bytes, so it stays out of batches.
    set_source_files_properties(${generated} PROPERTIES OBJECT_DEPENDS "${fatbin}" SKIP_UNITY_BUILD_INCLUSION ON)
    list(APPEND images ${generated})
  endforeach()
  set(${out} ${images} PARENT_SCOPE)
endfunction()
