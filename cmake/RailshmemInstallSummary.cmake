# SPDX-License-Identifier: BSD-3-Clause
# One line at the end of `cmake --install` instead of one for each of 3,000 files, most of them man pages. The manifest
# lists all. -DCMAKE_INSTALL_MESSAGE=ALWAYS brings CMake's lines back. This file comes last, since install rules run in order.
install(CODE [[
  list(LENGTH CMAKE_INSTALL_MANIFEST_FILES railshmem_files)
  if(railshmem_files GREATER 0)
    set(railshmem_manifest install_manifest.txt)
    if(CMAKE_INSTALL_COMPONENT)
      set(railshmem_manifest install_manifest_${CMAKE_INSTALL_COMPONENT}.txt)
    endif()
    message(STATUS "RailSHMEM: ${railshmem_files} files are in $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}; ${railshmem_manifest} in the build folder lists them")
  endif()
]] ALL_COMPONENTS)
