# SPDX-License-Identifier: BSD-3-Clause
# Wrong arguments of stream-ordered calls, on the fake driver.
add_executable(fault_bad_on_stream bad_on_stream.c)
set_target_properties(fault_bad_on_stream PROPERTIES OUTPUT_NAME bad_on_stream)
target_link_libraries(fault_bad_on_stream PRIVATE RailSHMEM::shmem)
add_dependencies(fault_bad_on_stream railshmem_fake_cuda)
target_compile_options(fault_bad_on_stream PRIVATE -Wall -Wextra $<$<BOOL:${RAILSHMEM_WERROR}>:-Werror>)
set(on_stream_env --env RAILSHMEM_FAKE_GPUS=2
    --env SHMEM_HEAP_KIND=device --env SHMEM_DEVICE_HEAP_MAX=64M --env SHMEM_TRANSPORT=p2p)
set(on_stream_job $<TARGET_FILE:oshrun> -n 2 --timeout 45 $<TARGET_FILE:fault_bad_on_stream>)

# stream_mistake(name function [ENV NAME=VALUE] regex...)
function(stream_mistake name function)
  cmake_parse_arguments(mistake "" "ENV" "" ${ARGN})
  set(expectations "")
  foreach(regex ${mistake_UNPARSED_ARGUMENTS})
    list(APPEND expectations --expect "${regex}")
  endforeach()
  if(mistake_ENV)
    list(APPEND expectations --env ${mistake_ENV})
  endif()
  fault_test(stream_${name} OPTIONS ${on_stream_env} ${expectations}
             --expect "PE 1: error: shmemx_${function}_on_stream: " COMMAND ${on_stream_job} ${name})
endfunction()

stream_mistake(stride_zero long_iput "dest stride is 0 elements .PE 0." "at least 1")
stream_mistake(stride_negative iget64 "source stride is -1 elements .PE 0." "at least 1")
stream_mistake(strides_overflow long_iput "check the element count")
stream_mistake(strided_past_end long_iput "run past")
stream_mistake(strided_bad_pe long_iget "PE 2 does not exist" "PEs 0 to 1")
stream_mistake(strided_null long_iput "source is NULL" "valid address or 0 elements")
stream_mistake(source_of_host long_iput "source 0x[0-9a-f]+ is in plain host memory" "cudaMallocHost")
stream_mistake(dest_of_host long_iget "dest 0x[0-9a-f]+ is in plain host memory" "cudaMallocHost")
stream_mistake(dest_not_symmetric long_iput "address 0x[0-9a-f]+ .for PE 0. is not symmetric")
stream_mistake(words_of_host long_wait_until_all "does not lie in the memory of a GPU" "shmem_malloc")
stream_mistake(words_misaligned long_wait_until_all "is not a multiple of 8" "align the object")
stream_mistake(comparison long_wait_until_all "comparison 99" "SHMEM_CMP_EQ")
stream_mistake(status_of_host long_wait_until_all "status 0x[0-9a-f]+ is in plain host memory" "cudaMallocHost")
stream_mistake(values_of_host long_wait_until_all_vector "cmp_values 0x[0-9a-f]+ is in plain host memory")
stream_mistake(g_bad_pe long_g "PE -1 does not exist")
stream_mistake(g_not_symmetric long_g "is not symmetric")
stream_mistake(g_captured long_g "is being captured into a graph" "shmemx_getmem_on_stream"
               ENV RAILSHMEM_FAKE_CAPTURED=1)
stream_mistake(no_device_heap long_g "no heap in device memory: SHMEM_HEAP_KIND asks for host memory. set SHMEM_HEAP_KIND to device"
               ENV SHMEM_HEAP_KIND=host)
fault_test(stream_no_gpu OPTIONS ${on_stream_env} --env RAILSHMEM_FAKE_GPUS=0 --env SHMEM_HEAP_KIND=auto
           --expect "error: shmemx_long_g_on_stream: this job has no heap in device memory: no GPU found"
           COMMAND ${on_stream_job} no_device_heap)
stream_mistake(dealt_past_end long_sum_reducescatter "run past")
stream_mistake(dealt_from_host long_sum_reducescatter "is not symmetric")
# Wrong arguments of shmemx_coll_on_stream and its like, which refuse them.
add_executable(fault_bad_coll bad_coll.c)
set_target_properties(fault_bad_coll PROPERTIES OUTPUT_NAME bad_coll)
target_link_libraries(fault_bad_coll PRIVATE RailSHMEM::shmem)
add_dependencies(fault_bad_coll railshmem_fake_cuda)
target_compile_options(fault_bad_coll PRIVATE -Wall -Wextra $<$<BOOL:${RAILSHMEM_WERROR}>:-Werror>)
# coll_mistake(name regex...)
function(coll_mistake name)
  set(expectations "")
  foreach(regex ${ARGN})
    list(APPEND expectations --expect "${regex}")
  endforeach()
  fault_test(stream_coll_${name} OPTIONS ${on_stream_env} ${expectations} --expect "PE 1: error: shmemx_[a-z_]+: "
             COMMAND $<TARGET_FILE:oshrun> -n 2 --timeout 45 $<TARGET_FILE:fault_bad_coll> ${name})
