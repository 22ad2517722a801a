# SPDX-License-Identifier: BSD-3-Clause
"""For check_api.py: compiles one call of every C11 generic for every type, and looks which functions were chosen."""
import re
import subprocess

# Typed functions without a generic name.
NO_GENERIC = re.compile(r"_to_all$|shmem_(short|int|long|longlong)_wait$")
ALIAS = re.compile(r"^shmem_(?:ctx_)?(u?int(8|16|32|64)|size|ptrdiff)_")
# Generics that share their name with a function of the default context or with a deprecated one.
SHARED = {"shmem_ctx_signal_add": "shmem_signal_add", "shmem_ctx_signal_set": "shmem_signal_set",
          "shmem_team_sync": "shmem_sync", "shmem_signal_add": "shmem_signal_add", "shmem_signal_set": "shmem_signal_set"}


def generic_of(name, types):
    """shmem_ctx_int_put -> shmem_put; None for functions that no generic stands for."""
    if name in SHARED:
        return SHARED[name]
    if NO_GENERIC.search(name):
        return None
    match = re.fullmatch(r"shmem_(?:ctx_)?([a-z0-9]+)_(\w+)", name)
    return f"shmem_{match.group(2)}" if match and match.group(1) in types else None


def call_of(name, generic, prototype, number):
    """A C function that makes one call through the generic, with variables of the prototype's own types."""
    parameters = prototype[prototype.index("(") + 1:-1].split(",")
    declarations, arguments = [], []
    for position, parameter in enumerate(parameters):
        variable = f"a{position}"
        match = re.fullmatch(r"(.*?)(\w+)", parameter.strip())
        declarations.append(f"{match.group(1)} {variable}")
        arguments.append(variable)
    return (f"void call_{number}({', '.join(declarations)});\n"
            f"void call_{number}({', '.join(declarations)}) {{ (void){generic}({', '.join(arguments)}); }}  /* {name} */")


def choices(assembly):
    """Number of a call -> the function it calls."""
    found, number = {}, None
    for line in assembly.splitlines():
        label = re.match(r"call_(\d+):", line)
        if label:
            number = int(label.group(1))
        function = re.search(r"\b(?:call|callq|bl|jmp|b)\s+(\w+)", line)
        if function and number is not None:
            found[number] = function.group(1)
    return found


def check(include, compiler, plain, types):
    """(number of calls, problems): `plain` maps names to prototypes, `types` are the type names of the tables."""
    calls = [(name, generic_of(name, types)) for name in sorted(plain)]
    calls = [(name, generic) for name, generic in calls if generic]
    source = "#include <shmem.h>\n" + "\n".join(call_of(name, generic, plain[name], number)
                                                for number, (name, generic) in enumerate(calls))
    done = subprocess.run([compiler, "-std=c11", "-O0", f"-I{include}", "-Wall", "-Wextra", "-Werror", "-S", "-x", "c", "-",
                           "-o", "-"], input=source, capture_output=True, text=True)
    if done.returncode != 0:
        return len(calls), [f"a call does not compile: {line}" for line in done.stderr.splitlines() if "error" in line][:20]
    chosen = choices(done.stdout)
    problems = []
    for number, (name, generic) in enumerate(calls):
        function = chosen.get(number, "nothing")
        # Some type names are other spellings of a type, and their calls ride on that type's function.
        rides = ALIAS.search(name) and generic_of(function, types) == generic and ("_ctx_" in name) == ("_ctx_" in function)
        if function != name and not rides:
            problems.append(f"{generic} on the arguments of {name} calls {function}")
    return len(calls), problems
