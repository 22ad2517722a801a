# SPDX-License-Identifier: BSD-3-Clause
# Debian's fields of a package (RailshmemPackages.cmake).
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/overlap ${PROJECT_BINARY_DIR}/moe)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)

macro(railshmem_package_fields upper name section summary depends recommends)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  string(REPLACE ";" ", " CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS "${recommends}")
  set(package_exactly ${depends})
  list(TRANSFORM package_exactly APPEND " (= ${PROJECT_VERSION})")
  list(JOIN package_exactly ", " CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS)
endmacro()
