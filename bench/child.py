"""Runs a command and prints what it took, as JSON; its output goes to standard error.

The peak of a child, `ru_maxrss`, begins at the size of the process that started it. So this small program starts it,
with nothing imported that it does not need, and not the benchmark with its texts in memory.
"""

import json
import os
import sys
import time

#: Bytes in the unit of `ru_maxrss`.
PEAK_UNIT = 1 if sys.platform == "darwin" else 1024
#: Seconds between two looks at the threads of a child: what one does after the last look is not seen.
INTERVAL = 0.01


def main() -> None:
    """Run the arguments, of which the first is the path of a program; after `--sample` its threads are told too."""
    is_sampled = sys.argv[1] == "--sample"
    order = sys.argv[1 + is_sampled :]
    to_stderr = [(os.POSIX_SPAWN_DUP2, 2, 1)]
    begin = time.perf_counter()
    child = os.posix_spawn(order[0], order, os.environ, file_actions=to_stderr)
    threads = watched(child) if is_sampled else {}
    _, status, used = os.wait4(child, 0)
    found = {"code": os.waitstatus_to_exitcode(status), "wall": time.perf_counter() - begin}
    found |= {"cpu": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss * PEAK_UNIT}
    print(json.dumps(found | {"threads": list(threads.values())}))


def watched(child: int) -> dict[str, float]:
    """Look at the CPU seconds of a child's threads until it ends, the first thread's first."""
    threads: dict[str, float] = {}
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        look(child, threads)
        time.sleep(INTERVAL)
    return threads


def look(child: int, threads: dict[str, float]) -> None:
    """Note what each thread has used so far; a thread that is gone keeps what was seen last."""
    try:
        for thread in sorted(os.listdir(f"/proc/{child}/task"), key=int):
            with open(f"/proc/{child}/task/{thread}/stat", encoding="ascii", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
            threads[thread] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return


if __name__ == "__main__":
    main()
