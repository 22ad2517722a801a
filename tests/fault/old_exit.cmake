# SPDX-License-Identifier: BSD-3-Clause
# Programs of start_pes that end by abort() or with a nonzero status: as soon, and with a message as clear, as those of
# shmem_init. Half a second is how long a PE that failed waits for the others' ends.
add_executable(fault_old_exit old_exit.c)
set_target_properties(fault_old_exit PROPERTIES OUTPUT_NAME old_exit)
target_link_libraries(fault_old_exit PRIVATE RailSHMEM::shmem)
target_compile_options(fault_old_exit PRIVATE -Wall -Wextra $<$<BOOL:${RAILSHMEM_WERROR}>:-Werror>)
set(old_exit $<TARGET_FILE:oshrun> -n 3 --timeout 30 $<TARGET_FILE:fault_old_exit>)
foreach(transport ${transports})
  foreach(others wait barrier end)
    fault_test(old_exit.abort.${others}.${transport} OPTIONS ${${transport}_settings} --within 10 --status 134
               --expect "PE 0 .pid [0-9]+. was killed by signal 6" --forbid "without shmem_finalize"
               COMMAND ${old_exit} abort ${others})
  endforeach()
  foreach(others wait barrier)
    fault_test(old_exit.exit.${others}.${transport} OPTIONS ${${transport}_settings} --within 10 --status 7
               --expect "PE 0: error: this process ends with status 7" --expect "PE 0 .pid [0-9]+. exited with status 7"
               COMMAND ${old_exit} exit ${others})
  endforeach()
  # Everybody's last words are heard, and nobody is said to have come too late.
  fault_test(old_exit.all.${transport} OPTIONS ${${transport}_settings} --within 10 --status 7 --forbid "PE [0-9]+: (warn|error)"
             --expect "last line of PE 0" --expect "last line of PE 1" --expect "last line of PE 2" COMMAND ${old_exit} all)
  fault_test(old_exit.fork.${transport} OPTIONS ${${transport}_settings} ${children_exit} --within 10 --status 0
             --forbid "PE [0-9]+: error" COMMAND ${old_exit} fork)
endforeach()
# Without a launcher the survivors find out by themselves.
fault_test(old_exit.alone OPTIONS --env SHMEM_TRANSPORT=p2p --ranks 3 --within 10 --expect "PE 0"
           COMMAND $<TARGET_FILE:fault_old_exit> exit wait)
