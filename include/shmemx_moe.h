// SPDX-License-Identifier: BSD-3-Clause
//
// Mixture of experts: dispatch sends each token to the PEs that have its experts, combine brings back the weighted sum
// of what the experts made of it. The functions are in librailshmem-moe.so; link it beside librailshmem.so. Members on
// one node map each other's GPU memory; the calls work between nodes, too. docs/moe.md shows who writes where.
//
// The calls for few tokens know nothing before, and have memory for the worst case. Those for many tokens
// (shmemx_moe_bulk_*) are told which tokens go where, and their results need memory for what arrives.
//
// N is the number of the team's members. Experts are dealt out in order: member r has the experts from r * experts / N
// on, which are its local ones. Rows of an expert lie one behind the other: first those of member 0's tokens, in the
// order of its tokens, then those of member 1's.
#ifndef RAILSHMEM_SHMEMX_MOE_H
#define RAILSHMEM_SHMEMX_MOE_H

#include <stdint.h>

#include "shmemx.h"

/// One dispatch at a time, with its combine. Of one team and one stream at a time.
typedef struct shmemx_moe* shmemx_moe_t;

/// What a row of 8-bit floats says of each 128 channels.
enum {
  SHMEMX_MOE_SCALE_FLOAT = 0,  ///< a float: the largest of the channels / 448
  SHMEMX_MOE_SCALE_POWER = 1,  ///< a float: the power of two that is not less than that
  SHMEMX_MOE_SCALE_UE8M0 =
      2  ///< that power's exponent + 127, as a byte; four of them, from the lowest byte on, in 32 bits
};

/// What all members agree on. Begin with SHMEMX_MOE_CONFIG_INITIALIZER.
typedef struct {
  size_t size;          ///< sizeof(shmemx_moe_config_t) in the caller's version of this header
  int experts;          ///< of all members together: a multiple of N, at most 1024
  int topk;             ///< experts of a token at most: 1 to 32
  int hidden;           ///< channels of a token: a multiple of 8, or of 128 with dispatch_type E4M3; at most 16384
  int max_tokens;       ///< of a member in a dispatch, at most 1048575
  int type;             ///< of tokens and results: SHMEMX_DATATYPE_BFLOAT16 or _HALF
  int dispatch_type;    ///< of what experts get: `type`, or SHMEMX_DATATYPE_FLOAT8_E4M3 with scales
  int multiprocessors;  ///< that a kernel occupies at most; 0: all. Need not be equal on all members
  int late_weights;     ///< 1: combine is given the weights, which costs it a message; 0: dispatch is
  int scale_type;       ///< of E4M3: SHMEMX_MOE_SCALE_*; hidden is a multiple of 512 with _UE8M0
  int x_scaled;  ///< 1: dispatch is given 8-bit floats and their scales, which travel as they are; needs E4M3 and
                 ///< SHMEMX_MOE_SCALE_FLOAT. 0: dispatch is given `type`
  int maskable;  ///< 1: calls can go on without members, see shmemx_moe_mask_on_stream; combine then waits until all
                 ///< members have begun it
  int mask_after_ms;  ///< with maskable: a wait of so many milliseconds masks the member; less than SHMEM_WAIT_TIMEOUT.
                      ///< 0: no wait does. Need not be equal on all members
  shmemx_moe_t mask_of;  ///< with maskable: a handle of the same members with maskable, whose mask this one shares, and
                         ///< which outlives it. NULL: the handle has a mask of its own
  int zeroed;  ///< 1: the workspace was set to 0 on all members, and they have met since; then shmemx_moe_create is
               ///< local
} shmemx_moe_config_t;

// clang-format off
#define SHMEMX_MOE_CONFIG_INITIALIZER \
  {sizeof(shmemx_moe_config_t), 0, 8, 0, 0, SHMEMX_DATATYPE_BFLOAT16, SHMEMX_DATATYPE_BFLOAT16, 0, 0, SHMEMX_MOE_SCALE_FLOAT, 0, 0, 0, NULL, 0}
// clang-format on

