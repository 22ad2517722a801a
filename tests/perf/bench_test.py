# SPDX-License-Identifier: BSD-3-Clause
"""What scripts/bench.sh computes, on rows made here: bench_test.py SCRIPTS."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(sys.argv.pop(1)).resolve()
BENCH = SCRIPTS.parent / "perftest" / "bench"
sys.path.insert(0, str(BENCH))
sys.dont_write_bytecode = True
import compare  # noqa: E402  (from the folder that was given)
import jobs  # noqa: E402
import measure  # noqa: E402
import stats  # noqa: E402
import store  # noqa: E402
import suites  # noqa: E402

RUN = {"commit": "0123456789", "date": "2026-11-26T12:00:00Z", "machine": "a machine", "cpus": 2, "system": "6.1"}


def latency(ratio, noise=0.03):
    return measure.Row("us", "floor", stats.Figure(ratio, noise, ratio))


def fake_program(folder, text, program="perftest/shmem_perf"):
    """A build folder whose launcher prints text."""
    for name, body in (("bin/oshrun", text), (program, "exit 0")):
        path = Path(folder) / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\n" + body + "\n", encoding="utf-8")
        path.chmod(0o755)
    return jobs.ours(Path(folder), Path(program).name)


def kernel_row(bench, nbytes, value, unit="GB/s"):
    return {"bench": bench, "metric": "bandwidth", "bytes": nbytes, "unit": unit, "value": value}


class Statistics(unittest.TestCase):
    def test_a_disturbed_round_does_not_count(self):
        pairs = [(1.1, 1.0), (9.0, 1.0), (1.1, 5.0), (1.1, 1.0), (1.1, 1.0)]
        figure = stats.figure(pairs, True, True, 0.03)
        self.assertAlmostEqual(figure.ratio, 1.1)
        self.assertAlmostEqual(figure.noise, 0.03)

    def test_bandwidths_take_the_highest_round(self):
        self.assertAlmostEqual(stats.figure([(8.0, 10.0), (4.0, 5.0), (2.0, 10.0)], False, False, 0.03).ratio, 0.8)

    def test_rounds_that_are_fast_or_slow_as_a_whole(self):
        pairs = [(0.6, 0.5), (2.1, 1.9), (0.6, 0.5), (2.2, 2.0), (0.55, 0.5), (0.6, 2.0), (0.6, 0.3)]
        figure = stats.figure(pairs, True, True, 0.03, within_rounds=True)
        self.assertAlmostEqual(figure.ratio, 1.1053, places=4)
        self.assertLess(figure.noise, 0.1)
        self.assertGreater(stats.figure(pairs, True, True, 0.03).ratio, 1.8)

    def test_a_figure_that_rests_on_one_round_is_noisy(self):
        self.assertGreater(stats.figure([(1.0, 1.0), (1.2, 1.0), (1.2, 1.0)], True, True, 0.03).noise, 0.15)

    def test_figures_without_a_reference(self):
        self.assertEqual(stats.figure([(40, None), (41, None)], True, True, 0.01).ratio, 40)

    def test_a_tenth_is_found_beyond_noise_and_not_within(self):
        before = latency(1.0).figure
        self.assertEqual(stats.verdict(latency(1.1).figure, before, True), "worse")
        self.assertEqual(stats.verdict(latency(0.9).figure, before, True), "better")
        self.assertEqual(stats.verdict(latency(1.04).figure, before, True), "level")
        self.assertEqual(stats.verdict(latency(1.1, 0.2).figure, before, True), "level")
        self.assertEqual(stats.verdict(latency(0.9).figure, before, False), "worse")

    def test_runs_that_lie_apart_are_noisy_together(self):
        figure = stats.together([latency(1.0).figure, latency(1.1).figure, latency(1.2, 0.05).figure])
        self.assertAlmostEqual(figure.ratio, 1.1)
        self.assertGreater(figure.noise, 0.17)
        self.assertAlmostEqual(stats.together([latency(2.0).figure]).noise, 0.03)

    def test_units(self):
        self.assertTrue(suites.low_is_good("us") and suites.low_is_good("instructions"))
        self.assertFalse(suites.low_is_good("GB/s") or suites.low_is_good("Mops/s"))


class Rows(unittest.TestCase):
    def test_floors_and_pairs(self):
        node, engine = suites.HOST[0], next(suite for suite in suites.HOST if suite.name == "engine")
        found = {"node.put_lat.latency.8": measure.Readings(node, "us", [(2.0, 1.0), (3.0, 1.0)]), "node.x.latency.8": measure.Readings(node, "us", [(2.0, None)]),
                 "engine.engine.put.8": measure.Readings(engine, "Mops/s", [(70.0, None), (77.0, None)])}
        rows = measure.figures(found)
        self.assertEqual(rows["node.put_lat.latency.8"].figure.ratio, 2.0)
        self.assertEqual(rows["engine.engine.put.8"].figure.ratio, 77.0)
        self.assertNotIn("node.x.latency.8", rows)
        measure.join(found, {"node.put_lat.latency.8": measure.Readings(node, "us", [(1.0, 1.0)])})
        self.assertEqual(measure.figures(found)["node.put_lat.latency.8"].figure.ratio, 1.0)

    def test_beside_another_library(self):
        node = suites.HOST[0]
        rows = measure.beside({"node.a": measure.Readings(node, "us", [(1.0, None)])},
                              {"node.a": measure.Readings(node, "us", [(2.0, None)]), "node.b": measure.Readings(node, "us", [(1.0, None)])})
        self.assertEqual({name: row.figure.ratio for name, row in rows.items()}, {"openmpi.node.a": 0.5})

    def test_turns(self):
        with tempfile.TemporaryDirectory() as folder:
            row = json.dumps({"bench": "put_lat", "metric": "latency", "bytes": 8, "unit": "us", "value": 2.0, "floor": 1.0})
            library = fake_program(folder, f"echo '{row}'; echo '{row.replace('put_lat', 'floor_store')}'")
            (found,) = measure.in_turns([library], suites.HOST[:1], 2, 1, 0.1)
        self.assertEqual(found, {"node.put_lat.latency.8": measure.Readings(suites.HOST[0], "us", [(2.0, 1.0), (2.0, 1.0)])})

    def test_a_job_that_fails_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            library = fake_program(folder, "echo no network >&2; exit 3")
            with self.assertRaisesRegex(jobs.Stopped, "node: exit status 3: .*shmem_perf put_lat.*\n.*no network"):
                jobs.run(library, suites.HOST[0], 1, 0.1)

    def test_floors_of_kernels_are_rows_of_their_own(self):
        suite = next(one for one in suites.GPU if one.name == "long")
        rows = [kernel_row("put_bw", 1 << 20, 90), kernel_row("put_bw", 1 << 26, 300), kernel_row("floor_copy_kernel", 1 << 20, 80),
                kernel_row("floor_copy_kernel", 1 << 20, 100), kernel_row("floor_copy_kernel", 1 << 20, 1.5, "us")]
        text = "\n".join(f"echo '{json.dumps(row)}'" for row in rows)
        with tempfile.TemporaryDirectory() as folder:
            found = jobs.run(fake_program(folder, text, "bin/shmem_gpu_perf"), suite, 1, 0.1)
        self.assertEqual([row["floor"] for row in found], [100, None, None, None, None])
        for suite in suites.GPU:
            self.assertEqual(set(suite.floors.values()) | set(suite.floors), {word for word in suite.benches if word[0].islower() and word not in ("thread", "block")})

    def test_a_build_that_was_carried_has_its_libraries_beside_it(self):
        says = "case $* in *--floor*|*--seconds*) exit 9 ;; esac; echo {\\\"bench\\\": \\\"$LD_LIBRARY_PATH\\\", \\\"bytes\\\": 8, \\\"unit\\\": \\\"us\\\", \\\"value\\\": 1}"
        with tempfile.TemporaryDirectory() as folder:
            library = fake_program(folder, says, "bin/shmem_gpu_perf")
            self.assertEqual(library.folder, Path(folder) / "bin")
            (row,) = jobs.run(library, suites.GPU[0], 1, 0.1)
        self.assertEqual(row["bench"].split(":")[0], f"{folder}/lib")

    def test_a_build_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(jobs.Stopped, "there is no /nowhere/bin/oshrun: build it"):
            jobs.ours(Path("/nowhere"))


class Kept(unittest.TestCase):
    def test_what_is_appended_is_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "figures" / "kind.jsonl"
            store.append(path, {"node.a": latency(1.25)}, RUN)
            store.append(path, {"node.a": latency(1.5)}, {**RUN, "commit": "f00"})
            runs = store.runs(path.read_text(encoding="utf-8"), path)
        self.assertEqual([(run["commit"], rows["node.a"].figure.ratio) for run, rows in runs], [("0123456789", 1.25), ("f00", 1.5)])

    def test_a_bad_line_is_named(self):
        with self.assertRaisesRegex(ValueError, "kind.jsonl:2: this is no row"):
            store.runs(next(store.lines({"a": latency(1)}, RUN)) + "\n{}\n", "kind.jsonl")

    def test_committed_figures_can_be_read(self):
        for path in store.FOLDER.glob("*.jsonl"):
            self.assertTrue(store.runs(path.read_text(encoding="utf-8"), path))

    def test_the_table_says_what_got_worse(self):
        lines, worse = compare.table({"a": latency(1.2), "b": latency(1.0), "new": latency(1)}, {"a": latency(1), "b": latency(1), "old": latency(1)})
        text = "\n".join(lines)
        self.assertEqual(worse, ["a"])
        self.assertRegex(text, r"(?m)^a +1 +1.2 +\+20.0% +4.2% worse$")
        self.assertRegex(text, r"(?m)^new +is new$")
        self.assertRegex(text, r"(?m)^old +was not measured$")
        self.assertRegex(text, "2 rows: 1 level within the noise, 0 better, 1 worse")


#: A launcher whose benches take two microseconds, and their floors one; SLOW takes a tenth more.
LAUNCHER = """#!/usr/bin/env python3
import json, os, sys
for bench in sys.argv[4:sys.argv.index("--sizes")]:
    if bench.islower() and bench not in ("thread", "block") and not bench.startswith("--"):
        value = 1 if bench.startswith("floor_") else 2.2 if bench == os.environ.get("SLOW") else 2
        print(json.dumps({"bench": bench, "metric": "latency", "bytes": 8, "unit": "us", "value": value}))
