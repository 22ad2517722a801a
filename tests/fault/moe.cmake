# SPDX-License-Identifier: BSD-3-Clause
# Mistakes with mixtures of experts, members that do not come and members that die; on the fake driver.
add_executable(fault_bad_moe bad_moe.c)
set_target_properties(fault_bad_moe PROPERTIES OUTPUT_NAME bad_moe)
target_link_libraries(fault_bad_moe PRIVATE RailSHMEM::moe)
add_dependencies(fault_bad_moe railshmem_fake_cuda)
target_compile_options(fault_bad_moe PRIVATE -Wall -Wextra $<$<BOOL:${RAILSHMEM_WERROR}>:-Werror>)
# moe_mistake(name OPTIONS... --expect regex...)
function(moe_mistake name)
  fault_test(moe_${name} OPTIONS ${on_stream_env} ${ARGN}
             COMMAND $<TARGET_FILE:oshrun> -n 2 --timeout 45 $<TARGET_FILE:fault_bad_moe> ${name})
endfunction()
# One job makes all calls that are refused.
set(refused "")
foreach(regex
    "workspace: config's size is 0, this library's [0-9]+. begin with SHMEMX_MOE_CONFIG_INITIALIZER"
    "type is 8. it must be SHMEMX_DATATYPE_BFLOAT16 or SHMEMX_DATATYPE_HALF"
    "dispatch_type is 13. it must be type, 14, or SHMEMX_DATATYPE_FLOAT8_E4M3"
    "hidden is 16. with this dispatch_type and scale_type it must be a multiple of 128"
    "experts is 5, which the team's 2 members do not divide"
    "experts is 0. it must be 1 to 1024"
    "topk is 33. it must be 1 to 32"
    "hidden is 12. with this dispatch_type and scale_type it must be a multiple of 8"
    "max_tokens is 1048576. it must be 1 to 1048575"
    "multiprocessors is -1"
    "workspace_of: members is 0. it must be 1 to 64"
    "scale_type is 3. it must be 0 to 2"
    "late_weights is 2. it must be 0 or 1"
    "x_scaled is 2. it must be 0 or 1"
    "x_scaled is 1. it needs dispatch_type SHMEMX_DATATYPE_FLOAT8_E4M3 and scale_type SHMEMX_MOE_SCALE_FLOAT"
    "maskable is 2. it must be 0 or 1"
    "mask_after_ms is -1. it must be 0 .no wait masks. or more"
    "mask_after_ms or mask_of is given, and maskable is 0. set maskable to 1"
    "zeroed is 2. it must be 0 or 1"
    "mask_on_stream: handle is NULL. make one with shmemx_moe_create"
    "mask_on_stream: the handle was made without maskable. set it to 1 in the configuration"
    "workspace 0x[0-9a-f]+ has [0-9]+ bytes. this configuration needs [0-9]+ .shmemx_moe_workspace."
    "workspace 0x[0-9a-f]+ is no symmetric memory. allocate it with shmem_malloc"
    "team -?[0-9]+ does not exist on this PE"
    "handle is NULL. pass the address of a shmemx_moe_t"
    "dispatch's size is 1, this library's [0-9]+. begin with SHMEMX_MOE_DISPATCH_INITIALIZER"
    "dispatch_on_stream: handle is NULL. make one with shmemx_moe_create"
    "tokens is 5. the handle was made for 0 to 4 .max_tokens."
    "hook is 2. it must be 0 or 1"
    "x is NULL. pass memory of this PE's GPU"
    "rows 0x[0-9a-f]+ is no multiple of 16 bytes"
    "counts is NULL. pass memory of this PE's GPU"
    "x_scales are given, and the handle was made without x_scaled"
    "combine_on_stream: no dispatch came before. a combine follows its dispatch"
    "complete_on_stream: nothing is to be completed"
    "destroy: handle is NULL. destroy a handle of shmemx_moe_create, once")
  list(APPEND refused --expect "${regex}")
