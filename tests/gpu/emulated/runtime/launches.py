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
# __shared__ float tile[8][4]; and extern __shared__ float tile[];
DECLARATION = r"__shared__ ([\w:<>, ]+?) (\w+)"
text = re.sub(r"\bextern " + DECLARATION + r"\[\];", r"\1* const \2 = ::railshmem::emulation::dynamic_shared<\1>();", text)
text = re.sub(DECLARATION + r"((?:\[[^\]]+\])*);", r'auto& \2 = ::railshmem::emulation::shared<\1\3>("\2");', text)
if "__shared__" in text:
    sys.exit(f"launches.py: {program}: a __shared__ variable that this script does not understand")
with open(out, "w", encoding="utf-8") as target:
    target.write(f'#include <cuda_runtime.h>\n#line 1 "{program}"\n{text}')
