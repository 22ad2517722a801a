#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes C++ of a CUDA program for cuda_runtime.h beside this: launches.py PROGRAM.cu OUT.cpp"""
import re
import sys

program, out = sys.argv[1:]
with open(program, encoding="utf-8") as source:
    text = source.read()
# kernel<<<grid, block>>>(arguments): the kernel may be a template with its arguments.
text, launches = re.subn(r"(\b[\w:]+(?:<[\w:, ]+>)?)<<<(.*?)>>>\(", r"::railshmem::emulated_cuda::launcher(\1, \2)(", text)
if launches == 0 or "<<<" in text:
    sys.exit(f"launches.py: {program}: no launch, or one that this script does not understand")
with open(out, "w", encoding="utf-8") as target:
    target.write(f'#include <cuda_runtime.h>\n#line 1 "{program}"\n{text}')