endforeach()
moe_mistake(arguments ${refused} --status 5 --forbid "went unnoticed")
moe_mistake(unfinished --expect "the call before was given with hook = 1. complete it first .shmemx_moe_complete_on_stream.")
moe_mistake(twice --expect "the dispatch before has its combine. a handle with late_weights combines several times")
moe_mistake(weights --expect "weights are given, and the handle was made without late_weights. give them to dispatch")
moe_mistake(late_weights --expect "weights are given, and the handle was made with late_weights. give them to combine")
moe_mistake(no_late_weights --expect "weights is NULL. pass memory of this PE's GPU")
moe_mistake(expert --expect "moe_dispatch in a kernel.*: token 0 names expert 4, which does not exist. pass -1 for no expert")
foreach(half dispatch combine)
  moe_mistake(lonely_${half} --env SHMEM_WAIT_TIMEOUT=2
              --expect "PE 1: error: .*moe_${half} in a kernel.*: PE 0 did not come to it within SHMEM_WAIT_TIMEOUT")
endforeach()
moe_mistake(lonely_late_weights --env SHMEM_WAIT_TIMEOUT=2
            --expect "PE 1: error: .*moe_combine in a kernel.*: PE 0 did not come to it within SHMEM_WAIT_TIMEOUT")
foreach(when before between)
  fault_test(moe_killed_${when} ONLY_RELEASE OPTIONS ${on_stream_env} --env SHMEM_TIMEOUT=5 --ranks 2 --victim 1 --within 25
             --expect "PE 0: error:.*PE 1" COMMAND $<TARGET_FILE:fault_bad_moe> killed_${when})
endforeach()
set(refused "")
foreach(regex
    "mask_on_stream: member is 2. it must be 0 to 1"
    "mask_on_stream: member is 1, this PE itself. the other members mask it"
    "unmask_on_stream: member is -2. it must be 0 to 1"
    "masked_on_stream: masked is NULL. pass memory of this PE's GPU"
    "create: mask_of is a handle of other members")
  list(APPEND refused --expect "${regex}")
endforeach()
moe_mistake(masks ${refused} --status 5 --forbid "went unnoticed")
moe_mistake(masks_unfinished --expect "unmask_on_stream: the call before was given with hook = 1. complete it first")
moe_mistake(masks_back --expect "combine_on_stream: no dispatch came before. a combine follows its dispatch")
moe_mistake(masks_lonely --env SHMEM_WAIT_TIMEOUT=2
            --expect "PE 1: error: .*moe_dispatch in a kernel.*: PE 0 did not come to it within SHMEM_WAIT_TIMEOUT")
moe_mistake(masks_one_side --env SHMEM_WAIT_TIMEOUT=2
            --expect "PE 1: error: .*moe_dispatch in a kernel.*: PE 0 did not come to it within SHMEM_WAIT_TIMEOUT")
