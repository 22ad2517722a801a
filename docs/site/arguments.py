# SPDX-License-Identifier: BSD-3-Clause
"""What the arguments of the API mean, and which mistakes its functions notice, in words for the pages of functions."""
import re

MEANINGS = {
    "dest": "where the result goes: this member's own array",
    "source": "this member's own data",
    "nelems": "number of elements; bytes in the mem forms",
    "nreduce": "number of elements to combine",
    "nbytes": "number of bytes",
    "team": "the team, `SHMEM_TEAM_WORLD` for all PEs",
    "pe": "number of the target PE: in the world, or in the team of the context",
    "stream": "the CUDA stream whose order the call keeps",
    "value": "the value to store, add or combine",
    "cond": "the value that the object must have for the swap to happen",
    "fetch": "local memory that gets the old value",
    "cmp": "the comparison: `SHMEM_CMP_EQ`, `NE`, `GT`, `GE`, `LT` or `LE`",
    "cmp_value": "the value to compare with",
    "cmp_values": "a value to compare with for each element of ivars",
    "ivar": "symmetric variable of this PE that another PE changes",
    "ivars": "array of symmetric variables of this PE that other PEs change",
    "indices": "gets the indices of the elements that meet the condition",
    "status": "for waits: which elements to leave out (nonzero), or NULL for none; for global_exit the status of the job",
    "sig_addr": "symmetric signal word, which is updated after the data has arrived",
    "signal": "the value that updates the signal word",
    "sig_op": "`SHMEM_SIGNAL_SET` or `SHMEM_SIGNAL_ADD`",
    "dst": "stride of dest, in elements",
    "sst": "stride of source, in elements",
    "bsize": "elements of a block",
    "nblocks": "number of blocks",
    "PE_start": "first PE of the active set",
    "logPE_stride": "logarithm, base 2, of the stride between PEs of the active set",
    "PE_size": "number of PEs of the active set",
    "PE_root": "the PE whose data is sent, counted within the team or set",
    "pSync": "symmetric work array of the set, `SHMEM_SYNC_VALUE` in each element at entry",
    "pWrk": "symmetric work array of the standard; RailSHMEM does not use it",
    "size": "size in bytes",
    "count": "number of elements",
    "alignment": "a power of two",
    "hints": "an or of `SHMEM_MALLOC_` and `SHMEMX_MALLOC_` constants",
    "ptr": "a block of symmetric memory, or NULL",
    "addr": "an address of this PE",
    "ctx": "the context; where it is created, gets the new one",
    "config": "configuration of the team, or NULL",
    "config_mask": "which fields of config count",
    "options": "an or of `SHMEM_CTX_SERIALIZED`, `SHMEM_CTX_PRIVATE`, `SHMEM_CTX_NOSTORE`, `SHMEMX_CTX_PUBLISHED`",
    "lock": "symmetric lock word, 0 on all PEs at first",
    "coll": "the description of the collective",
    "requested": "the thread level that the program asks for",
    "provided": "gets the thread level that the library grants",
    "initialized": "gets 1 while the library runs, else 0",
    "major": "gets the major version",
    "minor": "gets the minor version",
    "name": "gets the name, at most `SHMEM_MAX_NAME_LEN` characters",
    "level": "a level for a profiling tool",
    "parent_team": "the team to make a team of",
    "src_team": "the team in which src_pe is a number",
    "src_pe": "number of a PE in src_team",
    "dest_team": "the team in which the number is asked for",
    "start": "number of the first PE in the parent",
    "stride": "distance between the PEs in the parent",
    "new_team": "gets the team, `SHMEM_TEAM_INVALID` on PEs that are not in it",
    "xrange": "length of a row",
    "target_pes": "the PEs to wait for",
    "npes": "how many PEs target_pes has",
    "buffer": "local memory",
    "arrived": "words that count arrived pieces",
    "ready": "words that say which pieces may be read",
    "done": "words that count finished pieces",
    "piece_nbytes": "bytes of a piece",
    "piece_nelems": "elements of a piece",
    "topology": "gets the description of nodes and PEs",
    "attr": "attributes of the start, from `SHMEMX_INIT_ATTR_INITIALIZER` on",
    "flags": "which of the ways or options is meant",
    "id": "the unique id",
    "uid": "the unique id",
    "handle": "the handle that the library made",
    "uniqueid": "the id, which all PEs of the job pass",
    "slot": "which rail, from 0 on",
    "module": "a module that the program has loaded (`CUmodule`)",
    "library": "a library that the program has loaded (`CUlibrary`)",
    "members": "number of members of the team",
    "workspace": "symmetric memory for the handle",
    "dispatch": "the description of the dispatch",
    "combine": "the description of the combine",
    "member": "number of a member in the team",
    "masked": "gets the mask",
    "layout": "the description of the counts and numbers to make",
    "partial_nbytes": "bytes of all results of the product",
    "gemm": "the description of the product",
    "nodes": "number of nodes",
    "m": "rows of the product",
    "n": "columns of the product",
    "k": "length of the inner sum",
    "element_nbytes": "bytes of an element",
}
# Function names -> what dest and source are there.
SIDES = [
    (re.compile(r"_(i|ib)?put|_p$"), ("where the data goes: a symmetric address, on PE pe", "where the data comes from: memory of this PE")),
    (re.compile(r"_(i|ib)?get|_g$"), ("where the data goes: memory of this PE", "where the data comes from: a symmetric address, on PE pe")),
    (re.compile(r"atomic|signal_(add|set|fetch)|_(swap|cswap|fadd|finc|fetch|set|add|inc)$"), ("the object to update: a symmetric address, on PE pe", "the object to read: a symmetric address, on PE pe")),
    (re.compile(r"ptr$"), ("a symmetric address", "")),
]
AXIS = re.compile(r"([xy])axis_(config|mask|team)")