endfunction()
coll_mistake(no_size "its size is not set" "SHMEMX_COLL_INITIALIZER")
coll_mistake(collective "collective 99 is invalid" "SHMEMX_COLL_")
coll_mistake(team "is no team of this PE" "SHMEM_TEAM_WORLD")
coll_mistake(datatype "datatype 99 is invalid")
coll_mistake(op "op 99 is invalid")
coll_mistake(bits_of_float "op 0 works on bits, and takes integer types only")
coll_mistake(max_of_complex "complex numbers do not have")
coll_mistake(average_of_int "takes floating-point and complex types")
coll_mistake(root "root is 2; the team has ranks 0 to 1")
coll_mistake(max_blocks "max_blocks is -1")
coll_mistake(flags "flags are 3; they must be 0 or SHMEMX_COLL_SPARE_SMS")
coll_mistake(nelems "nelems [0-9]+ is too large")
coll_mistake(source_of_host "source 0x[0-9a-f]+ is in plain host memory" "shmem_malloc, cudaMalloc")
coll_mistake(no_dest "dest is NULL")
coll_mistake(overlap "overlap in a part" "in place")
coll_mistake(list "has no list form of that side")
coll_mistake(counts "needs source_counts, source_offsets, dest_counts and dest_offsets")
coll_mistake(piece "a piece has 0 bytes")
coll_mistake(counters "arrived is")
coll_mistake(pieces_elsewhere "dest 0x[0-9a-f]+ is in plain host memory")
coll_mistake(ready_elsewhere "ready 0x[0-9a-f]+ does not lie in the heap")
fault_test(stream_coll_differs OPTIONS ${on_stream_env} --env SHMEM_CHECK=1 --expect "differs between PEs: PE [01] called"
           --expect "bytes 4000" --expect "bytes 8000"
           COMMAND $<TARGET_FILE:oshrun> -n 2 --timeout 45 $<TARGET_FILE:fault_bad_coll> differs)
fault_test(stream_coll_lonely OPTIONS ${on_stream_env} --env SHMEM_WAIT_TIMEOUT=5
           --expect "PE 1: error: .*shmem_coll_on_stream in a kernel .*: PE 0 did not join this collective" --expect SHMEM_WAIT_TIMEOUT
           COMMAND $<TARGET_FILE:oshrun> -n 2 --timeout 45 $<TARGET_FILE:fault_bad_coll> lonely)
fault_test(stream_coll_lonely_direct OPTIONS ${on_stream_env} --env SHMEM_WAIT_TIMEOUT=5 --env SHMEM_COLLECTIVES=reduce=direct
           --expect "PE 1: error: .*shmem_coll_on_stream in a kernel .*: PE 0 did not join this collective" --expect SHMEM_WAIT_TIMEOUT
           COMMAND $<TARGET_FILE:oshrun> -n 2 --timeout 45 $<TARGET_FILE:fault_bad_coll> lonely)

fault_test(stream_lonely_wait OPTIONS ${on_stream_env} --env SHMEM_WAIT_TIMEOUT=5
           --expect "PE 1: error: .*shmem_wait_until in a kernel" --expect SHMEM_WAIT_TIMEOUT
           COMMAND ${on_stream_job} lonely_wait)

# Graphs that are launched too late, of collectives inside a node.
add_executable(fault_late_launch late_launch.c)
set_target_properties(fault_late_launch PROPERTIES OUTPUT_NAME late_launch)
target_link_libraries(fault_late_launch PRIVATE RailSHMEM::shmem ${CMAKE_DL_LIBS})
add_dependencies(fault_late_launch railshmem_fake_cuda)
target_compile_options(fault_late_launch PRIVATE -Wall -Wextra $<$<BOOL:${RAILSHMEM_WERROR}>:-Werror>)
set(late_whats "team:its team has been destroyed" "library:shmem_finalize has been called")
foreach(late ${late_whats})
  string(REPLACE ":" ";" late "${late}")
  list(GET late 0 what)
  list(GET late 1 why)
  foreach(way packets direct engines)
    fault_test(stream_late_launch.${what}.${way} OPTIONS ${on_stream_env} --env SHMEM_COLLECTIVES=fcollect=${way}
               --expect "error: .*shmem_coll_on_stream in a kernel .*: a graph was launched that captured this call, but ${why}"
               --expect "destroy the graph before"
               COMMAND $<TARGET_FILE:oshrun> -n 2 --timeout 45 $<TARGET_FILE:fault_late_launch> ${what})
  endforeach()
endforeach()
# A graph that was destroyed in time keeps nothing, and nothing is said, though the driver tells of its end later.
foreach(what none team_none)
  fault_test(stream_late_launch.${what} OPTIONS ${on_stream_env} --status 0 --forbid "warn|error"
             --env RAILSHMEM_FAKE_NOTES_MS=20
             COMMAND $<TARGET_FILE:oshrun> -n 2 --timeout 45 $<TARGET_FILE:fault_late_launch> ${what})
