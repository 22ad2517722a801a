# SPDX-License-Identifier: BSD-3-Clause
"""tests/conformance/type_lists.h: the tables of types, for tests that loop over them."""
from model import SIZES
from text import header

SETS = {"RMA": "rma", "AMO": "amo", "AMO_EXTENDED": "extended", "AMO_BITWISE": "bitwise", "REDUCE_BITS": "bits", "REDUCE_ORDER": "rma",
        "REDUCE_SUM": "sum", "OLD_P2P": "old_p2p", "OLD_WAIT": "old_wait", "OLD_AMO": "old_amo", "OLD_AMO_EXTENDED": "old_extended"}


def rows_macro(name, rows):
    return f"#define {name}(X) \\\n" + " \\\n".join(f"  X({row})" for row in rows)


def outputs(table):
    parts = [rows_macro(f"RAILSHMEM_FOR_{name}_TYPES", [f"{kind}, {table.types[kind]}" for kind in table.names(chosen)])
             for name, chosen in SETS.items()]
    parts.append(rows_macro("RAILSHMEM_FOR_SIZES", SIZES))
    about = ("The tables of types of the API for tests that loop over them: RAILSHMEM_FOR_x_TYPES(X) calls X(NAME, TYPE) for each row, "
             "RAILSHMEM_FOR_SIZES(X) calls X(BITS).")
    return {"tests/conformance/type_lists.h": header("CONFORMANCE_TYPE_LISTS_H", about, "\n\n".join(parts))}
