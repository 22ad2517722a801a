# SPDX-License-Identifier: BSD-3-Clause
# What `cpack -G DEB` makes (docs/packages.md). Plug-ins are packages of their own, because each needs a
# library that the others do without.
set(CPACK_PACKAGE_NAME railshmem)
set(CPACK_PACKAGE_VENDOR "The RailSHMEM developers")
set(CPACK_PACKAGE_CONTACT "The RailSHMEM developers <railshmem@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_FILE ${PROJECT_SOURCE_DIR}/cmake/packages/description.txt)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/overlap)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_COMPONENTS_ALL "")
# railshmem_package(COMPONENT NAME SECTION SUMMARY [DEPENDS package...] [RECOMMENDS package...]): the package of a
# component. It needs exactly this version of our packages that it depends on.
macro(railshmem_package component name section summary)
  cmake_parse_arguments(package "" "" "DEPENDS;RECOMMENDS" ${ARGN})
  string(TOUPPER ${component} upper)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  list(JOIN package_RECOMMENDS ", " CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS)
  list(TRANSFORM package_DEPENDS APPEND " (= ${PROJECT_VERSION})" OUTPUT_VARIABLE package_exactly)
  list(JOIN package_exactly ", " CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS)
  # Packages alone have it: a plain `cmake --install` leaves it out.
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} RENAME copyright
          COMPONENT ${component} EXCLUDE_FROM_ALL)
endmacro()

set(runtime librailshmem${RAILSHMEM_SOVERSION})
railshmem_package(runtime ${runtime} libs "OpenSHMEM over all rails, for CPUs and GPUs: the library" RECOMMENDS ${runtime}-libfabric railshmem)
railshmem_package(dev librailshmem-dev libdevel "OpenSHMEM over all rails: headers, compiler wrappers, CMake and pkg-config files"
                  DEPENDS ${runtime} RECOMMENDS railshmem railshmem-doc)
railshmem_package(launcher railshmem utils "OpenSHMEM over all rails: the launcher oshrun")
railshmem_package(doc railshmem-doc doc "OpenSHMEM over all rails: man pages")
if(TARGET shmem_perf)
  railshmem_package(perftest railshmem-perftest utils "OpenSHMEM over all rails: benchmarks, and what the library sees of a machine"
                    DEPENDS ${runtime} RECOMMENDS railshmem)
endif()
if(TARGET railshmem_libfabric)
  railshmem_package(libfabric ${runtime}-libfabric libs "OpenSHMEM over all rails: networks by libfabric" DEPENDS ${runtime})
endif()
if(TARGET railshmem_pmix)
  railshmem_package(pmix ${runtime}-pmix libs "OpenSHMEM over all rails: start by PMIx" DEPENDS ${runtime})
endif()
foreach(flavour openmpi mpich)
  if(TARGET railshmem_mpi_${flavour})
    railshmem_package(mpi_${flavour} ${runtime}-mpi-${flavour} libs "OpenSHMEM over all rails: start by ${flavour}" DEPENDS ${runtime})
  endif()
endforeach()
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)

# Open MPI has programs of the names oshrun and oshcc in /usr/bin. Where ours lie in another folder, /usr/bin has links to them.
function(railshmem_link component program name)
  set(link ${PROJECT_BINARY_DIR}/install/links/${name})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/install/links)
  file(CREATE_LINK ../${CMAKE_INSTALL_BINDIR}/${program} ${link} SYMBOLIC)
  install(FILES ${link} DESTINATION bin COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()
if(NOT CMAKE_INSTALL_BINDIR STREQUAL "bin")
  railshmem_link(launcher oshrun oshrun.railshmem)
  railshmem_link(dev oshcc oshcc.railshmem)
  railshmem_link(dev oshc++ oshc++.railshmem)
  railshmem_link(perftest shmem_info shmem_info)
  railshmem_link(perftest shmem_perf shmem_perf)
  if(TARGET shmem_gpu_perf)
    railshmem_link(perftest shmem_gpu_perf shmem_gpu_perf)
  endif()
endif()

include(CPack)