endforeach()
# A graph that lives on, but is not launched.
fault_test(stream_late_launch.abandoned OPTIONS ${on_stream_env} --status 0 --forbid error
           --expect "PE [01]: warn: graphs live on that captured collectives inside a node" --expect "destroy them before shmem_finalize"
           COMMAND $<TARGET_FILE:oshrun> -n 2 --timeout 45 $<TARGET_FILE:fault_late_launch> abandoned)

# A PE that dies while the streams of the others wait for it.
if(RAILSHMEM_HAVE_OFI)
  add_executable(fault_lost_on_stream lost_on_stream.c)
  set_target_properties(fault_lost_on_stream PROPERTIES OUTPUT_NAME lost_on_stream)
  target_link_libraries(fault_lost_on_stream PRIVATE RailSHMEM::shmem ${CMAKE_DL_LIBS})
  add_dependencies(fault_lost_on_stream railshmem_fake_cuda)
  target_compile_options(fault_lost_on_stream PRIVATE -Wall -Wextra $<$<BOOL:${RAILSHMEM_WERROR}>:-Werror>)
  set(lost_on_stream_env --env RAILSHMEM_FAKE_GPUS=2
      --env SHMEM_HEAP_KIND=device --env SHMEM_DEVICE_HEAP_MAX=64M --env SHMEM_TIMEOUT=5)
  foreach(how fcollect alltoall reduce reducescatter)
    foreach(way given replayed)
      fault_test(lost_on_stream.${how}.${way} ONLY_RELEASE OPTIONS ${lost_on_stream_env} --env SHMEM_NODE_SIZE=2
                 --provider tcp+ofi_rxm --ranks 4 --victim 1 --within 25 --expect "PE [023]: error: .*PE 1"
                 COMMAND $<TARGET_FILE:fault_lost_on_stream> ${how} ${way})
    endforeach()
  endforeach()
  # Two streams that use one team.
  add_executable(fault_two_streams two_streams.c)
  set_target_properties(fault_two_streams PROPERTIES OUTPUT_NAME two_streams)
  target_link_libraries(fault_two_streams PRIVATE RailSHMEM::shmem ${CMAKE_DL_LIBS})
  add_dependencies(fault_two_streams railshmem_fake_cuda)
  target_compile_options(fault_two_streams PRIVATE -Wall -Wextra $<$<BOOL:${RAILSHMEM_WERROR}>:-Werror>)
  set(two_streams OPTIONS ${lost_on_stream_env} --env SHMEM_NODE_SIZE=1 --env SHMEM_OFI_PROVIDER=shm)
  set(two_streams_job COMMAND $<TARGET_FILE:oshrun> -n 2 --timeout 45 $<TARGET_FILE:fault_two_streams>)
  fault_test(two_streams.at_once ${two_streams} --expect "two streams use SHMEM_TEAM_WORLD at once" --expect cudaStreamWaitEvent
             ${two_streams_job} at_once)
  fault_test(two_streams.in_turn ${two_streams} --env SHMEM_TIMEOUT=30 --status 0 --forbid error ${two_streams_job} in_turn)

  # Threads that wait in the driver, since the queues of their streams are full.
  add_executable(fault_full_queues full_queues.c)
  set_target_properties(fault_full_queues PROPERTIES OUTPUT_NAME full_queues)
  target_link_libraries(fault_full_queues PRIVATE RailSHMEM::shmem Threads::Threads ${CMAKE_DL_LIBS})
  add_dependencies(fault_full_queues railshmem_fake_cuda)
  target_compile_options(fault_full_queues PRIVATE -Wall -Wextra $<$<BOOL:${RAILSHMEM_WERROR}>:-Werror>)
  fault_test(stream_full_queues ${two_streams} --env SHMEM_TIMEOUT=30 --env RAILSHMEM_FAKE_QUEUE=1 --status 0
             --expect "PE 0: all calls have run" --expect "PE 1: all calls have run" --forbid error
             COMMAND $<TARGET_FILE:oshrun> -n 2 --timeout 45 $<TARGET_FILE:fault_full_queues>)
  # Graphs that are launched too late, of collectives between nodes.
  foreach(late ${late_whats})
    string(REPLACE ":" ";" late "${late}")
    list(GET late 0 what)
    list(GET late 1 why)
    fault_test(late_launch.${what} OPTIONS ${lost_on_stream_env} --env SHMEM_NODE_SIZE=1 --env SHMEM_OFI_PROVIDER=shm
               --expect "error: shmemx_long_fcollect_on_stream: a graph was launched that captured this call, but ${why}"
               COMMAND $<TARGET_FILE:oshrun> -n 2 --timeout 45 $<TARGET_FILE:fault_late_launch> ${what})
  endforeach()
  foreach(what none team_none)
    fault_test(late_launch.${what} OPTIONS ${lost_on_stream_env} --env SHMEM_NODE_SIZE=1 --env SHMEM_OFI_PROVIDER=shm
               --env RAILSHMEM_FAKE_NOTES_MS=20 --status 0 --forbid "warn|error"
               COMMAND $<TARGET_FILE:oshrun> -n 2 --timeout 45 $<TARGET_FILE:fault_late_launch> ${what})
  endforeach()
endif()
