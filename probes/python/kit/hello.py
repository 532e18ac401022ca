"""What the probe says about itself."""

import os
import platform
import sys
import sysconfig

from . import clock, wire

OLDEST = (3, 9)


def wrong_runtime():
    """Why no mechanism can run on this Python; None when they can."""
    if sys.version_info < OLDEST:
        return f"needs Python {OLDEST[0]}.{OLDEST[1]} or newer, and this is {platform.python_version()}; put a newer one first in PATH"
    if platform.python_implementation() != "CPython":
        return (
            f"describes what CPython does, and this is {platform.python_implementation()}; put a CPython first in PATH"
        )
    return None


def send_hello(writer, probe, version):
    """The first message."""
    writer.send(
        "hello",
        protocol=wire.PROTOCOL,
        probe=probe,
        version=version,
        runtime=f"{platform.python_implementation()} {platform.python_version()}",
        compiler=platform.python_compiler(),
        flags=_flags(),
        pid=os.getpid(),
        clock={"name": clock.name(), "ticks_per_second": clock.TICKS_PER_SECOND, "read_cost_ticks": clock.read_cost()},
        counter={"name": "perf_counter_ns"},
    )


def _flags():
    """How the interpreter was configured: optimisation with a profile alone makes it a quarter quicker."""
    if not hasattr(sysconfig, "get_config_var"):
        return None
    return sysconfig.get_config_var("CONFIG_ARGS")


def send_mechanisms(writer, mechanisms):
    """Answers `describe`."""
    wrong = wrong_runtime()
    for mechanism in mechanisms:
        fields = {
            "id": mechanism.id,
            "experiments": mechanism.experiments,
            "timings": mechanism.timings,
            "parameters": [parameter.name for parameter in mechanism.parameters],
        }
        package = mechanism.package
        lacks = package.missing() if package and not wrong else None
        if wrong:
            fields.update(available=False, code="unsupported_here", reason=wrong)
        elif lacks:
            fields.update(available=False, code="missing_library", reason=lacks, install=package.install)
        else:
            fields.update(available=True)
        writer.send("mechanism", **fields)
