# SPDX-License-Identifier: BSD-3-Clause
"""Reads table.toml: families of groups of functions, and every C function that they stand for."""
import dataclasses
import pathlib
import re

import toml_subset

try:
    import tomllib
except ModuleNotFoundError:  # before Python 3.11
    tomllib = toml_subset

TABLE = pathlib.Path(__file__).with_name("table.toml")
SIZES = ["8", "16", "32", "64", "128"]
CONTEXT = ("shmem_ctx_t", "ctx")


@dataclasses.dataclass
class Row:
    """What an element is: `name` stands in the function's name, `type` in its parameters."""
    kind: str  # typed, sized, mem or none
    name: str = ""
    type: str = "void"

    def bytes(self):
        if self.type == "long double":
            return "railshmem::device::kLongDoubleBytes"  # compilers of kernels warn of the type in sizeof
        return {"typed": f"sizeof({self.type})", "sized": f"{self.name} / 8", "mem": "1"}.get(self.kind, "")

    def function_name(self, pattern):
        """{put}_nbi -> long_put_nbi, put64_nbi, putmem_nbi."""
        if self.kind == "typed":
            plain = pattern.replace("TYPE_", f"{self.name}_")
            return re.sub(r"^(.*)\{(\w+)\}", rf"\1{self.name}_\2", plain)
        return re.sub(r"\{(\w+)\}", rf"\g<1>{'mem' if self.kind == 'mem' else self.name}", pattern)

    def words(self, sentence):
        """The sentence for this row."""
        element = {"typed": f"elements ({self.type})", "sized": f"elements of {self.name} bits", "mem": "bytes"}.get(self.kind, "elements")
        sentence = sentence.replace("{nelems}", f"nelems {element}").replace("{elements}", element)
        return re.sub(r"\bT\b", self.type, sentence).replace("TYPE_", f"{self.name}_")


@dataclasses.dataclass
class CFunction:
    """One function of C."""
    prefix: str
    name: str
    result: str
    parameters: list  # (type, name)
    sentence: str
    section: str
    row: Row
    entry: "Function"
    with_context: bool
    in_kernels: bool
    kernel: str  # expression with SCOPE in it, or ""
    generic: str  # name of the generic without type, or ""
    host: str  # expression of the entry point with CALL in it, or ""

    def full_name(self):
        return self.prefix + self.name

    def parameter_list(self):
        return ", ".join(f"{kind} {name}".strip() for kind, name in self.parameters) or "void"

    def arguments(self):
        return ", ".join(name for _, name in self.parameters)

    def by(self, scope):
        """The expression that a kernel evaluates."""
        return self.kernel.replace("SCOPE", scope)


def split_parameters(text):
    """[(type, name)] of a parameter list; "..." has no name."""
    if text == "void":
        return []
    return [("...", "") if part.strip() == "..." else re.fullmatch(r"(.*?) ?(\w+)", part.strip()).groups()
            for part in text.split(",")]


class Function:
    """A function of the table, with the defaults of its group."""

    def __init__(self, entry, group, variant):
        known = {"rows", "ctx", "generic", "scopes", "prefix", "also", "cpp", "nvshmem"}
        merged = {key: group[key] for key in known if key in group} | entry

        def fill(text):
            for column, value in variant.items():
                text = text.replace(column, value)
            return text

        self.declaration = fill(merged["c"])
        self.sentence = fill(merged["is"])
        self.kernel = fill(merged.get("kernel", ""))
        self.host = fill(merged.get("host", ""))
        self.section = group.get("section", "")
        self.context = merged.get("ctx", False)
        self.scopes = merged.get("scopes", False) and bool(self.kernel)
        self.generic_set = merged.get("generic", "")
        self.read = merged.get("read", False)
        self.cpp = merged.get("cpp", True)
        self.overload = merged.get("overload", "")
        self.nvshmem = merged.get("nvshmem", False)
        self.kernel_rows = merged.get("kernel_rows", "")
        self.row_sets = [(merged.get("rows", []), merged.get("prefix", group.get("family_prefix", "shmem_")))]
        if "also" in merged:
            self.row_sets.append((merged["also"]["rows"], merged["also"]["prefix"]))
        self.result, self.pattern, parameters = re.fullmatch(r"(.*?)([\w{}]+)\((.*)\)", self.declaration).groups()
        self.result = self.result.strip()
        self.parameters = split_parameters(parameters)

    def generic_name(self):
        return re.sub(r"TYPE_|[{}]", "", self.pattern)


