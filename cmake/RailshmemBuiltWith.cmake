# SPDX-License-Identifier: BSD-3-Clause
# What shmem_info says of the build: the commit, and the versions of CUDA, MPI and PMIx.

# version_in(OUT SOURCE REGEX TARGET): what the preprocessor makes of SOURCE with the folders of TARGET, searched for REGEX.
function(version_in out source regex target)
  set(file ${PROJECT_BINARY_DIR}/CMakeFiles/built_with.c)
  file(WRITE ${file} "${source}\n")
  get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
  list(TRANSFORM folders PREPEND -I)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -E -P ${folders} ${file} OUTPUT_VARIABLE text ERROR_QUIET)
  string(REGEX MATCH "${regex}" found "${text}")
  set(${out} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

set(built_with_cuda none)
if(RAILSHMEM_NVCC AND NOT RAILSHMEM_CUDA STREQUAL "OFF")
  execute_process(COMMAND ${RAILSHMEM_NVCC} --version OUTPUT_VARIABLE text ERROR_QUIET)
  string(REGEX MATCH "release [0-9.]+, V([0-9.]+)" found "${text}")
  set(built_with_cuda "nvcc ${CMAKE_MATCH_1}")
endif()

set(built_with_mpi "")
if(TARGET railshmem_mpi_api_openmpi)
  version_in(version "#include <mpi.h>\nversion_is OMPI_MAJOR_VERSION.OMPI_MINOR_VERSION.OMPI_RELEASE_VERSION"
             "version_is ([0-9. ]+)" railshmem_mpi_api_openmpi)
  string(REPLACE " " "" version "${version}")
  list(APPEND built_with_mpi "Open MPI ${version}")
endif()
if(TARGET railshmem_mpi_api_mpich)
  version_in(version "#include <mpi.h>\nversion_is MPICH_VERSION" "version_is \"([^\"]+)\"" railshmem_mpi_api_mpich)
  list(APPEND built_with_mpi "MPICH ${version}")
endif()
list(JOIN built_with_mpi ", " built_with_mpi)
if(NOT built_with_mpi)
  set(built_with_mpi none)
endif()

set(built_with_pmix none)
if(TARGET railshmem_pmix)
  set(built_with_pmix "${pmix_VERSION}")
endif()

# The commit is looked up at each build; the header changes, and shmem_info is compiled anew, only when the commit does.
find_package(Git QUIET)
set(commit_header ${PROJECT_BINARY_DIR}/built_with/railshmem_commit.h)
add_custom_target(railshmem_commit BYPRODUCTS ${commit_header}
  COMMAND ${CMAKE_COMMAND} -D OUT=${commit_header} -D SOURCE=${PROJECT_SOURCE_DIR} -D GIT=${GIT_EXECUTABLE} -P ${CMAKE_CURRENT_LIST_DIR}/WriteCommit.cmake
  COMMENT "" VERBATIM)
