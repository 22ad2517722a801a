# SPDX-License-Identifier: BSD-3-Clause
# What scripts/gen_api.py writes: RAILSHMEM_GENERATED has include/ (headers), src/ (entry points), tests/ and docs/ (the reference).
# A release tarball brings that folder, and needs no Python. Otherwise it is in the build folder, written whenever CMake
# configures; a file whose text stays the same keeps its time, so nothing is compiled again.
# RAILSHMEM_INCLUDE has all public headers in one folder, as an installation has them: links to the files of both folders.
set(RAILSHMEM_PYTHON_MINIMUM 3.9)
if(EXISTS ${PROJECT_SOURCE_DIR}/generated/include/pshmem.h)
  set(RAILSHMEM_GENERATED ${PROJECT_SOURCE_DIR}/generated)
else()
  set(RAILSHMEM_GENERATED ${PROJECT_BINARY_DIR}/generated)
  find_package(Python3 ${RAILSHMEM_PYTHON_MINIMUM} COMPONENTS Interpreter QUIET)
  # Where Python3_EXECUTABLE is set, an older Python counts as found, too.
  if(NOT Python3_Interpreter_FOUND OR Python3_VERSION VERSION_LESS RAILSHMEM_PYTHON_MINIMUM)
    message(FATAL_ERROR "RailSHMEM's headers are written by scripts/gen_api.py, which needs Python ${RAILSHMEM_PYTHON_MINIMUM} or newer: found '${Python3_EXECUTABLE}' "
                        "(${Python3_VERSION}). Install python3, set Python3_EXECUTABLE, or build from a release tarball, which contains the headers")
  endif()
  execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/gen_api.py ${RAILSHMEM_GENERATED} RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "scripts/gen_api.py failed (${failed}); its message is above")
  endif()
  file(GLOB inputs ${PROJECT_SOURCE_DIR}/scripts/api/*)
  list(FILTER inputs EXCLUDE REGEX "__pycache__")
  list(APPEND inputs ${PROJECT_SOURCE_DIR}/scripts/gen_api.py ${PROJECT_SOURCE_DIR}/scripts/check_api.py
       ${PROJECT_SOURCE_DIR}/include/shmemx.h ${PROJECT_SOURCE_DIR}/src/base/env_table.inc)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${inputs})
endif()

set(RAILSHMEM_INCLUDE ${PROJECT_BINARY_DIR}/include)
set(RAILSHMEM_INCLUDES ${PROJECT_SOURCE_DIR}/include ${RAILSHMEM_GENERATED}/include)  # for our own targets
set(linked "")
foreach(folder ${RAILSHMEM_INCLUDES})
  file(GLOB_RECURSE headers RELATIVE ${folder} CONFIGURE_DEPENDS ${folder}/*)
  foreach(header ${headers})
    cmake_path(GET header PARENT_PATH parent)
    file(MAKE_DIRECTORY ${RAILSHMEM_INCLUDE}/${parent})
    file(CREATE_LINK ${folder}/${header} ${RAILSHMEM_INCLUDE}/${header} SYMBOLIC)
  endforeach()
  list(APPEND linked ${headers})
endforeach()
file(GLOB_RECURSE stale RELATIVE ${RAILSHMEM_INCLUDE} ${RAILSHMEM_INCLUDE}/*)
list(REMOVE_ITEM stale ${linked})
foreach(header ${stale})
  file(REMOVE ${RAILSHMEM_INCLUDE}/${header})
endforeach()
