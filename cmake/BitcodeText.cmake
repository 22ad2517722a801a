# SPDX-License-Identifier: BSD-3-Clause
# cmake -DIN=calls.ll -DOUT=calls.portable.ll -P BitcodeText.cmake: takes out of LLVM's text what would bind it to a GPU, to one compiler's
# settings or to names of C++.
file(READ ${IN} text)
# Function attributes that name a GPU: LLVM inlines no function into one of another GPU. The others set what the caller's compiler decides.
string(REGEX REPLACE " \"[a-z-]+\"=\"[^\"]*\"" "" text "${text}")
# Module flags, nvvm-reflect-ftz among them: two modules that are linked may not differ in them.
string(REGEX REPLACE "\n!llvm.module.flags = [^\n]*" "" text "${text}")
# Only the interface keeps its names; what a kernel does not call goes away.
string(REGEX REPLACE "\n@llvm.compiler.used = [^\n]*" "" text "${text}")
string(REGEX REPLACE "\n\\$[^\n]* = comdat any" "" text "${text}")
string(REPLACE "linkonce_odr dso_local" "internal" text "${text}")
string(REGEX REPLACE ",? comdat( |\n)" "\\1" text "${text}")
# Structures that are passed by value: Triton's 32-bit addresses of shared and local memory (nvptx-short-ptr) end LLVM's code generator there
# (3.4 to 3.6: an assertion in SelectionDAG::ReplaceAllUsesWith). The functions of every call take them by address (RAILSHMEM_STRUCT); the
# few others become part of their callers.
string(REGEX REPLACE "\n(define internal [^\n]*byval\\([^\n]*) #[0-9]+ {" "\n\\1 alwaysinline convergent mustprogress nounwind {" text "${text}")
file(WRITE ${OUT} "${text}")
