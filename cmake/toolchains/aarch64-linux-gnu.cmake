# SPDX-License-Identifier: BSD-3-Clause
# 64-bit ARM from another machine, with Debian's cross compiler. scripts/cross.sh makes the sysroot and runs this:
#   cmake --toolchain cmake/toolchains/aarch64-linux-gnu.cmake -DRAILSHMEM_SYSROOT=DIR ...
# RAILSHMEM_SYSROOT: a folder with the headers and libraries of that machine; empty: those of the cross compiler alone.
# Programs that run while building, and tests, run under QEMU where it is installed.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(RAILSHMEM_SYSROOT "" CACHE PATH "Headers and libraries of the machine for which this is built")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES RAILSHMEM_SYSROOT)
if(RAILSHMEM_SYSROOT)
  set(CMAKE_SYSROOT ${RAILSHMEM_SYSROOT})
  set(ENV{PKG_CONFIG_SYSROOT_DIR} ${RAILSHMEM_SYSROOT})
  set(ENV{PKG_CONFIG_LIBDIR} ${RAILSHMEM_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${RAILSHMEM_SYSROOT}/usr/share/pkgconfig)
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()

find_program(RAILSHMEM_QEMU NAMES qemu-aarch64-static qemu-aarch64)
if(RAILSHMEM_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${RAILSHMEM_QEMU} -L "${RAILSHMEM_SYSROOT}")
endif()
