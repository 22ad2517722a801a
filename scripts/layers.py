# SPDX-License-Identifier: BSD-3-Clause
"""The dependency rule: what each folder is and what it may include. check_layers.py holds the sources to it and writes
the table of docs/architecture.md from it.
"""
from typing import NamedTuple


class Layer(NamedTuple):
    folder: str  # the longest one that begins a path is the folder of that path
    meaning: str  # Markdown
    may_include: list  # besides itself


BASE = ["src/base"]
PLUGIN = ["src/plugin"] + BASE
PUBLIC = ["include"]  # the views and commands that kernels and the library share are among the public headers
PROXY = ["src/proxy/rails"] + PLUGIN
POST = ["src/proxy/post"] + PROXY
FAILOVER = ["src/proxy/failover"] + POST
RMA = ["src/topology"] + PLUGIN
TEAM = ["src/rma", "src/observe"] + RMA
COLLECTIVE = ["src/plan", "src/team"] + TEAM
ACTIVE = ["src/collective"] + COLLECTIVE
CHECK = ["src/active"] + ACTIVE
GPU = ["src/cuda", "src/heap", "src/channel"]
STREAM = ["src/collective"] + COLLECTIVE + GPU + ["src/gpu"]
EXECUTOR = ["src/stream"] + STREAM
WORLD = CHECK + GPU + ["src/globals", "src/gpu", "src/stream", "src/observe"]
TRANSPORT = ["src/proxy", "src/channel", "src/heap", "src/topology", "src/observe"] + PLUGIN

