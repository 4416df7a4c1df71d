#!/usr/bin/env python3
"""Runs the built tests in stages: `make test`, `make soak`, `make one T=…`.

    tests.py test                 every stage of `make test`
    tests.py soak [PART ...]      long tests: every part, or those named; `today` is the part of this day
    tests.py one PATTERN          the tests whose name matches, without a limit

A stage is a process that runs one test after another. Five stages run at a time, so the number of services and stores at a
time does not depend on the machine. Each stage has a log in .build/tests. The output ends with all stages and the 20 slowest
tests. A stage without progress for 120 seconds is ended, and the stacks of its processes are printed.
"""

import concurrent.futures
import dataclasses
import datetime
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from stages import LOGS, LONG, SOAK, STAGES, Stage

ROOT = pathlib.Path(__file__).resolve().parent.parent
QUIET_LIMIT = 120
LOOK_INTERVAL = 10
# A test may compute for minutes, but not for longer than this without a word.
SILENT_LIMIT = 360
SLOWEST = 20
JOBS = 5
# The bytes that tests may need for their files at a time.
ROOM = 4 << 30
# The processes of the stages that run, for the end of this program.
ACTIVE = set()


@dataclasses.dataclass
class Result:
    stage: Stage
    seconds: float
    processor: float
    tests: int
    failures: list
    running: list
    times: list
    # What the first failures said.
    words: list

    @property
    def passed(self):
        return self.tests > 0 and not self.failures and not self.running


class Processes:
    """The processes of a stage, also those that left its process group: they inherit a variable of its environment."""

    VARIABLE = "COUNTERSIGN_STAGE"

    def __init__(self):
        self.mark = f"{self.VARIABLE}={os.getpid()}-{time.monotonic_ns()}"

    def all(self):
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and self.mark.encode() in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                pass
        return sorted(found)

    def look(self):
        """The sizes of the files that they write their output and errors to, and the seconds that they were at work."""
        found = self.all()
        sizes = {}
        for process in found:
            sizes[process] = tuple(self.size(f"/proc/{process}/fd/{descriptor}") for descriptor in (1, 2))
        return sizes, self.work(found)

    @staticmethod
    def size(path):
        try:
            return os.stat(path).st_size
        except OSError:
            return 0

    @staticmethod
    def work(processes):
        """The seconds in which running processes computed or, on a busy machine, waited for a processor."""
        ticks, delays = 0, 0
        for process in processes:
            try:
                fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
                ticks += int(fields[11]) + int(fields[12])
                for thread in pathlib.Path(f"/proc/{process}/task").glob("*/schedstat"):
                    delays += int(thread.read_text().split()[1])
            except OSError:
                pass
        return ticks / os.sysconf("SC_CLK_TCK") + delays / 1e9

    def print_stacks(self):
        """Prints the stacks of each process: of Python after SIGABRT, to standard error; of others as eu-stack reads them."""
        errors = {}
        for process in self.all():
            try:
                line = pathlib.Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                print(f"process {process}: {line[:400]}", flush=True)
                if re.search(r"xctest|countersign |sample-provider", line):
                    subprocess.run(["eu-stack", "-n", "24", "-p", str(process)], timeout=60, stderr=subprocess.DEVNULL)
                elif "python" in line:
                    stream = open(f"/proc/{process}/fd/2", "rb", buffering=0)
                    stream.seek(0, os.SEEK_END)
                    errors[process] = stream
                    os.kill(process, signal.SIGABRT)
            except (OSError, subprocess.TimeoutExpired):
                pass
        time.sleep(5 if errors else 0)
        for process, stream in errors.items():
            with stream:
                text = stream.read().decode(errors="replace")
            print(f"stacks of process {process}:\n{text[-20000:]}")

    def kill(self):
        """Kills the remaining processes by their identifiers; returns how many there were."""
        left = self.all()
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                pass
        return len(left)


def temporary():
    """Where tests keep their files: in memory, where there is room, because the stores of a stage wait for no disk then."""
    memory = pathlib.Path("/dev/shm")
    try:
        status = os.statvfs(memory)
        if os.access(memory, os.W_OK) and status.f_bavail * status.f_frsize >= ROOM and not status.f_flag & os.ST_NOEXEC:
            return str(memory)
    except OSError:
        pass
    return tempfile.gettempdir()