# A mask alone does not keep the job alive when a process ends.
moe_mistake(masks_killed --expect "oshrun: PE 1 .pid [0-9]+.*ending the other PEs")
if(RAILSHMEM_HAVE_OFI)
  set(two_nodes --env SHMEM_TRANSPORT=p2p,ofi --env SHMEM_NODE_SIZE=1 --env SHMEM_OFI_PROVIDER=shm)
  foreach(name masks_lonely masks_one_side)
    fault_test(moe_nodes_${name} OPTIONS ${on_stream_env} ${two_nodes} --env SHMEM_WAIT_TIMEOUT=2
               --expect "PE 1: error: .*moe_dispatch in a kernel.*: PE 0 did not come to it within SHMEM_WAIT_TIMEOUT"
               COMMAND $<TARGET_FILE:oshrun> -n 2 --timeout 45 $<TARGET_FILE:fault_bad_moe> ${name})
  endforeach()
  fault_test(moe_nodes_masks OPTIONS ${on_stream_env} ${two_nodes} ${refused} --status 5 --forbid "went unnoticed"
             COMMAND $<TARGET_FILE:oshrun> -n 2 --timeout 45 $<TARGET_FILE:fault_bad_moe> masks)
  fault_test(moe_nodes_masks_killed OPTIONS ${on_stream_env} ${two_nodes} --expect "oshrun: PE 1 .pid [0-9]+.*ending the other PEs"
             COMMAND $<TARGET_FILE:oshrun> -n 2 --timeout 45 $<TARGET_FILE:fault_bad_moe> masks_killed)
  # moe_nodes_lonely(name call)
  function(moe_nodes_lonely name call)
    fault_test(moe_nodes_${name} OPTIONS ${on_stream_env} ${two_nodes} --env SHMEM_WAIT_TIMEOUT=2
               --expect "PE 1: error: .*moe_${call} in a kernel.*: PE 0 did not come to it within SHMEM_WAIT_TIMEOUT"
               COMMAND $<TARGET_FILE:oshrun> -n 2 --timeout 45 $<TARGET_FILE:fault_bad_moe> ${name})
  endfunction()
  moe_nodes_lonely(lonely_dispatch dispatch)
  moe_nodes_lonely(lonely_combine combine)
  moe_nodes_lonely(lonely_late_weights combine)
  foreach(when before between)
    fault_test(moe_nodes_killed_${when} ONLY_RELEASE OPTIONS ${on_stream_env} ${two_nodes} --env SHMEM_TIMEOUT=5 --ranks 2 --victim 1 --within 25
               --expect "PE 0: error:.*PE 1" COMMAND $<TARGET_FILE:fault_bad_moe> killed_${when})
  endforeach()
endif()

# Many tokens.
add_executable(fault_bad_moe_bulk bad_moe_bulk.c)
set_target_properties(fault_bad_moe_bulk PROPERTIES OUTPUT_NAME bad_moe_bulk)
target_link_libraries(fault_bad_moe_bulk PRIVATE RailSHMEM::moe)
add_dependencies(fault_bad_moe_bulk railshmem_fake_cuda)
target_compile_options(fault_bad_moe_bulk PRIVATE -Wall -Wextra $<$<BOOL:${RAILSHMEM_WERROR}>:-Werror>)
# moe_bulk_mistake(name OPTIONS... --expect regex...)
function(moe_bulk_mistake name)
  fault_test(moe_bulk_${name} OPTIONS ${on_stream_env} ${ARGN}
             COMMAND $<TARGET_FILE:oshrun> -n 2 --timeout 45 $<TARGET_FILE:fault_bad_moe_bulk> ${name})
