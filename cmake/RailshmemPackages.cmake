# SPDX-License-Identifier: BSD-3-Clause
# What cpack makes (docs/packages.md). scripts/package.sh sets CPACK_GENERATOR to DEB or RPM. Plug-ins are packages of their own,
# because each needs a library that the others do without.
set(CPACK_PACKAGE_NAME railshmem)
set(CPACK_PACKAGE_VENDOR "The RailSHMEM developers")
set(CPACK_PACKAGE_CONTACT "The RailSHMEM developers <railshmem@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_FILE ${PROJECT_SOURCE_DIR}/cmake/packages/description.txt)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_ALL "")

# Names by Debian's and by Fedora's custom, and where each has the licence of a package.
if(CPACK_GENERATOR STREQUAL "RPM")
  include(packages/Rpm)
  set(runtime railshmem-libs)
  set(dev railshmem-devel)
  set(plugin railshmem)
  set(licence licenses LICENSE)
else()
  include(packages/Deb)
  set(runtime librailshmem${RAILSHMEM_SOVERSION})
  set(dev librailshmem-dev)
  set(plugin ${runtime})
  set(licence doc copyright)
endif()

# railshmem_package(COMPONENT NAME SECTION SUMMARY [DEPENDS package...] [RECOMMENDS package...]): the package of a
# component. It needs exactly this version of our packages that it depends on.
macro(railshmem_package component name section summary)
  cmake_parse_arguments(package "" "" "DEPENDS;RECOMMENDS" ${ARGN})
  string(TOUPPER ${component} upper)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}")
  railshmem_package_fields(${upper} ${name} ${section} "${summary}" "${package_DEPENDS}" "${package_RECOMMENDS}")
  # Packages alone have it: a plain `cmake --install` leaves it out.
  list(GET licence 0 folder)
  list(GET licence 1 file)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder}/${name} RENAME ${file}
          COMPONENT ${component} EXCLUDE_FROM_ALL)
endmacro()

# railshmem_package_contains(COMPONENT NAME package...): programs of our package NAME contain code of these packages of Debian,
# whose licences come from the machine that builds.
function(railshmem_package_contains component name)
  list(GET licence 0 folder)
  foreach(package ${ARGN})
    if(EXISTS /usr/share/doc/${package}/copyright)
      install(FILES /usr/share/doc/${package}/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder}/${name} RENAME ${package}.copyright
              COMPONENT ${component} EXCLUDE_FROM_ALL)
    else()
      message(STATUS "packages: ${name} lacks the licence of ${package}, whose code it contains: there is no /usr/share/doc/${package}/copyright")
    endif()
  endforeach()
endfunction()

railshmem_package(runtime ${runtime} libs "OpenSHMEM over all rails, for CPUs and GPUs: the library" RECOMMENDS ${plugin}-libfabric railshmem)
railshmem_package(dev ${dev} libdevel "OpenSHMEM over all rails: headers, oshcc, CMake and pkg-config files"
                  DEPENDS ${runtime} RECOMMENDS railshmem railshmem-doc)
railshmem_package(launcher railshmem utils "OpenSHMEM over all rails: the launcher oshrun")
railshmem_package_contains(launcher railshmem libcli11-dev)
railshmem_package(doc railshmem-doc doc "OpenSHMEM over all rails: man pages")
if(TARGET shmem_perf)
  railshmem_package(perftest railshmem-perftest utils "OpenSHMEM over all rails: benchmarks, and what the library sees of a machine"
                    DEPENDS ${runtime} RECOMMENDS railshmem)
  railshmem_package_contains(perftest railshmem-perftest libcli11-dev nlohmann-json3-dev)
endif()
if(TARGET railshmem_libfabric)
  railshmem_package(libfabric ${plugin}-libfabric libs "OpenSHMEM over all rails: networks by libfabric" DEPENDS ${runtime})
endif()
if(TARGET railshmem_pmix)
  railshmem_package(pmix ${plugin}-pmix libs "OpenSHMEM over all rails: start by PMIx" DEPENDS ${runtime})
endif()
foreach(flavour openmpi mpich)
  if(TARGET railshmem_mpi_${flavour})
    railshmem_package(mpi_${flavour} ${plugin}-mpi-${flavour} libs "OpenSHMEM over all rails: start by ${flavour}" DEPENDS ${runtime})
  endif()
endforeach()

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