class Table:
    def __init__(self, path=TABLE):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        self.types, self.sets = data["types"], data["sets"]
        self.families = data["family"]
        for family in self.families:
            for group in family["group"]:
                if family.get("extension"):
                    group["family_prefix"] = "shmemx_"
                group["entries"] = [Function({k: v for k, v in entry.items() if k != "variants"}, group, variant)
                                    for entry in group["function"]
                                    for variant in entry.get("variants", group.get("variants", [{}]))]

    def names(self, set_name):
        """Type names of a set."""
        out = []
        for item in self.sets[set_name]:
            out += self.names(item[1:]) if item.startswith("@") else [item]
        return out

    def rows(self, row_names):
        if not row_names:
            return [Row("none")]
        out = []
        for name in row_names:
            if name in ("sizes", "sizes32_64"):
                out += [Row("sized", bits) for bits in (SIZES if name == "sizes" else ["32", "64"])]
            elif name == "mem":
                out.append(Row("mem"))
            else:
                out += [Row("typed", kind, self.types[kind]) for kind in self.names(name)]
        return out

    def c_functions(self, function):
        """Every C function that a function of the table stands for, by rows, the forms on a context included."""
        in_kernels = set(self.names(function.kernel_rows)) if function.kernel_rows else None
        for row_names, prefix in function.row_sets:
            for row in self.rows(row_names):
                yield self._form(function, row, prefix, False, in_kernels)
                if function.context:
                    yield self._form(function, row, prefix, True, in_kernels)

    def as_type(self, function, name, kind):
        """The form of a typed function for a type that the standard does not know; None where float has none."""
        if not any(row.name == "float" for row_names, _ in function.row_sets for row in self.rows(row_names)):
            return None
        return self._form(function, Row("typed", name, kind), function.row_sets[0][1], False, None)

    def group_functions(self, group):
        for function in group["entries"]:
            yield from self.c_functions(function)

    def all_functions(self):
        for family in self.families:
            for group in family["group"]:
                yield from self.group_functions(group)

    def _form(self, function, row, prefix, with_context, in_kernels):
        def element(text):
            return re.sub(r"\bT\b", row.type, text)

        parameters = [(element(kind), name) for kind, name in function.parameters]
        arguments = ", ".join(name for _, name in parameters)
        kernel = function.kernel
        if kernel and not kernel.startswith("("):
            context = ["ctx" if with_context else "SHMEM_CTX_DEFAULT"] if function.context else []
            kernel = f"railshmem::device::{kernel}({', '.join(context + ([arguments] if arguments else []))})"
            if not function.scopes:
                kernel = kernel.replace(", SCOPE>", ">")
        kernel = element(kernel).replace("BYTES", row.bytes())
        kernel = kernel.replace("<SCOPE>", "<railshmem::device::SCOPE>") if "device::SCOPE" not in kernel else kernel
        kernel = kernel.replace(", SCOPE>", ", railshmem::device::SCOPE>")
        sentence = row.words(function.sentence)
        if with_context:
            parameters = [CONTEXT] + parameters
            sentence += " On context ctx."
        name = ("ctx_" if with_context else "") + row.function_name(function.pattern)
        return CFunction(prefix, name, element(function.result), parameters, sentence, function.section, row, function, with_context,
                         bool(kernel) and (in_kernels is None or row.name in in_kernels), kernel, function.generic_name() if function.generic_set else "",
                         element(function.host).replace("BYTES", f"sizeof({row.type})" if row.kind == "typed" else row.bytes()))


def paragraphs(text):
    return [part for part in text.strip().split("\n\n") if part]


def reader_differs():
    """What is wrong with toml_subset.py, or None."""
    text = TABLE.read_text(encoding="utf-8")
    return None if tomllib.loads(text) == toml_subset.loads(text) else "scripts/api/toml_subset.py reads another table than Python's tomllib"
