# SPDX-License-Identifier: BSD-3-Clause
"""This run beside the baseline, in words."""
import stats
import suites


def table(now, before):
    """(lines to print, names of the rows that got worse)."""
    verdicts = {name: stats.verdict(row.figure, before[name].figure, suites.low_is_good(row.unit))
                for name, row in now.items() if name in before}
    lines = [f"{'row':52} {'baseline':>10} {'now':>10} {'worse by':>9} {'noise':>6}"]
    for name in sorted(verdicts, key=lambda name: (verdicts[name] == "level", name)):
        new, old = now[name].figure, before[name].figure
        change = stats.worse_by(new, old, suites.low_is_good(now[name].unit)) - 1
        margin = (new.noise ** 2 + old.noise ** 2) ** 0.5
        lines.append(f"{name:52} {old.ratio:10.4g} {new.ratio:10.4g} {change:+9.1%} {margin:6.1%} {verdicts[name] if verdicts[name] != 'level' else ''}".rstrip())
    lines += [f"{name:52} is new" for name in sorted(now.keys() - before.keys())]
    lines += [f"{name:52} was not measured" for name in sorted(before.keys() - now.keys())]
    worse = sorted(name for name, said in verdicts.items() if said == "worse")
    counts = {said: list(verdicts.values()).count(said) for said in ("level", "better", "worse")}
    lines.append(f"{len(verdicts)} rows: {counts['level']} level within the noise, {counts['better']} better, {counts['worse']} worse")
    return lines, worse
