// SPDX-License-Identifier: BSD-3-Clause
//
// What shmemx_coll_on_stream is told: collective, element type, operation and buffers, all at run time.
#ifndef RAILSHMEM_SHMEM_COLL_TYPES_H
#define RAILSHMEM_SHMEM_COLL_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "shmem/types.h"

/// Collectives. N is the number of the team's members; nelems and the buffers mean what is said here.
enum shmemx_coll_kind {
  SHMEMX_COLL_ALLGATHER = 0,      ///< nelems of source from each member; dest gets N * nelems, by rank
  SHMEMX_COLL_REDUCESCATTER = 1,  ///< source has N * nelems; dest gets the nelems results of this rank
  SHMEMX_COLL_ALLREDUCE = 2,      ///< source and dest have nelems
  SHMEMX_COLL_ALLTOALL = 3,       ///< block k of source, nelems, goes to member k; dest gets a block from each, by rank
  SHMEMX_COLL_ALLTOALLV = 4,      ///< counts and offsets say what goes where; nelems does not count
  SHMEMX_COLL_BROADCAST = 5       ///< nelems of the root's source go to dest on all members
};

/// Types of elements. The floating-point types of 16 and 8 bits are added up as float and rounded once, at the end.
enum shmemx_datatype {
  SHMEMX_DATATYPE_INT8 = 0,
  SHMEMX_DATATYPE_INT16 = 1,
  SHMEMX_DATATYPE_INT32 = 2,
  SHMEMX_DATATYPE_INT64 = 3,
  SHMEMX_DATATYPE_UINT8 = 4,
  SHMEMX_DATATYPE_UINT16 = 5,
  SHMEMX_DATATYPE_UINT32 = 6,
  SHMEMX_DATATYPE_UINT64 = 7,
  SHMEMX_DATATYPE_FLOAT = 8,
  SHMEMX_DATATYPE_DOUBLE = 9,
  SHMEMX_DATATYPE_COMPLEX_FLOAT = 11,
  SHMEMX_DATATYPE_COMPLEX_DOUBLE = 12,
  SHMEMX_DATATYPE_HALF = 13,
  SHMEMX_DATATYPE_BFLOAT16 = 14,
  SHMEMX_DATATYPE_FLOAT8_E4M3 = 15,  ///< finite numbers and NaN; results beyond 448 become 448
  SHMEMX_DATATYPE_FLOAT8_E5M2 = 16   ///< results beyond 57344 become 57344
};

/// Operations of reductions. Integers wrap.
enum shmemx_op {
  SHMEMX_OP_AND = 0,
  SHMEMX_OP_OR = 1,
  SHMEMX_OP_XOR = 2,
  SHMEMX_OP_MAX = 3,
  SHMEMX_OP_MIN = 4,
  SHMEMX_OP_SUM = 5,
  SHMEMX_OP_PROD = 6,
  SHMEMX_OP_AVG = 7,        ///< the sum divided by the number of members; floating-point and complex types
  SHMEMX_OP_PREMUL_SUM = 8  ///< the sum of factor times each element; floating-point and complex types
};

/// Flags of a collective.
enum {
  /// Other kernels run beside the call, and it leaves the multiprocessors to them, from 1 MiB for each member on: an
  /// all-gather, all-to-all or broadcast goes by copy engines; a reduce-scatter or all-reduce launches its many blocks
  /// when all members have come, and one block waits for them. Results are those of a call without the flag, and the
  /// call may take longer. All-to-all with counts and calls between nodes ignore the flag.
  SHMEMX_COLL_SPARE_SMS = 1
};

/// One collective. Begin with SHMEMX_COLL_INITIALIZER; all members of the team pass equal values but for buffers and
/// counts. A buffer is memory of this PE's GPU; whether it is symmetric, registered or neither changes the speed only.
typedef struct {
  size_t size;                   ///< sizeof(shmemx_coll_t) in the caller's version of this header
  shmem_team_t team;             ///< who takes part
  int collective;                ///< SHMEMX_COLL_*
  int datatype;                  ///< SHMEMX_DATATYPE_*
  int op;                        ///< SHMEMX_OP_*, of reduce-scatter and all-reduce
  int root;                      ///< of a broadcast: rank within the team
  int max_blocks;                ///< blocks of a kernel at most; 0: as many as the size pays for
  int flags;                     ///< 0 or SHMEMX_COLL_SPARE_SMS
  size_t nelems;                 ///< elements, see SHMEMX_COLL_*
  const void* source;            ///< NULL where `sources` is given, and on other members than a broadcast's root
  void* dest;                    ///< NULL where `dests` is given
  const void* const* sources;    ///< list form: block k of source is at sources[k]; else NULL
  void* const* dests;            ///< list form: block k of dest is at dests[k]; else NULL
  const size_t* source_counts;   ///< all-to-all with counts: elements for each member,
  const size_t* source_offsets;  ///< and where they begin in source, in elements
  const size_t* dest_counts;     ///< elements from each member,
  const size_t* dest_offsets;    ///< and where they go in dest, in elements
  double factor;                 ///< of SHMEMX_OP_PREMUL_SUM; equal on all members
} shmemx_coll_t;

// clang-format off
#define SHMEMX_COLL_INITIALIZER \
  {sizeof(shmemx_coll_t), SHMEM_TEAM_WORLD, SHMEMX_COLL_ALLGATHER, SHMEMX_DATATYPE_UINT8, SHMEMX_OP_SUM, 0, 0, 0, 0, \
   NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1.0}
// clang-format on

/// Where the members of a team are, and what connects them. Speeds are in GB/s (10^9 bytes a second) and direction; 0
/// stands for unknown.
typedef struct {
  size_t size;        ///< sizeof(shmemx_topology_t) in the caller's version of this header
  int npes;           ///< members of the team
  int nnodes;         ///< nodes that have members
  int my_node;        ///< number of this PE's node, from 0, in the order of the nodes' lowest ranks
  int my_index;       ///< of this PE among its node's members, from 0
  int node_npes;      ///< members on this PE's node
  int mapped;         ///< 1: the GPUs of this PE's node load and store each other's memory
  int link_kind;      ///< SHMEMX_LINK_*: between this PE's GPU and the next member's on its node
  int rails;          ///< network interfaces that this PE uses; 0 in a job of one node
  int rails_alive;    ///< those of them that work now
  double link_speed;  ///< of this PE's GPU to the others of its node
  double rail_speed;  ///< of one rail, as its interface says
} shmemx_topology_t;

/// What connects the GPUs of a node.
enum shmemx_link_kind {
  SHMEMX_LINK_NONE = 0,  ///< no other member on the node, or the heap is in host memory
  SHMEMX_LINK_SAME = 1,  ///< one GPU, shared
  SHMEMX_LINK_NVLINK = 2,
  SHMEMX_LINK_PCIE = 3
};

#endif
