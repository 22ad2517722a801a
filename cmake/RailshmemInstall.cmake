# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` puts where. Everything finds everything else by relative paths, so a prefix can be moved. Each
# COMPONENT is a package (RailshmemPackages.cmake).
include(CMakePackageConfigHelpers)
foreach(kind BIN INCLUDE LIB)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${kind}DIR}")
    message(FATAL_ERROR "CMAKE_INSTALL_${kind}DIR is '${CMAKE_INSTALL_${kind}DIR}'; it must be relative to the prefix")
  endif()
endforeach()
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/RailSHMEM)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(generated_dir ${PROJECT_BINARY_DIR}/install)

install(TARGETS railshmem railshmem_overlap railshmem_moe EXPORT RailSHMEMTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        COMPONENT runtime NAMELINK_COMPONENT dev)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ ${RAILSHMEM_GENERATED}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
        FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh" PATTERN "type_traits")

install(FILES ${PROJECT_SOURCE_DIR}/docs/valgrind.supp DESTINATION ${CMAKE_INSTALL_DATADIR}/railshmem COMPONENT dev)

# find_package(RailSHMEM)
install(EXPORT RailSHMEMTargets NAMESPACE RailSHMEM:: DESTINATION ${package_dir} COMPONENT dev)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/install/RailSHMEMConfig.cmake.in
                              ${generated_dir}/RailSHMEMConfig.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change anything.
write_basic_package_version_file(${generated_dir}/RailSHMEMConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${generated_dir}/RailSHMEMConfig.cmake ${generated_dir}/RailSHMEMConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT dev)

# pkg-config
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${pkgconfig_dir}
           OUTPUT_VARIABLE PC_TO_PREFIX)
configure_file(${CMAKE_CURRENT_LIST_DIR}/install/railshmem.pc.in ${generated_dir}/railshmem.pc @ONLY)
install(FILES ${generated_dir}/railshmem.pc DESTINATION ${pkgconfig_dir} COMPONENT dev)

# railshmem_wrapper(C OSHCC_CC CC gcc ${CMAKE_C_COMPILER} oshcc): a compiler wrapper in bin/, under each of the names
function(railshmem_wrapper WRAPPER_LANGUAGE WRAPPER_VARIABLE WRAPPER_IGNORED_VARIABLE WRAPPER_EXAMPLE WRAPPER_COMPILER)
  list(GET ARGN 0 WRAPPER_NAME)
  set(WRAPPER_CHOSEN "\${${WRAPPER_VARIABLE}:-}")
  set(WRAPPER_RUNNING "\${${WRAPPER_VARIABLE}_RUNNING:-}")
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}
             OUTPUT_VARIABLE WRAPPER_BIN_TO_PREFIX)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/install/oshwrapper.in ${generated_dir}/${WRAPPER_NAME} @ONLY)
  foreach(name ${ARGN})
    install(PROGRAMS ${generated_dir}/${WRAPPER_NAME} DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME ${name} COMPONENT dev)
  endforeach()
endfunction()
railshmem_wrapper(C OSHCC_CC CC gcc ${CMAKE_C_COMPILER} oshcc)
railshmem_wrapper(C++ OSHCXX_CXX CXX g++ ${CMAKE_CXX_COMPILER} oshc++ oshcxx oshCC oshCXX)

# module load railshmem
set(modulefile_dir ${CMAKE_INSTALL_DATADIR}/railshmem/modulefiles/railshmem)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${modulefile_dir}
           OUTPUT_VARIABLE MODULEFILE_TO_PREFIX)
configure_file(${CMAKE_CURRENT_LIST_DIR}/install/modulefile.in ${generated_dir}/modulefile @ONLY)
install(FILES ${generated_dir}/modulefile DESTINATION ${modulefile_dir} RENAME ${PROJECT_VERSION} COMPONENT launcher)