LAYERS = [
    Layer("include", "the installed headers; `shmem/device/` and `shmem/detail/` also compile for CUDA kernels; `compat/` has NVSHMEM's "
          "names", []),
    Layer("src/base", "errors, messages, environment table, owning handles, file descriptors for other processes", []),
    Layer("src/observe", "counters, events and their timeline: `SHMEM_STATS`, `SHMEM_TRACE`", BASE),
    Layer("src/plugin", "the contracts: `bootstrap.h`, `network.h`, `rail.h`, `segment.h`", BASE + PUBLIC),
    Layer("src/topology", "which PEs form a node, where PEs and devices are (hwloc), how a host's PEs share its NICs", BASE),
    Layer("src/channel", "command ring between kernels (or threads) and the proxy, completion watermark", BASE + PUBLIC),
    Layer("src/heap", "symmetric memory: memfd, node arena, allocator; contract `load_store.h`", PLUGIN + PUBLIC),
    Layer("src/cuda", "GPUs, by the CUDA driver that is loaded at run time: contexts, memory and the arena in which peers see it, pinned "
          "memory, copies and atomics by copy engines", PLUGIN + PUBLIC),
    Layer("src/gpu", "the device heap and what kernels need of a PE: choice of the heap, attaching, channels, tables, views, the watch over "
          "kernels, symmetric buffers of the program's own", GPU + ["src/topology"] + PLUGIN + PUBLIC),
    Layer("src/proxy", "`Engine<Fabric>`: the source's side over all rails of a port, the target's side, host endpoint and proxy loop; "
          "templates over the rail. Its README says where to begin", ["src/proxy", "src/channel", "src/observe"] + PLUGIN + PUBLIC),
    Layer("src/proxy/rails", "which rail an operation takes, which rails reach a PE", PLUGIN),
    Layer("src/proxy/post", "operations on their way, and what a context waits for", PROXY + ["src/channel"] + PUBLIC),
    Layer("src/proxy/failover", "rails that die and come back", POST),
    Layer("src/proxy/staging", "memory that rails do not reach, at the source", POST + ["src/observe"]),
    Layer("src/proxy/source", "the source's side of every operation", FAILOVER + ["src/proxy/staging"]),
    Layer("src/proxy/target", "who executes peers' requests", FAILOVER + ["src/proxy/source", "src/proxy/staging", "src/observe"]),
    Layer("src/proxy/flush", "data is visible before its signal", FAILOVER + ["src/proxy/target", "src/proxy/source"]),
    Layer("src/rma", "the data path: where an address lives, put, get, AMO, signal, wait, fence, quiet, locks", ["src/observe"] + RMA + PUBLIC),
    Layer("src/globals", "the executable's global objects as symmetric memory: found, moved into a memfd while other threads are held, "
          "mapped by the node's PEs", ["src/heap"] + TEAM),
    Layer("src/team", "a team: PEs, nodes, area of symmetric flags; the arithmetic of splits", TEAM + PUBLIC),
    Layer("src/plan", "which way a collective takes: the table of crossovers, and plans as pure functions", BASE + PUBLIC),
    Layer("src/collective", "what the members of a team do together: synchronise, move data, reduce, scan, agree", COLLECTIVE + PUBLIC),
    Layer("src/stream", "what calls put into a stream of the program: copies, kernels, and collectives inside a node (scratch memory of a team, and who runs a plan's steps)",
          STREAM + PUBLIC),
    Layer("src/stream/executor", "what the host runs in stream order: collectives by a thread for each team, puts and gets by one thread; streams trigger and wait for them",
          EXECUTOR + PUBLIC),
    Layer("src/active", "the old collectives of active sets, with all state in `pSync`", ACTIVE + PUBLIC),
    Layer("src/check", "arguments, and agreement between PEs: `SHMEM_CHECK`", CHECK + PUBLIC),
    Layer("src/world", "`World`: owns everything of a job; `setup.cpp` has the stages of its setup. `AttachedGpu` owns what exists only with a GPU", WORLD + PUBLIC),
    Layer("src/api", "the C names: `entries/` is written from the table of the API, and calls one header a family; `job.cpp` starts and ends the World", ["src/world", "src/check"] + WORLD + PUBLIC),
    Layer("bootstrap", "how PEs find each other: `local` (with `oshrun`, which sees hwloc), `tcp`, `pmi`, `pmix`, `mpi`, `single`; "
          "`registry.cpp` picks", ["bootstrap/common"] + PLUGIN),
    Layer("transports", "`p2p` (load and store), `ofi` (libfabric), `loopback` (PEs as threads); `registry.cpp` binds", TRANSPORT + PUBLIC),
    Layer("overlap", "`librailshmem-overlap.so`: products of matrices that hide collectives, a library of its own over the public API", BASE + PUBLIC),
    Layer("moe", "`librailshmem-moe.so`: dispatch and combine of mixtures of experts, a library of its own over the public API",
          ["overlap"] + BASE + PUBLIC),
    Layer("perftest", "benchmarks and `shmem_info`", PUBLIC + ["perftest/ring", "perftest/engine", "perftest/peers"]),
    Layer("perftest/device", "benchmarks of kernels; the only part of perftest that sees CUDA", ["perftest"] + PUBLIC),
    Layer("perftest/ring", "the command ring without a proxy", ["perftest", "src/channel"] + BASE + PUBLIC),
    Layer("perftest/engine", "the engine without a network", ["perftest", "src/proxy", "src/channel"] + PLUGIN + PUBLIC),
    Layer("perftest/peers", "libfabric with peers that are not there",
          ["perftest", "src/proxy", "transports/ofi"] + PLUGIN + PUBLIC),
    Layer("python", "the Python package: its module `_core` over the public API; `device/`, the device functions for compilers of kernels", PUBLIC),
    Layer("examples", "programs to begin with", PUBLIC),
    Layer("tests/conformance", "programs of the public API over every transport", PUBLIC + ["tests/support"]),
    Layer("tests/fault", "programs with mistakes, and PEs that die", PUBLIC),
]
RULE = {layer.folder: layer.may_include for layer in LAYERS}

# Sub-folders of these are siblings that must not see each other; the files directly inside (registries) see them all.
SIBLINGS = ["bootstrap", "transports"]
SHARED_SIBLINGS = ["bootstrap/common"]

# Vendor headers and the only folders that may include them.
VENDOR = {
    r"rdma/": ["transports/ofi", "perftest"],
    r"cuda": ["src/cuda", "include/compat", "include/shmem/device", "include/shmem/detail", "perftest/device"],
    r"mpi\.h$": ["bootstrap/mpi"],
    r"pmix": ["bootstrap/pmix"],
    r"hwloc": ["src/topology", "bootstrap/local/oshrun", "perftest"],
}
