# SPDX-License-Identifier: BSD-3-Clause
# GPUs for tests on machines without one.

# on_fake_gpus(test... [WITHOUT_KERNELS] [WITH target...]): these tests find the fake driver (tests/gpu/fake_driver/driver) as
# libcuda.so.1, and the libraries WITH beside it. Tests get the driver by this function only (`scripts/lint.sh tests`). Without
# nvcc the library has no kernels: ctest then lists as disabled what does not say that it runs WITHOUT_KERNELS of the library.
function(on_fake_gpus)
  cmake_parse_arguments(PARSE_ARGV 0 fake "WITHOUT_KERNELS" "" "WITH")
  foreach(test ${fake_UNPARSED_ARGUMENTS})
    foreach(library railshmem_fake_cuda ${fake_WITH})
      set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT_MODIFICATION
                   "LD_LIBRARY_PATH=path_list_prepend:$<TARGET_FILE_DIR:${library}>")
    endforeach()
    if(NOT RAILSHMEM_HAVE_CUDA AND NOT fake_WITHOUT_KERNELS)
      set_property(TEST ${test} PROPERTY DISABLED ON)
    endif()
  endforeach()
endfunction()