def meaning(function, name, kind):
    """What an argument is. A name without a text is told by its type."""
    axis = AXIS.fullmatch(name)
    if axis:
        return f"{MEANINGS['new_team'] if axis[2] == 'team' else MEANINGS['config' if axis[2] == 'config' else 'config_mask']}, of the {'rows' if axis[1] == 'x' else 'columns'}"
    side = next((sides for pattern, sides in SIDES if pattern.search(function)), None)
    if side and name in ("dest", "source"):
        return side[name == "source"]
    if name == "size" and "team" in function:
        return "number of PEs of the new team"
    if function == "shmem_global_exit" and name == "status":
        return "the exit status of the job"
    return MEANINGS.get(name, f"see the description ({kind.replace('|', '/')})")


def errors(page):
    """The mistakes that are noticed, by what the function takes."""
    told = []
    takes = page.parameters
    if page.name not in ("shmem_init", "shmem_init_thread", "shmem_query_initialized", "shmem_query_thread", "shmem_global_exit"):
        told.append("A call before `shmem_init` or after `shmem_finalize` ends the job with a message.")
    if "pe" in takes and "pe_accessible" not in page.name:
        told.append("A PE that does not exist ends the job with a message that names the call and the PE.")
    if ("dest" in takes or "source" in takes) and "pe" in takes and "ptr" not in page.name and "accessible" not in page.name:
        told.append("An address that is not symmetric where it must be ends the job with a message that names the address and the PE, unless the target is the caller itself.")
    if "atomic" in page.name:
        told.append("A misaligned address ends the job.")
    if "team" in takes:
        told.append("A handle that is no team of this PE prints a warning, and the call returns its status or value for `SHMEM_TEAM_INVALID`.")
    if page.result == "int" and "nonzero" in page.sentence + page.details and "test" not in page.name:
        told.append("A nonzero result means that the call did nothing.")
    told.append("`SHMEM_CHECK=1` finds more mistakes ([Finding mistakes](../debugging.md)). A wait that lasts too long names the PE that it waits for (`SHMEM_TIMEOUT`).")
    return " ".join(told)
