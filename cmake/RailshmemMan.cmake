# SPDX-License-Identifier: BSD-3-Clause
# Man pages: shmem_put(3), oshrun(1), railshmem(7) and their like, written by scripts/gen_man.py from the table of
# the API, shmemx.h, the table of environment variables and what the programs say to --help.
if(DEFINED SKBUILD)
  return()  # nothing looks for man pages in a wheel
endif()
if(EXISTS ${RAILSHMEM_GENERATED}/man)  # a release tarball
  install(DIRECTORY ${RAILSHMEM_GENERATED}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT doc)
  return()
endif()
if(NOT Python3_Interpreter_FOUND OR CMAKE_CROSSCOMPILING OR RAILSHMEM_SANITIZE)
  message(STATUS "RailSHMEM man pages: OFF (they need Python ${RAILSHMEM_PYTHON_MINIMUM} or newer, and a build whose programs run here)")
  return()
endif()
set(man_dir ${PROJECT_BINARY_DIR}/man)
set(man_scripts api/environment.py api/lists.py api/model.py api/table.toml check_api.py gen_man.py)
list(TRANSFORM man_scripts PREPEND ${PROJECT_SOURCE_DIR}/scripts/)
set(man_programs "")
foreach(program oshrun shmem_perf shmem_info)
  if(TARGET ${program})
    list(APPEND man_programs $<TARGET_FILE:${program}>)
  endif()
endforeach()
add_custom_command(OUTPUT ${man_dir}.written
                   COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/gen_man.py ${man_dir} ${PROJECT_VERSION} ${man_programs}
                   COMMAND ${CMAKE_COMMAND} -E touch ${man_dir}.written
                   DEPENDS ${man_scripts} ${PROJECT_SOURCE_DIR}/include/shmemx.h ${PROJECT_SOURCE_DIR}/src/base/env_table.inc ${PROJECT_SOURCE_DIR}/README.md
                           ${man_programs}
                   COMMENT "Man pages" VERBATIM)
add_custom_target(railshmem_man ALL DEPENDS ${man_dir}.written)
install(DIRECTORY ${man_dir}/ DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT doc OPTIONAL)  # absent where only some targets are built

# cmake --build BUILD --target dist: a release tarball in dist of the build folder
if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(dist COMMAND ${CMAKE_COMMAND} -DOUT=${PROJECT_BINARY_DIR}/dist -DMAN=${man_dir} -DPYTHON=${Python3_EXECUTABLE}
                                 -P ${PROJECT_SOURCE_DIR}/cmake/dist.cmake VERBATIM)
  add_dependencies(dist railshmem_man)
endif()