def run(stage, binary):
    LOGS.mkdir(parents=True, exist_ok=True)
    processes = Processes()
    ACTIVE.add(processes)
    environment = os.environ | stage.environment
    environment |= dict([processes.mark.split("=", 1)])
    environment["COUNTERSIGN_VENV"] = str(ROOT / ".venv" / "bin")
    environment["COUNTERSIGN_PYTHON"] = str(ROOT / ".venv" / "bin" / "python")
    environment["PYTHONFAULTHANDLER"] = "1"
    environment["TMPDIR"] = temporary()
    arguments = [binary, "--testing-library", "swift-testing"] + ([] if stage.parallel else ["--no-parallel"])
    arguments += ["--event-stream-output-path", str(stage.events), "--event-stream-version", "0"]
    arguments += ["--filter", stage.filter] if stage.filter else []
    arguments += ["--skip", stage.skip] if stage.skip else []
    stage.events.unlink(missing_ok=True)
    began = time.monotonic()
    with open(stage.log, "wb") as log:
        tests = subprocess.Popen(
            arguments, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
    ended = watch(stage, tests, processes, began)
    seconds = time.monotonic() - began
    left = processes.kill()
    ACTIVE.discard(processes)
    result = read(stage, seconds, ended)
    # Failed tests end the process with 1. Any other end is that of a test which did not finish.
    if tests.returncode and (tests.returncode != 1 or not result.failures):
        result.failures.append(f"the process ended with {tests.returncode}")
    if left and result.passed:
        print(f"{stage.name}: {left} processes were left and were killed", flush=True)
    return result


def watch(stage, tests, processes, began):
    """Waits for the tests' end, or ends them; prints failures as they come. Returns the processor time in seconds."""
    printed = 0
    seen, spent, last = None, 0, time.monotonic()
    looked = heard = last
    while True:
        process, status, usage = os.wait4(tests.pid, os.WNOHANG)
        printed = print_failures(stage, printed)
        if process:
            tests.returncode = os.waitstatus_to_exitcode(status)
            return usage.ru_utime + usage.ru_stime
        time.sleep(0.2)
        now = time.monotonic()
        # Each look reads the environments of all processes of the machine.
        if now - looked >= LOOK_INTERVAL:
            looked, (outputs, used) = now, processes.look()
            state = stage.log.stat().st_size, outputs
            if state != seen:
                heard = now
            # Services that wait use little.
            if state != seen or used > spent + 20:
                seen, spent, last = state, used, now
        reason = None
        if now - last > QUIET_LIMIT:
            reason = f"made no progress for {QUIET_LIMIT} s"
        elif now - heard > SILENT_LIMIT:
            reason = f"computed without a word for {SILENT_LIMIT} s"
        elif stage.limit and now - began > stage.limit:
            reason = f"was not done after {stage.limit} s"
        if reason:
            print(f"The stage {stage.name} {reason} and is ended. Its processes:", flush=True)
            processes.print_stacks()
            processes.kill()
            time.sleep(1)


def print_failures(stage, offset):
    """Prints the failures in the log after an offset; returns the offset of the next call."""
    with open(stage.log, "rb") as log:
        log.seek(offset)
        text = log.read()
    whole = text[: text.rfind(b"\n") + 1]
    for line in whole.decode(errors="replace").splitlines():
        if line.startswith("✘") or "Fatal error" in line:
            print(f"{stage.name}: {line[:2000]}", flush=True)
    return offset + len(whole)


def read(stage, seconds, processor):
    """Reads the events of a stage: which tests ran, failed or did not end, and how long each took."""
    names, began, times, failed, words = {}, {}, {}, set(), []
    for line in stage.events.read_text(errors="replace").splitlines() if stage.events.exists() else []:
        try:
            record = json.loads(line)
        except ValueError:
            continue  # the last line of a process that was killed
        payload = record["payload"]
        if record["kind"] == "test":
            if payload["kind"] == "function":
                names[payload["id"]] = f"{payload['id'].split('/')[0]}/{payload['name']}"
            continue
        test, instant = payload.get("testID"), payload.get("instant", {}).get("absolute", 0)
        match payload["kind"]:
            case "testStarted" if test in names:
                began[test] = instant
            case "testEnded" | "testSkipped" if test in began:
                times[test] = instant - began.pop(test)
            case "issueRecorded" if is_failure(payload.get("issue", {})):
                failed.add(test)
                said = " ".join(message["text"] for message in payload.get("messages", []))
                words.append(f"{names.get(test, test)}: {shortened(said)}")
    failures = sorted(names.get(test, str(test)) for test in failed)
    if not times and not began:
        failures.append("no test ran")
    return Result(
        stage, seconds, processor, len(times), failures, sorted(names[test] for test in began),
        [(spent, stage.name, names[test]) for test, spent in times.items()], words[:3])


def shortened(said):
    """What a failure said, in about 700 characters: of a script's output, the steps that failed between those that passed."""
    steps = re.findall(r"(?:^|(?<= ))FAILED  .*(?:\n(?!passed|FAILED).*)*", said, re.MULTILINE)
    return "\n".join(
        f"{text[:200]} … {text[-500:]}" if len(text) > 700 else text for text in steps[:3] or [said])


def is_failure(issue):
    """Known issues and warnings are not failures."""
    return not issue.get("isKnown") and issue.get("isFailure", True)


def summarize(results, seconds):
    """Prints all stages and the slowest tests, then how many tests passed; returns the exit status."""
    print(f"\n{'stage':16}{'tests':>6}{'seconds':>9}{'processor':>11}")
    for result in results:
        mark = "" if result.passed else "  failed"
        print(f"{result.stage.name:16}{result.tests:6}{result.seconds:9.0f}{result.processor:11.0f}{mark}")
    processor = sum(r.processor for r in results)
    print(f"{'all':16}{sum(r.tests for r in results):6}{seconds:9.0f}{processor:11.0f}")
    print(f"\nThe {SLOWEST} slowest tests, in seconds:")
    for spent, stage, name in sorted((t for r in results for t in r.times), reverse=True)[:SLOWEST]:
        print(f"{spent:8.1f}  {stage}: {name[:100]}")
    failed = 0
    for result in results:
        failed += max(len(result.failures), 0 if result.passed else 1)
        for name in result.failures:
            print(f"failed: {result.stage.name}: {name}")
        for name in result.running[:8]:
            print(f"did not end: {result.stage.name}: {name}")
        if not result.passed:
            print(f"See {result.stage.log.relative_to(ROOT)}")
    # The last lines are all that some places keep of a run.
    for result in results:
        for said in result.words:
            print(f"{result.stage.name}: {said}")
    print(f"{max(sum(r.tests for r in results) - failed, 0)} passed, {failed} failed")
    return 1 if failed else 0


def misplaced(binary):
    """The tests that no stage runs, or several stages on the usual store, or that the soak takes by the end of a name."""
    listed = subprocess.run(
        [binary, "--testing-library", "swift-testing", "--list-tests"], cwd=ROOT, check=True, capture_output=True, text=True)
    tests = listed.stdout.split("\n")
    usual = [stage for stage in STAGES if not stage.environment]
    for test in filter(None, tests):
        count = sum(stage.runs(test) for stage in usual)
        if count > 1 or not count and not any(part.runs(test) for part in SOAK):
            yield f"{test} is in {count} stages"
        # "ModelTests" would also take the tests of "ThreatModelTests" out of the stages.
        if (long := re.search(LONG, test)) and test[:long.start()] not in ("", test.partition(".")[0] + "."):
            yield f"LONG matches {test} inside a name"


def chosen(arguments):
    """The stages that a call names."""
    match arguments:
        case ["test"]:
            return STAGES
        case ["test", *names]:
            return [stage for stage in STAGES if stage.name in names]
        case ["soak"]:
            return SOAK
        case ["soak", "today"]:
            return [SOAK[datetime.date.today().timetuple().tm_yday % len(SOAK)]]
        case ["soak", *names]:
            return [stage for stage in SOAK if stage.name in names]
        case ["one", pattern]:
            return [Stage("one", pattern, limit=0)]
    return []


def main():
    stages = chosen(sys.argv[1:])
    if not stages:
        print(__doc__.strip())
        print("stages:", ", ".join(s.name for s in STAGES), "\nparts:", ", ".join(s.name for s in SOAK))
        return 2
    built = subprocess.run(["swift", "build", "--show-bin-path"], cwd=ROOT, check=True, capture_output=True, text=True)
    binary = f"{built.stdout.strip()}/countersignPackageTests.xctest"
    if wrong := list(misplaced(binary)):
        print("Every test belongs to one stage of .ci/tests.py, or to the soak:", *wrong[:20], sep="\n")
        return 1

    def finish(stage):
        result = run(stage, binary)
        outcome = f"{len(result.failures)} failed" if result.failures else "passed" if result.passed else "did not end"
        print(f"{stage.name}: {result.tests} tests in {result.seconds:.0f} s, {outcome}", flush=True)
        return result

    began = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    pool = concurrent.futures.ThreadPoolExecutor(JOBS)
    try:
        results = list(pool.map(finish, stages))
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for processes in list(ACTIVE):
            processes.kill()
        raise
    return summarize(results, time.monotonic() - began)


sys.exit(main())
