# SPDX-License-Identifier: BSD-3-Clause
# Fedora's fields of a package (RailshmemPackages.cmake). rpmbuild itself finds which libraries and versions of symbols a package
# needs and provides.
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE BSD-3-Clause)
set(CPACK_RPM_PACKAGE_RELEASE_DIST ON)
set(CPACK_RPM_DOC_PACKAGE_ARCHITECTURE noarch)
set(CPACK_RPM_DEV_PACKAGE_GROUP Development/Libraries)
# rpm wants libraries executable; Debian's cmake installs them otherwise.
set(CMAKE_INSTALL_SO_NO_EXE OFF)
# Folders of the system's that no package of ours owns; CPack knows /usr, /usr/bin and the like.
foreach(folder ${CMAKE_INSTALL_MANDIR} ${CMAKE_INSTALL_MANDIR}/man1 ${CMAKE_INSTALL_MANDIR}/man3 ${CMAKE_INSTALL_MANDIR}/man7
        ${CMAKE_INSTALL_LIBDIR}/cmake ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_DATADIR}/licenses
        ${CMAKE_INSTALL_DATADIR}/bash-completion ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  list(APPEND CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/${folder})
endforeach()
# Nobody links with plug-ins, so packages do not provide them. Links to build ids belong to packages of debug information.
set(CPACK_RPM_SPEC_MORE_DEFINE "%global __provides_exclude_from ^/usr/${RAILSHMEM_PLUGIN_INSTALL_DIR}/.*$
%global _build_id_links none")

macro(railshmem_package_fields upper name section summary depends recommends)
  set(CPACK_RPM_${upper}_PACKAGE_NAME ${name})
  set(CPACK_RPM_${upper}_PACKAGE_SUMMARY "${summary}")
  set(CPACK_RPM_${upper}_USER_FILELIST "%license /usr/${CMAKE_INSTALL_DATADIR}/licenses/${name}/LICENSE")
  set(package_exactly ${depends})
  list(TRANSFORM package_exactly APPEND " = ${PROJECT_VERSION}")
  list(JOIN package_exactly ", " CPACK_RPM_${upper}_PACKAGE_REQUIRES)
  # CPack has no field for Recommends, but puts these lines among the fields of every package.
  foreach(package ${recommends})
    string(APPEND CPACK_RPM_SPEC_MORE_DEFINE "\n%if \"%{name}\" == \"${name}\"\nRecommends: ${package}\n%endif")
  endforeach()
endmacro()
