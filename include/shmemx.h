// SPDX-License-Identifier: BSD-3-Clause
//
// Extensions of RailSHMEM to the standard: starting without a launcher of its own, local buffers, reductions whose
// result is dealt out (shmem/reducescatter.h) or whose numbers have 16 bits (shmem/reduce16.h), calls in the order of a
// CUDA stream (shmem/stream.h). A function that returns an int returns 0 for success. The calls that warps and blocks
// of a CUDA kernel make together, shmemx_NAME_warp and shmemx_NAME_block, come with shmem.h: see
// shmem/device/names/scoped.h.
#ifndef RAILSHMEM_SHMEMX_H
#define RAILSHMEM_SHMEMX_H

#include "shmem.h"
#include "shmem/coll.h"
#include "shmem/reduce16.h"
#include "shmem/reducescatter.h"
#include "shmem/stream.h"

/// Ways in which shmemx_init_attr finds the other PEs. Pass one of these; it says which fields of the attributes count.
#define SHMEMX_INIT_WITH_MPI_COMM (1u << 0)
#define SHMEMX_INIT_WITH_UNIQUEID (1u << 1)

/// Or this with one of the ways: several threads may call the library at once, as with shmem_init_thread and
/// SHMEM_THREAD_MULTIPLE. Without it threads take turns.
#define SHMEMX_INIT_THREAD_MULTIPLE (1u << 2)

/// Names one job; made by one PE and handed to the others by any means, byte for byte.
typedef struct {
  char internal[128];
} shmemx_uniqueid_t;

/// Arguments of shmemx_init_attr; begin with SHMEMX_INIT_ATTR_INITIALIZER.
typedef struct {
  size_t size;                 ///< sizeof(shmemx_init_attr_t) in the caller's version of this header
  void* mpi_comm;              ///< address of the MPI_Comm whose ranks become the PEs
  int pe;                      ///< number of this PE, from 0
  int npes;                    ///< number of PEs
  shmemx_uniqueid_t uniqueid;  ///< one value on all PEs
} shmemx_init_attr_t;

// clang-format off
#define SHMEMX_INIT_ATTR_INITIALIZER {sizeof(shmemx_init_attr_t), NULL, 0, 0, {{0}}}
// clang-format on

/// CUmodule and CUlibrary of the CUDA driver.
typedef struct CUmod_st* shmemx_cumodule_t;
typedef struct CUlib_st* shmemx_culibrary_t;

/// Hints of shmem_malloc_with_hints for memory of GPUs, beside the standard's (or-able). The program promises how
/// atomic operations and signals update the words of the block. With NODE_ONLY or SET_ONLY, kernels update words of
/// their node by themselves even in jobs of several nodes; an update from another node that is no SET ends the job.
/// OUTSIDE_ONLY changes nothing where the block is: every block may be updated from other nodes. A heap in host
/// memory needs no promise. See docs/memory_model.md.
#define SHMEMX_MALLOC_NODE_ONLY (1L << 16)     ///< updates by PEs of the owner's node only; other PEs only SET
#define SHMEMX_MALLOC_OUTSIDE_ONLY (1L << 17)  ///< updates by PEs of other nodes only
#define SHMEMX_MALLOC_SET_ONLY (1L << 18)      ///< updates by SHMEM_SIGNAL_SET and atomic_set only, by any PE

/// Option of shmem_ctx_create and shmem_team_create_ctx: the promise of SHMEMX_MALLOC_NODE_ONLY for the words that this
/// context updates.
#define SHMEMX_CTX_NODE_ONLY (1L << 16)

/// Option of shmem_ctx_create and shmem_team_create_ctx (or-able): a promise on the calls of kernels on this context.
/// The memory that their puts read and their gets overwrite was last written by the host, by an earlier kernel, or
/// before a system-scope fence (__threadfence_system, shmem_fence, shmem_quiet). The calling thread issued that fence,
/// or a thread that it synchronised with since. A put to a PE that only the network reaches then issues no fence of its
/// own. See docs/memory_model.md.
#define SHMEMX_CTX_PUBLISHED (1L << 17)

#if !defined(__CUDACC_RTC__)  // NVRTC compiles kernels alone
RAILSHMEM_BEGIN_C

/// Starts the library as shmem_init does, over PEs that an MPI communicator or a unique id brings together.
/// Collective over those PEs; nonzero where flags or attributes make no sense or the PEs do not meet. After
/// shmem_finalize it may start another job, or the same one again by its unique id; shmem_init starts the launcher's.
/// While the library runs, it counts one more user where it asks for the same PEs in the same order, and is nonzero
/// otherwise.
RAILSHMEM_API int shmemx_init_attr(unsigned int flags, shmemx_init_attr_t* attr);

/// Makes the unique id of a new job. One PE calls it, before the library is started.
RAILSHMEM_API int shmemx_get_uniqueid(shmemx_uniqueid_t* uniqueid);

/// Fills in attributes for SHMEMX_INIT_WITH_UNIQUEID. Local; nonzero where pe is not below npes.
RAILSHMEM_API int shmemx_set_attr_uniqueid_args(int pe, int npes, const shmemx_uniqueid_t* uniqueid,
                                                shmemx_init_attr_t* attr);

/// Makes an id that shmemx_team_init takes; the caller hands it to the members of the new team by any means. Local. A
/// PE keeps its last eight ids: the ninth makes the first one invalid. Nonzero where uniqueid is NULL.
RAILSHMEM_API int shmemx_team_get_uniqueid(uint64_t* uniqueid);