/// One dispatch. Begin with SHMEMX_MOE_DISPATCH_INITIALIZER. All pointers are to memory of this PE's GPU.
typedef struct {
  size_t size;             ///< sizeof(shmemx_moe_dispatch_t) in the caller's version of this header
  shmemx_moe_t handle;     ///< of shmemx_moe_create
  int tokens;              ///< 0 to max_tokens
  int hook;                ///< 1: send only; shmemx_moe_complete_on_stream receives
  const void* x;           ///< [tokens][hidden] of `type`, or of dispatch_type with x_scaled
  const int64_t* experts;  ///< [tokens][topk]; -1: no expert. An expert named twice gets the token once, for the sum of
                           ///< the weights
  const float* weights;    ///< [tokens][topk]; NULL: all are 1, or late_weights
  void* rows;              ///< result: [local experts][N * max_tokens][hidden] of dispatch_type
  void* scales;            ///< result, of E4M3: [local experts][hidden / 128][N * max_tokens] floats; a value is
                           ///< row * scale. With SHMEMX_MOE_SCALE_UE8M0 [..][hidden / 512][..] words of 32 bits
  int32_t* counts;         ///< result: [local experts][N], rows from each member
  int32_t* totals;         ///< result, or NULL: [local experts], rows from all members
  int64_t* ranges;         ///< result, or NULL: [local experts][N], the first row from each member * 2^32 + its count
  int32_t* sources;       ///< result, or NULL: [local experts][N * max_tokens], each row's token's number at its member
  const float* x_scales;  ///< with x_scaled: [tokens][hidden / 128]; else NULL
} shmemx_moe_dispatch_t;