endfunction()
set(refused "")
foreach(regex
    "config's size is 0, this library's [0-9]+. begin with SHMEMX_MOE_BULK_CONFIG_INITIALIZER"
    "hidden is 12. it must be a multiple of 8"
    "hidden is 0. it must be 8 to 16384"
    "max_tokens is 1048576. it must be 1 to 1048575"
    "type is [0-9]+. it must be SHMEMX_DATATYPE_BFLOAT16 or SHMEMX_DATATYPE_HALF"
    "words is 4097. it must be 0 to 4096"
    "multiprocessors is -1"
    "members is 65. it must be 1 to 64"
    "bulk_workspace_between_nodes: members is 1. it must be 2 to 64"
    "bulk_workspace: team -?[0-9]+ does not exist on this PE"
    "workspace 0x[0-9a-f]+ has [0-9]+ bytes. this configuration needs [0-9]+ .shmemx_moe_bulk_workspace."
    "handle is NULL. pass the address of a shmemx_moe_bulk_t"
    "dispatch's size is 1, this library's [0-9]+. begin with SHMEMX_MOE_BULK_DISPATCH_INITIALIZER"
    "bulk_dispatch_on_stream: handle is NULL. make one with shmemx_moe_bulk_create"
    "tokens is 5. it must be 0 to 4"
    "room is -1. it must be 0 to"
    "numbers is NULL. pass memory of this PE's GPU"
    "begins is NULL. pass memory of this PE's GPU"
    "x_type is [0-9]+. it must be the handle's type, [0-9]+, or SHMEMX_DATATYPE_FLOAT8_E4M3"
    "hidden is 24. for x of SHMEMX_DATATYPE_FLOAT8_E4M3 it must be a multiple of 16"
    "words is 3. it must be 0 to 2"
    "x is NULL. pass memory of this PE's GPU"
    "rows 0x[0-9a-f]+ is no multiple of 16 bytes"
    "row_words is NULL. pass memory of this PE's GPU"
    "combine's size is 1, this library's [0-9]+. begin with SHMEMX_MOE_BULK_COMBINE_INITIALIZER"
    "out is NULL. pass memory of this PE's GPU"
    "destroy: handle is NULL. destroy a handle of shmemx_moe_bulk_create, once"
    "layout's size is 1, this library's [0-9]+. begin with SHMEMX_MOE_BULK_LAYOUT_INITIALIZER"
    "bulk_layout_on_stream: handle is NULL. make one with shmemx_moe_bulk_create"
    "tokens is 1048576. it must be 0 to 1048575"
    "topk is 33. it must be 1 to 32"
    "experts is 3, which the team's 2 members do not divide"
    "experts is 1026. it must be 1 to 1024"
    "chosen is NULL. pass memory of this PE's GPU"
    "chosen and goes are given. tokens go to the members of experts or where goes says, pass one of them"
    "numbers 0x[0-9a-f]+ is no multiple of 4 bytes"
    "bulk_layout_on_stream: begins is NULL. pass memory of this PE's GPU"
    "on_host 0x[0-9a-f]+ is no multiple of 8 bytes")
  list(APPEND refused --expect "${regex}")
endforeach()
moe_bulk_mistake(arguments ${refused} --status 5 --forbid "went unnoticed")
moe_bulk_mistake(number --expect "moe_bulk_dispatch in a kernel.*: token 1 has the number 4 at a member. numbers are less than max_tokens")
moe_bulk_mistake(room --expect "moe_bulk_dispatch in a kernel.*: 8 rows come, which is more than there is room for")
moe_bulk_mistake(expert --expect "moe_bulk_layout in a kernel.*: token 3 names expert 4, which does not exist. pass -1 for no expert")
foreach(half dispatch combine layout)
  moe_bulk_mistake(lonely_${half} --env SHMEM_WAIT_TIMEOUT=2
                   --expect "PE 1: error: .*moe_bulk_${half} in a kernel.*: PE 0 did not come to it within SHMEM_WAIT_TIMEOUT")
endforeach()
fault_test(moe_bulk_killed ONLY_RELEASE OPTIONS ${on_stream_env} --env SHMEM_TIMEOUT=5 --ranks 2 --victim 1 --within 25
           --expect "PE 0: error:.*PE 1" COMMAND $<TARGET_FILE:fault_bad_moe_bulk> killed)
if(RAILSHMEM_HAVE_OFI)
  foreach(half dispatch combine layout)
    fault_test(moe_bulk_nodes_lonely_${half} OPTIONS ${on_stream_env} ${two_nodes} --env SHMEM_WAIT_TIMEOUT=2
               --expect "PE 1: error: .*moe_bulk_${half} in a kernel.*: PE 0 did not come to it within SHMEM_WAIT_TIMEOUT"
               COMMAND $<TARGET_FILE:oshrun> -n 2 --timeout 45 $<TARGET_FILE:fault_bad_moe_bulk> lonely_${half})
  endforeach()
  fault_test(moe_bulk_nodes_killed ONLY_RELEASE OPTIONS ${on_stream_env} ${two_nodes} --env SHMEM_TIMEOUT=5 --ranks 2 --victim 1 --within 25
             --expect "PE 0: error:.*PE 1" COMMAND $<TARGET_FILE:fault_bad_moe_bulk> killed)
endif()