/// Makes a team of PEs that need have no other team in common but the world: each of the npes members calls it with the
/// id and its own number in the team, pe. The members' PEs are in ascending or descending order, or at one stride. The
/// configuration is that of shmem_team_split_strided. Returns 0 with the team in *new_team on all members, or nonzero
/// with SHMEM_TEAM_INVALID on all.
RAILSHMEM_API int shmemx_team_init(uint64_t uniqueid, int npes, int pe, const shmem_team_config_t* config,
                                   long config_mask, shmem_team_t* new_team);

/// Tells whether all members of a team pass a value other than 0: returns 1 on all of them then, and 0 on all where one
/// passes 0. For steps of a collective operation that may fail on one member: the others learn of it, and do not wait
/// for that member later. Collective over the team; as shmem_team_sync it returns when all members have called it. 0,
/// after a message, where this PE is not in the team.
RAILSHMEM_API int shmemx_team_agree(shmem_team_t team, int value);

/// Writes the table of environment variables with the values in force, cut to nbytes with the terminating null. Returns
/// how many bytes the whole table needs.
RAILSHMEM_API size_t shmemx_describe_environment(char* buffer, size_t nbytes);

/// Writes which network interfaces PE number slot of a host with npes PEs would use, which ones it would not use, and
/// why; cut to nbytes with the terminating null. Reads the environment and starts nothing; takes all of these PEs to be
/// bound to the CPUs of the caller. Returns how many bytes the whole text needs; 0, after a message, when the
/// environment names interfaces that are not there or slot is not below npes.
RAILSHMEM_API size_t shmemx_describe_rails(int slot, int npes, char* buffer, size_t nbytes);

/// Allocates symmetric memory that the CPU can load from and store to, whatever the kind of the heap (SHMEM_HEAP_KIND);
/// shmem_free and shmem_realloc take it back. In bytes, collective, rules and alignment are those of shmem_malloc.
RAILSHMEM_API void* shmemx_malloc_host(size_t size);

/// Attaches the current GPU (cudaSetDevice) for a heap in device memory; without this call the first shmem_malloc does
/// so. Collective; does nothing in a job without such a heap. Nonzero, after a message, where a PE has no GPU.
RAILSHMEM_API int shmemx_attach_device(void);

/// What the library was built with and without.
RAILSHMEM_API const char* shmemx_build_options(void);

/// Registers a buffer outside the symmetric memory with every network interface ahead of its use as source or
/// destination, for programs that cannot afford it at first use; where nothing needs registration, as with memory of a
/// GPU, only the books are kept. Any thread, after the start; local. Nonzero when the buffer is NULL or empty, overlaps
/// with symmetric memory or a registered buffer, or cannot be registered. Its memory must stay until it is
/// unregistered.
RAILSHMEM_API int shmemx_buffer_register(void* addr, size_t nbytes);

/// Undoes shmemx_buffer_register of a buffer that begins at addr; operations on it must have completed (shmem_quiet).
/// Nonzero when no registered buffer begins there or operations in flight still use it.
RAILSHMEM_API int shmemx_buffer_unregister(void* addr);

/// Undoes every shmemx_buffer_register; so does the end of the library.
RAILSHMEM_API void shmemx_buffer_unregister_all(void);

/// Makes device memory that the program allocated itself symmetric. Returns its symmetric address, at which all PEs,
/// their kernels and the caller reach the bytes at addr. Collective over all PEs; nbytes, and the distance of addr from
/// the start of its allocation, are equal on all. flags is 0. The memory is of cuMemCreate on the heap's GPU, with
/// CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR among its handle types where PEs share a node; memory of cudaMalloc cannot
/// be mapped at an address of ours. Returns NULL on all PEs, after a message, where the memory of one of them does not
/// fit. The memory may be freed when it is unregistered. See docs/porting.md.
RAILSHMEM_API void* shmemx_buffer_register_symmetric(void* addr, size_t nbytes, int flags);

/// Undoes shmemx_buffer_register_symmetric, after a barrier. Takes the address that it returned and its nbytes.
/// Collective. Nonzero on all PEs where one of them has no such buffer.
RAILSHMEM_API int shmemx_buffer_unregister_symmetric(void* addr, size_t nbytes);

/// Lets the kernels of a module that the program loads itself (cuModuleLoadData; NVRTC) use the library. The module's
/// copy of the view of the job, which comes with shmem.h, is filled now or when the GPU is attached, until
/// shmemx_cumodule_finalize. The context in which the module was loaded is current, on the heap's GPU; any thread,
/// before or after the start. Local. Nonzero, after a message, where the module was compiled without shmem.h or with
/// the shmem.h of another RailSHMEM. A program with no CUDA unit of its own sets CUDA_MODULE_LOADING=EAGER. See
/// docs/gpu.md.
RAILSHMEM_API int shmemx_cumodule_init(shmemx_cumodule_t module);

/// Undoes shmemx_cumodule_init, before the module is unloaded. Nonzero, after a message, where the module was not
/// known.
RAILSHMEM_API int shmemx_cumodule_finalize(shmemx_cumodule_t module);

/// shmemx_cumodule_init for a library (cuLibraryLoadData), on the current context's GPU. Needs CUDA 12.
RAILSHMEM_API int shmemx_culibrary_init(shmemx_culibrary_t library);

/// shmemx_cumodule_finalize for a library.
RAILSHMEM_API int shmemx_culibrary_finalize(shmemx_culibrary_t library);

RAILSHMEM_END_C
#endif

#endif
