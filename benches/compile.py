#!/usr/bin/env python3
"""The cost of annotated functions for the compiler and the program, compared with hand-written loops and other crates.

    benches/compile.py size          code per function; a minute, repeatable, bounded
    benches/compile.py functions     the compiler's instructions for 100 functions; valgrind; 15 minutes, repeatable
    benches/compile.py program       size that the first function adds to a stripped default release program; bounded
    benches/compile.py dependency    time to build the dependencies that users compile once; five minutes

The commands generate packages of functions that differ only in how they retry, under target/compile. Times are CPU
times (user and system, whole process, one job). The packages take turns for several rounds; the median counts.
If a size is out of bounds, the exit code is 1; the other numbers are only printed.
"""

import argparse
import os
import re
import resource
import shutil
import statistics
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
from compile_ways import DEPENDENCIES, MACRO_DEPENDENCIES, PROGRAMS, ROOT, WAYS  # noqa: E402

# The maximum ratio of the code of annotated functions to that of hand-written loops.
CODE_BOUNDS = {"release": 1.25, "debug": 1.20}
BOUNDED = ["by-hand-in-block", "retry"]

# The maximum number of bytes that the first annotated function may add to a program.
PROGRAM_BOUND = 75_000

WORK = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "compile"

COMMANDS = {"check": ["check"], "build": ["build"], "release build": ["build", "--release"]}


def write_package(name, dependencies, source):
    folder = WORK / "packages" / name
    (folder / "src").mkdir(parents=True, exist_ok=True)
    manifest = f'[package]\nname = "{name}"\nversion = "0.0.0"\nedition = "2024"\n\n[dependencies]\n{dependencies}'
    for path, text in ((folder / "Cargo.toml", manifest), (folder / "src" / "lib.rs", source)):
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def write_workspace(packages):
    folder = WORK / "packages"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    members = ", ".join(f'"{name}"' for name, _, _ in packages)
    # One codegen unit, so that inlining does not depend on the split of functions among units.
    profile = "[profile.release]\ncodegen-units = 1\n"
    (folder / "Cargo.toml").write_text(f'[workspace]\nresolver = "3"\nmembers = [{members}]\n\n{profile}')
    # The versions that the project is tested with.
    shutil.copy(ROOT / "Cargo.lock", folder / "Cargo.lock")
    for package in packages:
        write_package(*package)
    cargo(["fetch", "--quiet"])


