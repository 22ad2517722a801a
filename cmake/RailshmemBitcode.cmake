# SPDX-License-Identifier: BSD-3-Clause
# The device functions (python/device) for compilers that link them into kernels, in the folder of the plug-ins:
#   librailshmem_device.bc      by clang: LLVM's bitcode, for Triton
#   librailshmem_device.ptx     made of it: for Numba with any CUDA from 12.4 on
#   librailshmem_device.ltoir   by nvcc: NVIDIA's LTO-IR, for nvJitLink of nvcc's major version, which inlines the calls
# RAILSHMEM_BITCODE is AUTO, ON or OFF. Neither CUDA's headers nor a GPU are needed for the first two.
set(RAILSHMEM_BITCODE AUTO CACHE STRING "Build the device functions as LLVM bitcode: AUTO (if a fitting clang is found), ON (required) or OFF")
set_property(CACHE RAILSHMEM_BITCODE PROPERTY STRINGS AUTO ON OFF)
if(NOT RAILSHMEM_BITCODE MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "RAILSHMEM_BITCODE is '${RAILSHMEM_BITCODE}'; accepted: AUTO, ON, OFF")
endif()

set(device_dir ${PROJECT_SOURCE_DIR}/python/device)
set(device_includes -I${PROJECT_SOURCE_DIR})
foreach(folder ${RAILSHMEM_INCLUDES})
  list(APPEND device_includes -I${folder})
endforeach()
# Code for every GPU from Turing on, like the library's portable kernels. LLVM and nvJitLink make it that of the kernel's GPU.
# No CUDA is looked for: the build is that of a machine without one.
set(bitcode_flags -x cuda --cuda-device-only --cuda-path=/nonexistent -nocudainc -nocudalib --cuda-gpu-arch=sm_75 --cuda-feature=+ptx84
                  -std=c++17 -O2 -emit-llvm)

# railshmem_fitting_clang(result path): whether this clang writes what all supported Tritons read. LLVM reads the bitcode of older ones:
# Triton 3.4 has a snapshot from after LLVM 20. Clangs before 19 do not write PTX 8.4, which has atomic loads and stores of 16 bytes.
function(railshmem_fitting_clang result path)
  set(${result} FALSE PARENT_SCOPE)
  execute_process(COMMAND ${path} --version OUTPUT_VARIABLE said ERROR_QUIET)
  if(NOT said MATCHES "clang version ([0-9]+)\\." OR CMAKE_MATCH_1 LESS 19 OR CMAKE_MATCH_1 GREATER 20)
    return()
  endif()
  set(probe ${PROJECT_BINARY_DIR}/CMakeFiles/bitcode_probe.cu)
  file(WRITE ${probe} "extern \"C\" __attribute__((device)) int probe() { return 1; }\n")
  execute_process(COMMAND ${path} ${bitcode_flags} -S -o ${probe}.ll ${probe} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed EQUAL 0)
    set(${result} TRUE PARENT_SCOPE)
  endif()
endfunction()

set(bitcode_found OFF)
if(NOT RAILSHMEM_BITCODE STREQUAL "OFF" AND NOT RAILSHMEM_SANITIZE)
  find_program(RAILSHMEM_CLANG NAMES clang-19 clang-20 clang VALIDATOR railshmem_fitting_clang)
  mark_as_advanced(RAILSHMEM_CLANG)
  if(RAILSHMEM_CLANG)
    set(bitcode_found ON)
  endif()
endif()
railshmem_require(BITCODE bitcode_found "clang 19 or 20 (Debian: clang-19), for Triton and Numba")

set(device_files "")
set(device_name ${RAILSHMEM_PLUGIN_BUILD_DIR}/librailshmem_device)
if(RAILSHMEM_HAVE_BITCODE)
  set(text ${PROJECT_BINARY_DIR}/CMakeFiles/device_calls.ll)
  set(portable ${PROJECT_BINARY_DIR}/CMakeFiles/device_calls.portable.ll)
  set(as_text -x ir --target=nvptx64-nvidia-cuda -Wno-override-module)
  add_custom_command(
    OUTPUT ${device_name}.bc ${device_name}.ptx
    COMMAND ${RAILSHMEM_CLANG} ${bitcode_flags} -Wall -Wextra -Werror -S ${device_includes} -isystem ${PROJECT_SOURCE_DIR}/include/shmem/nvrtc
            -MD -MF ${text}.d -MT ${device_name}.bc -o ${text} ${device_dir}/calls.cu
    COMMAND ${CMAKE_COMMAND} -DIN=${text} -DOUT=${portable} -P ${PROJECT_SOURCE_DIR}/cmake/BitcodeText.cmake
    COMMAND ${RAILSHMEM_CLANG} ${as_text} -O2 -emit-llvm -c -o ${device_name}.bc ${portable}
    COMMAND ${RAILSHMEM_CLANG} ${as_text} -O2 -march=sm_75 -Xclang -target-feature -Xclang +ptx84 -S -o ${device_name}.ptx ${portable}
    DEPENDS ${device_dir}/calls.cu ${PROJECT_SOURCE_DIR}/cmake/BitcodeText.cmake
    DEPFILE ${text}.d
    COMMENT "Device functions as LLVM bitcode" VERBATIM)
  list(APPEND device_files ${device_name}.bc ${device_name}.ptx)
endif()
if(RAILSHMEM_HAVE_CUDA AND NOT RAILSHMEM_SANITIZE)
  add_custom_command(
    OUTPUT ${device_name}.ltoir
    COMMAND ${RAILSHMEM_NVCC} -std=c++17 -dc -dlto -ltoir -arch=lto_75 ${device_includes} -MD -MF ${PROJECT_BINARY_DIR}/CMakeFiles/device_calls.ltoir.d
            -o ${device_name}.ltoir ${device_dir}/calls.cu
    DEPENDS ${device_dir}/calls.cu
    DEPFILE ${PROJECT_BINARY_DIR}/CMakeFiles/device_calls.ltoir.d
    COMMENT "Device functions as LTO-IR" VERBATIM)
  list(APPEND device_files ${device_name}.ltoir)
endif()
if(device_files)
  file(MAKE_DIRECTORY ${RAILSHMEM_PLUGIN_BUILD_DIR})
  add_custom_target(railshmem_device ALL DEPENDS ${device_files})
  install(FILES ${device_files} DESTINATION ${RAILSHMEM_PLUGIN_INSTALL_DIR} COMPONENT dev)
endif()