"""


class Gpu(unittest.TestCase):
    def test_a_carried_build_without_a_repository(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder)
            (tree / "scripts").mkdir(parents=True)
            shutil.copytree(BENCH, tree / "perftest" / "bench", ignore=shutil.ignore_patterns("__pycache__"))
            shutil.copy(SCRIPTS / "bench.sh", tree / "scripts")
            for name, text in (("nvidia-smi", "#!/bin/sh\necho NVIDIA H100 80GB HBM3\necho NVIDIA H100 80GB HBM3\n"), ("carry/bin/oshrun", LAUNCHER),
                               ("carry/bin/shmem_gpu_perf", "")):
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                (tree / name).write_text(text, encoding="utf-8")
                (tree / name).chmod(0o755)
            here = {**os.environ, "PATH": f"{tree}:{os.environ['PATH']}", "FROM": str(tree / "carry"), "COMMIT": "0123456789", "PYTHONDONTWRITEBYTECODE": "1"}

            def bench(*words, **more):
                return subprocess.run([tree / "scripts" / "bench.sh", "gpu", "--quick", *words], env={**here, **more}, capture_output=True, text=True, check=False)

            first, again, slow = bench("--keep"), bench(), bench(SLOW="put_lat")
            kept = (tree / "perftest" / "figures" / "nvidia-h100-80gb-hbm3-2-gpus.jsonl").read_text(encoding="utf-8")
        self.assertEqual([one.returncode for one in (first, again, slow)], [0, 0, 1], first.stderr + again.stderr + slow.stderr)
        self.assertIn("13 rows: 13 level within the noise", again.stdout)
        self.assertRegex(slow.stdout, r"(?m)^words.put_lat.latency.8 +2 +2.2 +\+10.0% +4.2% worse$")
        self.assertIn("13 rows: 12 level within the noise, 0 better, 1 worse", slow.stdout)
        self.assertEqual({json.loads(line)["commit"] for line in kept.splitlines()}, {"0123456789"})
        self.assertEqual({json.loads(line)["machine"] for line in kept.splitlines()}, {"NVIDIA H100 80GB HBM3"})


class CommandLine(unittest.TestCase):
    def test_mistakes_end_with_2(self):
        for words, message in ((["--build", "/nowhere"], "there is no /nowhere/bin/oshrun"), (["fast"], "invalid choice: 'fast'")):
            done = subprocess.run([SCRIPTS / "bench.sh", *words], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)


unittest.main()