def cargo(arguments, target="target", folder=WORK / "packages", **variables):
    environment = dict(os.environ, CARGO_INCREMENTAL="0", CARGO_TARGET_DIR=str(WORK / target), CARGO_TERM_COLOR="never")
    environment.update(variables)
    # The default of a project.
    for key in ("RUSTFLAGS", "CARGO_PROFILE_DEV_DEBUG"):
        environment.pop(key, None)
    finished = subprocess.run(
        ["cargo", *arguments], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if finished.returncode != 0:
        said = finished.stdout.decode(errors="replace")[:2000]
        sys.exit(f"cargo {' '.join(arguments)} failed:\n{said}")


def processor_time(arguments, target="target"):
    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    cargo(arguments, target)
    return spent() - before


def allocated_bytes(archive):
    """Return the bytes of code and data that a program would load from an archive: ELF sections with SHF_ALLOC."""
    content = archive.read_bytes()
    code = data = 0
    position = len(b"!<arch>\n")
    while position < len(content):
        size = int(content[position + 48 : position + 58])
        member = content[position + 60 : position + 60 + size]
        position += 60 + size + size % 2
        if not member.startswith(b"\x7fELF"):
            continue
        (offset,) = struct.unpack_from("<Q", member, 0x28)
        entry_size, entries = struct.unpack_from("<HH", member, 0x3A)
        for index in range(entries):
            _, kind, flags, _, _, length = struct.unpack_from("<IIQQQQ", member, offset + index * entry_size)
            allocated, executable, no_bits = flags & 2, flags & 4, kind == 8
            if allocated and executable:
                code += length
            elif allocated and not no_bits:
                data += length
    return code, data


def archive(way, profile):
    return WORK / "target" / profile / f"lib{way.package().replace('-', '_')}.rlib"


@dataclass
class Size:
    code: float
    data: float

    def total(self):
        return self.code + self.data


def sizes(functions, ways):
    """Return the size per function for each way, in both profiles."""
    measured = {}
    for profile, flags in (("release", ["--release"]), ("debug", [])):
        for count in (0, functions):
            write_workspace([(way.package(), way.dependencies, way.source(count)) for way in ways])
            cargo(["build", "-j1", "--quiet", "--workspace", *flags])
            for way in ways:
                measured[profile, way.name, count] = allocated_bytes(archive(way, profile))
    per_function = {}
    for profile in ("release", "debug"):
        for way in ways:
            code, data = (
                (full - empty) / functions
                for full, empty in zip(measured[profile, way.name, functions], measured[profile, way.name, 0])
            )
            per_function[profile, way.name] = Size(code, data)
    return per_function


def table(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|---" + "|--:" * (len(header) - 1) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def report_sizes(functions, ways):
    """Print the sizes. Return True if they are within their bounds."""
    measured = sizes(functions, ways)
    holds = True
    for profile, title in (("release", "release, one codegen unit"), ("debug", "debug")):
        base = measured[profile, "by-hand-in-block"].total()
        print(f"### Code per function, {title}\n")
        rows = []
        for way in ways:
            size = measured[profile, way.name]
            ratio = f"{size.total() / base:.2f}"
            rows.append([way.title, f"{size.code:.0f}", f"{size.data:.0f}", f"{size.total():.0f}", ratio])
        table(["way", "code, bytes", "data, bytes", "together", "ratio"], rows)
        ratio = measured[profile, "retry"].total() / base
        if ratio > CODE_BOUNDS[profile]:
            print(f"broken: {ratio:.3f} of the loops in {profile}, at most {CODE_BOUNDS[profile]}")
            holds = False
    return holds


# A script that counts a compiler's instructions, including those of a compiler started by rustup's proxy.
COUNTER = """\
#!/bin/sh
exec valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --trace-children=yes \\
    --log-file="$COUNTED/%p" "$@"
"""


def instructions(command):
    """Return the compiler's instructions for each way, with the dependencies already built."""
    arguments = [*COMMANDS[command], "-j1", "--quiet"]
    cargo([*arguments, "--workspace"])
    counter = WORK / "counter"
    counter.write_text(COUNTER)
    counter.chmod(0o755)
    counted = {}
    for way in WAYS:
        logs = WORK / "counted"
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir()
        cargo([*arguments, "-p", way.package()], RUSTC_WORKSPACE_WRAPPER=str(counter), COUNTED=str(logs))
        counts = [re.findall(r"I\s+refs:\s+([\d,]+)", log.read_text()) for log in logs.iterdir()]
        # The largest count is for the compilation; the others are queries for the version.
        counted[way.name] = max(int(count[-1].replace(",", "")) for count in counts if count)
    return counted


def report_instructions(functions):
    write_workspace([(way.package(), way.dependencies, way.source(functions)) for way in WAYS])
    for command in COMMANDS:
        measured = instructions(command)
        by_hand, backon = measured["by-hand-in-block"], measured["backon"]
        rows = []
        for way in WAYS:
            count = measured[way.name]
            rows.append([way.title, f"{count / 1e6:,.0f}", f"{count / by_hand:.2f}", f"{count / backon:.2f}"])
        print(f"### {functions:,} functions, {command}\n")
        table(["way", "million instructions", "of the loops", "of backon"], rows)


def cold_times(rounds):
    packages = [(name, dependencies, "") for name, _, dependencies in DEPENDENCIES]
    write_workspace([*packages, ("cold-macro", MACRO_DEPENDENCIES, "")])
    spent = {(command, name): [] for command in ("check", "build") for name, _, _ in DEPENDENCIES}
    for _ in range(rounds):
        for command in ("check", "build"):
            for name, _, _ in DEPENDENCIES:
                shutil.rmtree(WORK / "cold", ignore_errors=True)
                arguments = [command, "-j1", "--quiet", "--offline", "-p", name]
                spent[command, name].append(processor_time(arguments, target="cold"))
    shutil.rmtree(WORK / "cold", ignore_errors=True)
    return {key: statistics.median(runs) for key, runs in spent.items()}


def report_cold_times(rounds):
    measured = cold_times(rounds)
    print("### The dependency alone, from a clean build\n")
    rows = []
    for name, title, _ in DEPENDENCIES:
        row = [title]
        for command in ("check", "build"):
            seconds = measured[command, name]
            row += [f"{seconds:.1f}", f"{seconds / measured[command, 'cold-tokio-syn']:.2f}"]
        rows.append(row)
    table(["what", "check, seconds", "ratio", "build, seconds", "ratio"], rows)


def report_programs():
    """Print the sizes of programs. Return True if they are within the bound."""
    folder = WORK / "program"
    stripped = {}
    print("### A stripped program with one function, release as cargo has it\n")
    rows = []
    for name, title, dependencies, source in PROGRAMS:
        (folder / "src").mkdir(parents=True, exist_ok=True)
        (folder / "src" / "main.rs").write_text(source)
        manifest = f'[package]\nname = "{name}"\nversion = "0.0.0"\nedition = "2024"\n\n[workspace]\n'
        manifest += f"\n[profile.release]\nstrip = true\n\n[dependencies]\n{dependencies}"
        (folder / "Cargo.toml").write_text(manifest)
        shutil.copy(ROOT / "Cargo.lock", folder / "Cargo.lock")
        cargo(["build", "--release", "--quiet"], folder=folder)
        stripped[name] = (WORK / "target" / "release" / name).stat().st_size
        rows.append([title, f"{stripped[name]:,}"])
    table(["way", "bytes"], rows)
    holds = True
    for way in ("blocking", "async"):
        more = stripped[f"{way}-retry"] - stripped[f"{way}-by-hand"]
        print(f"{way}: {more:,} bytes more")
        holds &= more <= PROGRAM_BOUND
    return holds


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["size", "functions", "program", "dependency"])
    parser.add_argument("--count", type=int, default=100, help="of functions")
    parser.add_argument("--rounds", type=int, default=3, help="of the dependency")
    parser.add_argument("--bounded", action="store_true", help="of size, only the ways that a bound compares")
    arguments = parser.parse_args()
    if arguments.what == "size":
        ways = [way for way in WAYS if way.name in BOUNDED] if arguments.bounded else WAYS
        sys.exit(0 if report_sizes(arguments.count, ways) else 1)
    elif arguments.what == "functions":
        report_instructions(arguments.count)
    elif arguments.what == "program":
        sys.exit(0 if report_programs() else 1)
    else:
        report_cold_times(arguments.rounds)


if __name__ == "__main__":
    main()
