"""Experiment footprint: memory of live, suspended contexts, by the kernel's figures. Nothing is timed, the ticks are bytes."""

import gc

from .. import evidence, machine, wire

QUANTITIES = ("resident_bytes", "virtual_bytes", "kernel_bytes")

# So many contexts at most are made first and kept, so that the pages of code are there and what start-up left free is used up.
REHEARSED = 1000


async def carry_out(writer, plan, hold):
    """Reports everything but `hello`. Contexts of earlier cycles stay alive, so that none is made of what another left."""
    cycles = plan.warmup_batches + plan.batches
    if machine.memory() is None:
        raise wire.unsupported(
            "unsupported_here", "memory in use cannot be read on this system: /proc/self/smaps_rollup is missing"
        )
    plan.send(writer, plan.contexts)
    held, _ = await hold(plan, min(plan.contexts, REHEARSED))
    gains, entered, alive = [], 0, [held]
    for _ in range(cycles):
        held, ran, gain = await _cycle(plan, hold)
        alive.append(held)
        gains.append(gain)
        entered += ran
    units = cycles * plan.contexts
    if entered != units:
        raise wire.failed("self_check_failed", f"only {entered} of {units} contexts ran before they were suspended")
    warmup = plan.warmup_batches
    seq = _send(writer, 0, "warmup", plan.contexts, gains[:warmup])
    _send(writer, seq, "measure", plan.contexts, gains[warmup:])
    writer.send("note", text="kernel_bytes is the change of this process's page tables (VmPTE)")
    writer.send(
        "evidence",
        units=units,
        turns={"total": units, "min": 1, "max": 1, "contexts": units},
        token=None,
        kernel=None,
        address_spaces=evidence.address_spaces(entered),
        why={"token": "no token is passed in this experiment"},
    )
    wire.send_end(writer, cycles * len(QUANTITIES))


async def _cycle(plan, hold):
    """(contexts, how many of them ran, what memory grew by). What the collector can free is freed before both readings."""
    gc.collect()
    before = machine.memory()
    held, ran = await hold(plan, plan.contexts)
    gc.collect()
    return held, ran, [after - earlier for after, earlier in zip(machine.memory(), before)]


def _send(writer, seq, phase, contexts, gains):
    for quantity, grown in zip(QUANTITIES, zip(*gains)):
        for begin in range(0, len(grown), wire.TICKS_PER_LINE):
            ticks = grown[begin : begin + wire.TICKS_PER_LINE]
            writer.send("samples", seq=seq, phase=phase, units=contexts, quantity=quantity, ticks=ticks)
            seq += 1
    return seq
