# SPDX-License-Identifier: BSD-3-Clause
# Options, compiler flags and external packages.

foreach(feature CUDA MPI PMIX OFI HWLOC)
  set(RAILSHMEM_${feature} AUTO CACHE STRING "Build with ${feature}: AUTO (if found), ON (required) or OFF")
  set_property(CACHE RAILSHMEM_${feature} PROPERTY STRINGS AUTO ON OFF)
  if(NOT RAILSHMEM_${feature} MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "RAILSHMEM_${feature} is '${RAILSHMEM_${feature}}'; accepted: AUTO, ON, OFF")
  endif()
endforeach()
option(RAILSHMEM_PERFTEST "Build perftest" ON)
option(RAILSHMEM_EXAMPLES "Build the examples" ON)
option(RAILSHMEM_TESTS "Build the tests; needs GoogleTest" OFF)
set(RAILSHMEM_SANITIZE "" CACHE STRING "Sanitizers for everything, for example address,undefined or thread")
# tests/fuzz under libFuzzer, in a build of its own: preset fuzz, which scripts/fuzz.sh configures.
option(RAILSHMEM_FUZZ "Build the fuzz targets; needs clang with libFuzzer and RAILSHMEM_SANITIZE=fuzzer-no-link,address,undefined" OFF)
set(RAILSHMEM_FUZZ_SECONDS 20 CACHE STRING "How long ctest runs each fuzz target")
if(RAILSHMEM_FUZZ AND NOT (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND RAILSHMEM_SANITIZE MATCHES "fuzzer-no-link"))
  message(FATAL_ERROR "RAILSHMEM_FUZZ=ON needs clang with libFuzzer and RAILSHMEM_SANITIZE=fuzzer-no-link,address,undefined: run scripts/fuzz.sh --build")
endif()

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
find_package(Threads REQUIRED)

# Compiling a source a second time costs little where ccache is installed.
find_program(RAILSHMEM_CCACHE ccache)
if(RAILSHMEM_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${RAILSHMEM_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${RAILSHMEM_CCACHE})
endif()

# Everything of ours is compiled with these. A compiler that continuous integration does not run may warn of more: there
# KNOWN, which the builds with sanitizers use, leaves warnings alone.
set(RAILSHMEM_WERROR OFF CACHE STRING "Warnings are errors: ON, OFF, or KNOWN (with the compilers of continuous integration)")
set_property(CACHE RAILSHMEM_WERROR PROPERTY STRINGS ON OFF KNOWN)
if(RAILSHMEM_WERROR STREQUAL "KNOWN")
  set(RAILSHMEM_WERROR OFF)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^(12|14)[.]")
    set(RAILSHMEM_WERROR ON)
  endif()
  message(STATUS "RailSHMEM warnings are errors: ${RAILSHMEM_WERROR} (${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION})")
endif()
add_library(railshmem_flags INTERFACE)
# nvcc knows g++'s warnings only behind -Xcompiler.
target_compile_options(railshmem_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wshadow;-Wnon-virtual-dtor;$<$<BOOL:${RAILSHMEM_WERROR}>:-Werror>>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra;$<$<BOOL:${RAILSHMEM_WERROR}>:-Werror=all-warnings>>")
# GCC 12 warns of its own inlined std::string and std::vector at -O2 and above (its bugs 105651 and 105329, mended in 13).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(railshmem_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
  set(RAILSHMEM_NO_FALSE_OVERFLOW -Wno-stringop-overflow -Wno-array-bounds)  # for files that copy spans and vectors of bytes
endif()
target_link_libraries(railshmem_flags INTERFACE Threads::Threads)
target_include_directories(railshmem_flags INTERFACE ${PROJECT_SOURCE_DIR} ${RAILSHMEM_INCLUDES})
if(RAILSHMEM_SANITIZE)
  add_compile_options(-fsanitize=${RAILSHMEM_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${RAILSHMEM_SANITIZE})
  if(RAILSHMEM_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)  # it only says that ThreadSanitizer does not follow fences
  endif()
  if(RAILSHMEM_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  if(RAILSHMEM_SANITIZE MATCHES address AND RAILSHMEM_SANITIZE MATCHES undefined)
    # These checks take a fifth of the compile time, and AddressSanitizer reports what they would find.
    add_compile_options(-fno-sanitize=null,vptr,object-size)
  endif()
endif()

# For code that runs once per job and is mostly large headers of others (CLI11, nlohmann-json).
set(RAILSHMEM_RUNS_ONCE $<IF:$<CONFIG:Debug>,-O0,-O1>)
# For files of which nearly all is others' code: they run once per job, too, and are not searched for undefined behaviour.
set(RAILSHMEM_MOSTLY_OTHERS ${RAILSHMEM_RUNS_ONCE})
if(RAILSHMEM_SANITIZE MATCHES undefined)
  list(APPEND RAILSHMEM_MOSTLY_OTHERS -fno-sanitize=undefined)
endif()

# Developers build without batches, which shows that each file includes what it uses.
option(RAILSHMEM_BATCHES "Compile several files at a time: a first build takes less time, a build after a change more" OFF)

# railshmem_in_batches(target): compiles several files at a time, because the compiler reads mostly headers, which the
# files of a folder share. So names at namespace scope are unique in a folder.
function(railshmem_in_batches target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
  # GCC takes the files of a batch for headers.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endfunction()

# railshmem_may_be_in_batches(target): in batches where nobody changes one file after another, in first builds of
# scripts/test.sh and with sanitizers.
function(railshmem_may_be_in_batches target)
  if(RAILSHMEM_SANITIZE OR RAILSHMEM_BATCHES)
    railshmem_in_batches(${target})
  endif()
endfunction()

# railshmem_layer(name DIR...) compiles every .cpp of these folders into the object library railshmem_<name>.
# Which folder may include which is checked by scripts/check_layers.py, not by target_link_libraries.
function(railshmem_layer name)
  list(TRANSFORM ARGN APPEND /*.cpp OUTPUT_VARIABLE patterns)
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  add_library(railshmem_${name} OBJECT ${sources})
  target_link_libraries(railshmem_${name} PRIVATE railshmem_flags)
  railshmem_may_be_in_batches(railshmem_${name})
  set_property(GLOBAL APPEND PROPERTY RAILSHMEM_LAYERS railshmem_${name})
endfunction()

# railshmem_find(FEATURE found-variable-or-target description): honours AUTO, ON and OFF.
function(railshmem_require feature found needs)
  if(RAILSHMEM_${feature} STREQUAL "ON" AND NOT ${found})
    message(FATAL_ERROR "RAILSHMEM_${feature}=ON, but it needs ${needs}")
  endif()
  set(why "")
  if(RAILSHMEM_${feature} STREQUAL "OFF")
    set(why ", by option")
  elseif(NOT ${found})
    set(why ": it needs ${needs}")
  endif()
  if(RAILSHMEM_${feature} STREQUAL "OFF" OR NOT ${found})
    set(RAILSHMEM_HAVE_${feature} OFF CACHE INTERNAL "")
  else()
    set(RAILSHMEM_HAVE_${feature} ON CACHE INTERNAL "")
  endif()
  message(STATUS "RailSHMEM ${feature}: ${RAILSHMEM_HAVE_${feature}}${why}")
endfunction()

# A shared object must find every name in the libraries it links. The sanitizers' names come from the program.
if(NOT RAILSHMEM_SANITIZE)
  string(APPEND CMAKE_SHARED_LINKER_FLAGS " -Wl,-z,defs")
  string(APPEND CMAKE_MODULE_LINKER_FLAGS " -Wl,-z,defs")
endif()
