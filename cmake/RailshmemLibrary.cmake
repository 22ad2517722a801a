# SPDX-License-Identifier: BSD-3-Clause
# librailshmem.so from all layers, plus a static twin whose hidden names the unit tests can reach.

get_property(layers GLOBAL PROPERTY RAILSHMEM_LAYERS)
get_property(libraries GLOBAL PROPERTY RAILSHMEM_LIBRARIES)
set(objects "")
foreach(layer ${layers})
  list(APPEND objects $<TARGET_OBJECTS:${layer}>)
endforeach()

add_library(railshmem SHARED ${objects})
# Exports are listed. Every other name must be found in the library itself or in the libraries it links.
set(export_map ${PROJECT_SOURCE_DIR}/src/railshmem.map)
# nodelete: a program may close the library with dlclose() while threads, exit and fork handlers of it remain.
target_link_options(railshmem PRIVATE -Wl,--version-script=${export_map} -Wl,-z,nodelete)
set_target_properties(railshmem PROPERTIES LINK_DEPENDS ${export_map})
set(RAILSHMEM_SOVERSION 0)  # docs/abi.md
set_target_properties(railshmem PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${RAILSHMEM_SOVERSION})
target_link_libraries(railshmem PRIVATE Threads::Threads ${libraries} ${CMAKE_DL_LIBS})
target_include_directories(railshmem INTERFACE "$<BUILD_INTERFACE:${RAILSHMEM_INCLUDES}>"
                                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set_target_properties(railshmem PROPERTIES EXPORT_NAME shmem)
add_library(RailSHMEM::shmem ALIAS railshmem)

add_library(railshmem_static STATIC EXCLUDE_FROM_ALL ${objects})
target_link_libraries(railshmem_static PUBLIC railshmem_flags ${libraries} ${CMAKE_DL_LIBS})
if(TARGET railshmem_libfabric)
  add_dependencies(railshmem railshmem_libfabric)
  add_dependencies(railshmem_static railshmem_libfabric)
endif()