#define SHMEMX_MOE_DISPATCH_INITIALIZER \
  { sizeof(shmemx_moe_dispatch_t), NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/// The combine of the last dispatch. Begin with SHMEMX_MOE_COMBINE_INITIALIZER.
typedef struct {
  size_t size;          ///< sizeof(shmemx_moe_combine_t) in the caller's version of this header
  shmemx_moe_t handle;  ///< of shmemx_moe_create
  int hook;             ///< 1: send only; shmemx_moe_complete_on_stream receives
  const void* rows;  ///< [local experts][N * max_tokens][hidden] of `type`: results in the places of the rows that came
  void* out;         ///< result: [tokens][hidden] of `type`
  const float* weights;  ///< with late_weights: [tokens][topk], as the dispatch's experts; else NULL
} shmemx_moe_combine_t;

#define SHMEMX_MOE_COMBINE_INITIALIZER \
  { sizeof(shmemx_moe_combine_t), NULL, 0, NULL, NULL, NULL }

/// Dispatches and combines of many tokens. Of one team and one stream at a time.
typedef struct shmemx_moe_bulk* shmemx_moe_bulk_t;

/// What all members agree on. Begin with SHMEMX_MOE_BULK_CONFIG_INITIALIZER.
typedef struct {
  size_t size;          ///< sizeof(shmemx_moe_bulk_config_t) in the caller's version of this header
  int hidden;           ///< channels of a token: a multiple of 8, or of 16 for 8-bit floats; at most 16384
  int max_tokens;       ///< of a member in a dispatch, at most 1048575
  int type;             ///< of tokens and results: SHMEMX_DATATYPE_BFLOAT16 or _HALF
  int words;            ///< of 32 bits that may travel with a token, as scales and weights; at most 4096
  int multiprocessors;  ///< that a kernel occupies at most; 0: all. Need not be equal on all members
} shmemx_moe_bulk_config_t;

#define SHMEMX_MOE_BULK_CONFIG_INITIALIZER \
  { sizeof(shmemx_moe_bulk_config_t), 0, 0, SHMEMX_DATATYPE_BFLOAT16, 0, 0 }

/// Which tokens go where. Pointers are to memory of this PE's GPU. The routes of all members fit together: member s has
/// as many numbers for member m as begins[s + 1] - begins[s] of member m says.
typedef struct {
  int tokens;              ///< of this member, 0 to max_tokens
  int room;                ///< rows that a call has memory for; more that come end the job with a message
  const int32_t* numbers;  ///< [tokens][N]: how many tokens of this member before go to that one; -1: this one does not
  const int32_t* begins;   ///< [N + 1]: first row here of each member's tokens; the last one is the number of rows
} shmemx_moe_bulk_route_t;

/// One dispatch of many tokens. Begin with SHMEMX_MOE_BULK_DISPATCH_INITIALIZER.
typedef struct {
  size_t size;                    ///< sizeof(shmemx_moe_bulk_dispatch_t) in the caller's version of this header
  shmemx_moe_bulk_t handle;       ///< of shmemx_moe_bulk_create
  shmemx_moe_bulk_route_t route;  ///< equal in the dispatch and its combines
  int x_type;                     ///< `type`, or SHMEMX_DATATYPE_FLOAT8_E4M3. Equal on all members, as `words` is
  int words;                      ///< of each token: 0 to the configuration's
  const void* x;                  ///< [tokens][hidden] of x_type
  const void* x_words;            ///< [tokens][words], or NULL if none exist
  void* rows;                     ///< result: [room][hidden] of x_type, first those of member 0's tokens in their order
  void* row_words;                ///< result: [room][words]
  int32_t* sources;               ///< result, or NULL: [room], each row's token's number at its member
} shmemx_moe_bulk_dispatch_t;

// clang-format off
#define SHMEMX_MOE_BULK_DISPATCH_INITIALIZER \
  {sizeof(shmemx_moe_bulk_dispatch_t), NULL, {0, 0, NULL, NULL}, SHMEMX_DATATYPE_BFLOAT16, 0, NULL, NULL, NULL, NULL, NULL}
// clang-format on

/// One combine of many tokens. Begin with SHMEMX_MOE_BULK_COMBINE_INITIALIZER.
typedef struct {
  size_t size;                    ///< sizeof(shmemx_moe_bulk_combine_t) in the caller's version of this header
  shmemx_moe_bulk_t handle;       ///< of shmemx_moe_bulk_create
  shmemx_moe_bulk_route_t route;  ///< of any dispatch
  const void* rows;               ///< [room][hidden] of `type`, in the places of the rows that came
  void* out;                      ///< result: [tokens][hidden] of `type`
} shmemx_moe_bulk_combine_t;

#define SHMEMX_MOE_BULK_COMBINE_INITIALIZER \
  { sizeof(shmemx_moe_bulk_combine_t), NULL, {0, 0, NULL, NULL}, NULL, NULL }

/// Which tokens of this member go where, and what follows from it. Begin with SHMEMX_MOE_BULK_LAYOUT_INITIALIZER.
/// Pointers are to memory of this PE's GPU. Tokens go to the members of the experts that `chosen` names, or where
/// `goes` says. Any result may be NULL; those behind begins need it.
typedef struct {
  size_t size;                ///< sizeof(shmemx_moe_bulk_layout_t) in the caller's version of this header
  shmemx_moe_bulk_t handle;   ///< of shmemx_moe_bulk_create
  int tokens;                 ///< of this member, 0 to 1048575; its handle may have a smaller max_tokens
  int topk;                   ///< with chosen: experts of a token, 1 to 32
  int experts;                ///< of all members together: a multiple of N, at most 1024; 0 only with goes
  const int64_t* chosen;      ///< [tokens][topk]; -1: no expert
  const uint8_t* goes;        ///< [tokens][N], 0: this token does not go to that member; NULL where chosen is given
  const int32_t* goes_named;  ///< with goes: [experts], how often this member's tokens name each; NULL: never
  int32_t* numbers;           ///< result: [tokens][N], of a route
  uint8_t* in_member;         ///< result: [tokens][N], 1 where the token goes to the member, else 0
  int32_t* to_members;        ///< result: [N], tokens of this member for each
  int32_t* to_experts;        ///< result: [experts], how often this member's tokens name each
  int32_t* begins;    ///< result: [N + 1], of a route. NULL: the call is local, as all members must have it or none
  int32_t* prefixes;  ///< result: [N][N], tokens that members up to the row's one send to the column's
  int32_t* received;  ///< result: [experts / N], how often all members' tokens name each expert here
  uint64_t* on_host;  ///< result: [3 + experts / N], in memory of the CPU that the GPU writes (cudaHostAlloc): ticket,
                      ///< rows that come here, most tokens of a member, and as `received`
  uint64_t ticket;    ///< on_host[0] gets it behind the others, so that a CPU may look for it. Graphs keep it
} shmemx_moe_bulk_layout_t;

// clang-format off
#define SHMEMX_MOE_BULK_LAYOUT_INITIALIZER \
  {sizeof(shmemx_moe_bulk_layout_t), NULL, 0, 8, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1}
// clang-format on

RAILSHMEM_BEGIN_C

/// Bytes of workspace that a handle needs, which is more between nodes. Local; 0 after a message.
RAILSHMEM_API size_t shmemx_moe_workspace(shmem_team_t team, const shmemx_moe_config_t* config);

/// As shmemx_moe_workspace(), for a team of so many members on one node that is yet to be made. Also before shmem_init.
RAILSHMEM_API size_t shmemx_moe_workspace_of(int members, const shmemx_moe_config_t* config);

/// As shmemx_moe_workspace_of(), for two members or more on several nodes.
RAILSHMEM_API size_t shmemx_moe_workspace_between_nodes(int members, const shmemx_moe_config_t* config);

/// Makes a handle for a team. workspace: nbytes of symmetric GPU memory (shmem_malloc) at one address on all members,
/// the handle's alone until it is destroyed. Collective over the team, or local with `zeroed`; this PE's GPU is current
/// (cudaSetDevice). 0 on all members, or nonzero on all after a message; with `zeroed`, on this one.
RAILSHMEM_API int shmemx_moe_create(shmem_team_t team, const shmemx_moe_config_t* config, void* workspace,
                                    size_t nbytes, shmemx_moe_t* handle);

/// Frees a handle; the streams that used it have been synchronised, and graphs that captured its calls destroyed.
/// Local. 0, or nonzero after a message.
RAILSHMEM_API int shmemx_moe_destroy(shmemx_moe_t handle);

/// Sends this PE's tokens to their experts and receives those for the experts here, in stream order. Collective over
/// the handle's team; all members give the calls of a handle in one order. Graphs may capture it; each launch reads the
/// routing anew. 0, or nonzero after a message; then nothing happened.
RAILSHMEM_API int shmemx_moe_dispatch_on_stream(const shmemx_moe_dispatch_t* dispatch, shmemx_stream_t stream);

/// Brings back the results of the last dispatch's tokens, in stream order: for each token, the sum of weight * row over
/// its experts, in float. The experts of a member are summed up in the token's order, then the members in the order of
/// ranks; so the bits are those of every run. Once for each dispatch, or with late_weights up to 256 times, if all
/// members do; a graph that captures it captures its dispatch too. Collective and refused as
/// shmemx_moe_dispatch_on_stream.
RAILSHMEM_API int shmemx_moe_combine_on_stream(const shmemx_moe_combine_t* combine, shmemx_stream_t stream);

/// The receiving half of the last dispatch or combine, which was given with hook = 1, in stream order. The buffers of
/// that call stay as they are until then. 0, or nonzero after a message.
RAILSHMEM_API int shmemx_moe_complete_on_stream(shmemx_moe_t handle, shmemx_stream_t stream);

/// Masks a member of the handle's team, by its number there: this PE's calls go on without it. It gets no tokens,
/// tokens of this PE that name its experts go on as if they named -1, its counts are 0, and sums are made without it.
/// Nobody else learns of it: all members that go on mask the same ones. Graphs captured before see it. In stream order;
/// in another stream it also ends the waits that are under way, if the handle's multiprocessors leave room for one
/// block more. Local. Needs a handle with maskable. 0, or nonzero after a message; then nothing happened.
RAILSHMEM_API int shmemx_moe_mask_on_stream(shmemx_moe_t handle, int member, shmemx_stream_t stream);

/// Takes a member back, or all where member is -1, in stream order. Members that do so, and those that are taken back,
/// make this call at one place between their calls, and meet before and after it: the first meeting when their streams
/// have done all calls before. A member that comes back takes the others back by -1. What was dispatched before can no
/// longer be combined. Local, refused as shmemx_moe_mask_on_stream.
RAILSHMEM_API int shmemx_moe_unmask_on_stream(shmemx_moe_t handle, int member, shmemx_stream_t stream);

/// Says which members are masked, by shmemx_moe_mask_on_stream or by a wait, in stream order. masked: [N] of this PE's
/// GPU, 1 for those that are. Local, refused as shmemx_moe_mask_on_stream.
RAILSHMEM_API int shmemx_moe_masked_on_stream(shmemx_moe_t handle, int32_t* masked, shmemx_stream_t stream);

/// Waits, in stream order, until all members that are not masked have come to this call. Collective over them, in one
/// order with the handle's other calls; with mask_after_ms a member that stays away is masked. Refused as
/// shmemx_moe_mask_on_stream.
RAILSHMEM_API int shmemx_moe_meet_on_stream(shmemx_moe_t handle, shmemx_stream_t stream);

/// Bytes of workspace that a handle for many tokens needs. Local; 0 after a message.
RAILSHMEM_API size_t shmemx_moe_bulk_workspace(shmem_team_t team, const shmemx_moe_bulk_config_t* config);

/// As shmemx_moe_bulk_workspace(), for a team of so many members on one node. Also before shmem_init.
RAILSHMEM_API size_t shmemx_moe_bulk_workspace_of(int members, const shmemx_moe_bulk_config_t* config);

/// As shmemx_moe_bulk_workspace_of(), for two members or more on several nodes.
RAILSHMEM_API size_t shmemx_moe_bulk_workspace_between_nodes(int members, const shmemx_moe_bulk_config_t* config);

/// Makes a handle for many tokens. workspace: nbytes (shmemx_moe_bulk_workspace) of symmetric GPU memory
/// (shmem_malloc) at one address on all members, the handle's alone until it is destroyed. Collective over the team;
/// this PE's GPU is current. 0 on all members, or nonzero on all after a message.
RAILSHMEM_API int shmemx_moe_bulk_create(shmem_team_t team, const shmemx_moe_bulk_config_t* config, void* workspace,
                                         size_t nbytes, shmemx_moe_bulk_t* handle);

/// Frees a handle; the streams that used it have been synchronised, and graphs that captured its calls destroyed.
/// Local. 0, or nonzero after a message.
RAILSHMEM_API int shmemx_moe_bulk_destroy(shmemx_moe_bulk_t handle);

/// Sends each token once to each member that it goes to, in stream order. Collective over the handle's team; all
/// members give the calls of a handle in one order. Graphs may capture it. 0, or nonzero after a message; then nothing
/// happened.
RAILSHMEM_API int shmemx_moe_bulk_dispatch_on_stream(const shmemx_moe_bulk_dispatch_t* dispatch,
                                                     shmemx_stream_t stream);

/// Adds up the rows of each token, which members send back, in float and in the order of ranks, and rounds once; a
/// token that goes nowhere gets zeros. In stream order; for any route, at any time and as often as wanted. Collective
/// and refused as shmemx_moe_bulk_dispatch_on_stream.
RAILSHMEM_API int shmemx_moe_bulk_combine_on_stream(const shmemx_moe_bulk_combine_t* combine, shmemx_stream_t stream);

/// Counts and numbers tokens, and tells the members of the counts, in stream order, by one kernel. A token's number at
/// a member is that of the tokens before it that go there. With begins: collective over the handle's team, in one order
/// with other such calls of the handle. Without it: local. Graphs may capture it; each launch reads the tokens anew. A
/// number in `chosen` that is no expert ends the job with a message. 0, or nonzero after a message; then nothing
/// happened.
RAILSHMEM_API int shmemx_moe_bulk_layout_on_stream(const shmemx_moe_bulk_layout_t* layout, shmemx_stream_t stream);

RAILSHMEM_END_C

#endif
