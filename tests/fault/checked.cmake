# SPDX-License-Identifier: BSD-3-Clause
# What SHMEM_CHECK=1 finds: each message names the call, the PE, the values, and the place in the program.
set(where "at [a-z_]*[+x0-9a-f]* ?(in )?checked .addr2line -fe checked 0x[0-9a-f]+.")

# checked(name expectations...), over p2p and over the network.
function(checked name)
  set(expectations --expect "PE [0-9]: error: .*${where}")
  foreach(regex ${ARGN})
    list(APPEND expectations --expect "${regex}")
  endforeach()
  set(checked_job $<TARGET_FILE:oshrun> -n 3 --timeout 45 $<TARGET_FILE:fault_checked> ${name})
  fault_test(check.${name}.p2p OPTIONS --env SHMEM_CHECK=1 --env SHMEM_TIMEOUT=4 --env SHMEM_TRANSPORT=p2p --within 20
             ${expectations} COMMAND ${checked_job})
  if(RAILSHMEM_HAVE_OFI AND NOT name MATCHES "mapped")
    fault_test(check.${name}.tcp_rxm ONLY_RELEASE OPTIONS --env SHMEM_CHECK=1 --env SHMEM_TIMEOUT=4 --provider tcp+ofi_rxm --within 20
               ${expectations} COMMAND ${checked_job})
  endif()
endfunction()

# Calls that differ between PEs: both are named.
function(differs name one other)
  checked(${name} "collective call [0-9]+ on team 0 differs between PEs: PE [0-2] called .*; PE [0-2] called"
          "called ${one}" "called ${other}")
endfunction()
differs(malloc_sizes "shmem_malloc.size 64." "shmem_malloc.size 128.")
differs(malloc_or_free "shmem_malloc.size 64." "shmem_free.ptr heap.0x[0-9a-f]+, size 0.")
differs(free_others "shmem_free.ptr heap.0x[0-9a-f]+" "shmem_free.ptr heap.0x[0-9a-f]+")
differs(align_differs "shmem_align.size 64, alignment 256." "shmem_align.size 64, alignment 128.")
differs(hints_differ "shmem_malloc_with_hints.size 64, hints 262144." "shmem_malloc_with_hints.size 64.")
differs(barrier_or_sync "shmem_barrier_all.." "shmem_sync_all..")
differs(barrier_or_finalize "shmem_barrier_all.." "shmem_finalize..")
differs(broadcast_or_barrier "shmem_long_broadcast.PE_root 0, nelems 10, dest globals.0x[0-9a-f]+, source heap.0x[0-9a-f]+."
        "shmem_barrier_all..")
differs(broadcast_roots "shmem_long_broadcast.PE_root 0," "shmem_long_broadcast.PE_root 1,")
differs(broadcast_dests "shmem_long_broadcast.PE_root 0, nelems 10, dest globals" "shmem_long_broadcast")
differs(broadcast_sizes "shmem_long_broadcast.PE_root 0, nelems 10," "shmem_long_broadcast.PE_root 0, nelems 11,")
differs(reduce_operations "shmem_long_sum_reduce" "shmem_long_max_reduce")
differs(reduce_types "shmem_long_sum_reduce" "shmem_int_sum_reduce")
differs(reducescatter_dest "shmemx_long_sum_reducescatter.nelems 10, source heap.0x[0-9a-f]+, dest globals"
        "shmemx_long_sum_reducescatter")
differs(alltoalls_strides "shmem_long_alltoalls.dst 1, sst 1, nelems 10" "shmem_long_alltoalls.dst 2, sst 1, nelems 10")
differs(split_arguments "shmem_team_split_strided.start 0, stride 1, size 2"
        "shmem_team_split_strided.start 0, stride 1, size 3")
checked(broadcast_overlap "shmem_long_broadcast: dest .* and source .* overlap")
checked(broadcast_from_stack "shmem_long_broadcast: source 0x[0-9a-f]+ is not symmetric" "shmem_malloc")
checked(reduce_overlap "shmem_long_sum_reduce: dest .* and source .* overlap")
checked(alltoall_past_end "shmem_long_alltoall: dest .0x[0-9a-f]+, .402653184. reaches past the end of symmetric memory"
        "check the number of elements")
differs(active_roots "shmem_broadcast64.PE_start 0, logPE_stride 0, PE_size 3, pSync globals.0x[0-9a-f]+, PE_root 0, nelems 10"
        "shmem_broadcast64.PE_start 0, logPE_stride 0, PE_size 3, pSync globals.0x[0-9a-f]+, PE_root 1, nelems 10")
differs(active_or_barrier "shmem_fcollect32.PE_start 0" "shmem_barrier_all..")
checked(psync_contents "PE 1: error: shmem_barrier: pSync.5. is 1000, not SHMEM_SYNC_VALUE .0.")
checked(teams_differ "shmem_team_sync.., call [0-9]+ on team [0-9]+, at .*has not made this call within 4"
        "its latest one is shmem_team_sync.., call [0-9]+ on team [0-9]")
checked(destroyed_team "team handle 0x[0-9a-f]+ is no team that this PE belongs to, or one that was destroyed")
checked(private_context "shmem_ctx_long_put: thread [0-9]+ uses a SHMEM_CTX_PRIVATE context that thread [0-9]+ made")
checked(private_context_destroyed "shmem_ctx_destroy: thread [0-9]+ uses a SHMEM_CTX_PRIVATE context that thread [0-9]+ made")
checked(barrier_or_wait "shmem_barrier_all.., call [0-9]+ on team 0, at .*: PE 1 has not made this call within 4"
        "its latest one is shmem_calloc.size 8000.*raise SHMEM_TIMEOUT")

checked(put_overlap "PE 1: error: shmem_long_put: the local buffer .0x[0-9a-f]+, .80. and the other PE's .* overlap")
checked(get_overlap "PE 1: error: shmem_long_get: .* overlap")
checked(put_overlap_mapped "PE 1: error: shmem_long_put: .* overlap")
checked(source_past_end "PE 1: error: shmem_putmem: the local buffer .0x[0-9a-f]+, .2. crosses the border"
        "check the number of elements")
checked(put_to_stack "PE 1: error: shmem_long_put: the remote address 0x[0-9a-f]+ is not symmetric" "shmem_malloc")
checked(put_to_itself_past_end "PE 1: error: shmem_putmem: the remote address .* reaches past the end"
        "check the number of elements")
fault_test(check.put_to_itself OPTIONS --status 0 --forbid "error|atomic_inc" --env SHMEM_CHECK=1 --env SHMEM_TRANSPORT=p2p
           --expect "PE 1: warn.*: shmem_long_put: address 0x[0-9a-f]+ is not symmetric. PE 1 is the caller"
           COMMAND $<TARGET_FILE:oshrun> -n 3 --timeout 45 $<TARGET_FILE:fault_checked> put_to_itself)

fault_test(check.no_mistake.p2p OPTIONS --status 0 --forbid "error|warn" --env SHMEM_CHECK=1 --env SHMEM_TRANSPORT=p2p
           COMMAND $<TARGET_FILE:oshrun> -n 3 --timeout 45 $<TARGET_FILE:fault_checked> no_mistake)
if(RAILSHMEM_HAVE_OFI)
  fault_test(check.no_mistake.tcp_rxm OPTIONS --status 0 --forbid "error|warn" --env SHMEM_CHECK=1 --provider tcp+ofi_rxm
             COMMAND $<TARGET_FILE:oshrun> -n 3 --timeout 45 $<TARGET_FILE:fault_checked> no_mistake)
endif()
