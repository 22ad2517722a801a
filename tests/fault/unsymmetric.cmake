# SPDX-License-Identifier: BSD-3-Clause
# Objects that are not symmetric: the message says what the object is, and why global objects are not symmetric where
# that is known since the start.
add_library(fault_unsymmetric_library SHARED unsymmetric_library.c)
foreach(name unsymmetric unsymmetric_other)
  add_executable(fault_${name} unsymmetric.c)
  set_target_properties(fault_${name} PROPERTIES OUTPUT_NAME ${name})
  target_link_libraries(fault_${name} PRIVATE RailSHMEM::shmem fault_unsymmetric_library)
endforeach()
target_compile_definitions(fault_unsymmetric_other PRIVATE OTHER_EXECUTABLE)

# unsymmetric(test object [ENV name=value...] expectations...)
function(unsymmetric test object)
  cmake_parse_arguments(job "" "" "ENV;EXPECT" ${ARGN})
  set(options --env SHMEM_TRANSPORT=p2p --expect "PE 1: error: shmem_long_p: .*0x[0-9a-f]+ .*is not symmetric: ")
  foreach(variable ${job_ENV})
    list(APPEND options --env ${variable})
  endforeach()
  foreach(regex ${job_EXPECT})
    list(APPEND options --expect "${regex}")
  endforeach()
  fault_test(unsymmetric.${test} OPTIONS ${options} --forbid "nil"
             COMMAND $<TARGET_FILE:oshrun> -n 2 --timeout 45 $<TARGET_FILE:fault_unsymmetric> ${object})
endfunction()
set(heap "the heap is .0x[0-9a-f]+, 0x[0-9a-f]+.")
set(segment "the executable's global objects are .0x[0-9a-f]+, 0x[0-9a-f]+.")
unsymmetric(library library EXPECT "an object of the shared library libfault_unsymmetric_library.so, and only the executable's are symmetric"
            "allocate with shmem_malloc, or use a global or static object of the executable. ${heap}, ${segment}")
unsymmetric(thread thread EXPECT "it is a thread-local object" ${heap} ${segment})
unsymmetric(constant constant EXPECT "it is constant data of the executable" ${heap} ${segment})
unsymmetric(stack stack EXPECT "it is on the stack" ${heap} ${segment})
unsymmetric(malloc malloc EXPECT "it is neither in the symmetric heap nor a global object" ${heap} ${segment})
set(off "SHMEM_DATA_SEGMENT is off. set it to auto")
unsymmetric(off global ENV SHMEM_DATA_SEGMENT=off
            EXPECT "it is a global object of the executable, and these are not symmetric in this job: ${off}, or allocate with shmem_malloc")
unsymmetric(off_stack stack ENV SHMEM_DATA_SEGMENT=off
            EXPECT "allocate with shmem_malloc. ${heap}, and no global object is symmetric in this job: ${off}")
unsymmetric(off_checked global ENV SHMEM_DATA_SEGMENT=off SHMEM_CHECK=1 EXPECT "not symmetric in this job: ${off}.*called at .*unsymmetric")
unsymmetric(library_checked library ENV SHMEM_CHECK=1 EXPECT "an object of the shared library libfault_unsymmetric_library.so.*called at .*unsymmetric")
fault_test(unsymmetric.other_executable OPTIONS --env SHMEM_TRANSPORT=p2p --forbid "nil"
           --expect "PE 1: error: shmem_long_p: address 0x[0-9a-f]+ .for PE 0. is not symmetric: it is a global object of the executable, and these are not symmetric in this job: PE 1 runs another executable than PE 0. start one executable on all PEs, or allocate with shmem_malloc"
           COMMAND $<TARGET_FILE:oshrun> -n 2 --timeout 45
           sh -c "test $RAILSHMEM_LAUNCHER_PE = 1 && exec \"$1\" global || exec \"$0\" global" $<TARGET_FILE:fault_unsymmetric>
           $<TARGET_FILE:fault_unsymmetric_other>)
