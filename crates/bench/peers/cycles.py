"""What the peers have in common: cycles of ask, approve and resume, timed, each of them checked.

A peer is an object with

    ask(name)              an agent asks to do `name`; what comes back stands for the waiting question
    approve(asked)         a person says yes; what comes back is what the agent needs to go on
    resume(asked, yes)     the agent goes on, and does `name`
    ran                    how often each name was done, a Counter

Agent, person and store share a process, and nobody waits to be told: that favours the peer.
"""

import argparse
import json
import sys
import threading
import time

WARM_UP = 20


class NotAnApproval(Exception):
    """The peer did something else than wait for a yes and then act once."""


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, required=True, help="half alone, half with several in flight")
    parser.add_argument("--in-flight", type=int, default=8, help="threads of the second half")
    return parser.parse_args()


def expect(holds, otherwise):
    if not holds:
        raise NotAnApproval(otherwise)


def cycle(peer, name):
    """One question from asked to acted upon. The checks are three look-ups and not worth taking out of the time."""
    asked = peer.ask(name)
    expect(peer.ran[name] == 0, f"{name} ran when it was asked for")
    yes = peer.approve(asked)
    expect(peer.ran[name] == 0, f"{name} ran before the agent went on")
    peer.resume(asked, yes)
    expect(peer.ran[name] == 1, f"{name} ran {peer.ran[name]} times")


def report(peer, chosen, about):
    """Measures, and prints one line of JSON with what there is to say about the peer."""
    for n in range(WARM_UP):
        cycle(peer, f"warm-up-{n}")
    alone = measure(peer, "alone", 1, chosen.seconds / 2)
    together = measure(peer, "together", chosen.in_flight, chosen.seconds / 2)
    json.dump(about | alone | {"together": together}, sys.stdout)
    print()


def measure(peer, label, in_flight, seconds):
    """As many threads as are in flight, each starting its next cycle when the last is done."""
    taken = [[] for _ in range(in_flight)]
    failed = []
    started = time.perf_counter()

    def drive(worker):
        try:
            while time.perf_counter() - started < seconds:
                begun = time.perf_counter()
                cycle(peer, f"{label}-{worker}-{len(taken[worker])}")
                taken[worker].append(time.perf_counter() - begun)
        except BaseException as why:
            failed.append(why)

    if in_flight == 1:
        drive(0)
    else:
        threads = [threading.Thread(target=drive, args=(worker,)) for worker in range(in_flight)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    elapsed = time.perf_counter() - started
    if failed:
        raise failed[0]
    return figures(in_flight, sorted(one for worker in taken for one in worker), elapsed)


def figures(in_flight, taken, elapsed):
    expect(taken, "not one cycle was finished")
    return {
        "in_flight": in_flight,
        "cycles": len(taken),
        "seconds": round(elapsed, 3),
        "cycles_per_second": round(len(taken) / elapsed, 1),
        "p50_ms": round(percentile(taken, 50) * 1e3, 3),
        "p99_ms": round(percentile(taken, 99) * 1e3, 3),
    }


def percentile(ordered, percent):
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def durability(connection):
    """What SQLite itself says about a connection: when a commit is on the disk."""
    (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
    (synchronous,) = connection.execute("PRAGMA synchronous").fetchone()
    level = {0: "OFF", 1: "NORMAL", 2: "FULL", 3: "EXTRA"}[synchronous]
    lost = "nothing" if level in ("FULL", "EXTRA") else "the last commits" if level == "NORMAL" else "anything"
    return f"SQLite {journal.upper()}, synchronous {level}: a power failure loses {lost}"
