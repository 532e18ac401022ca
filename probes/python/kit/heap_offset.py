"""Where contexts lie inside their pages: behind a drawn number of blocks of every size, since the first free places of a fresh
heap are the same in every start. The seed is another in every start."""

from .plan import Parameter

PARAMETER = Parameter("heap_offset", ["drawn", "fixed"])

# Of an object of bytes without any.
_EMPTY = 33
_SIZES = range(48, 1040, 16)
_MOST_OF_A_SIZE = 16


def _drawn(seed):
    """SplitMix64: seeds of neighbouring starts have nothing in common."""
    all_bits = (1 << 64) - 1
    while True:
        seed = seed + 0x9E3779B97F4A7C15 & all_bits
        mixed = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 & all_bits
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & all_bits
        yield mixed ^ mixed >> 31


def blocks(plan):
    """To be kept as long as the contexts live. None where the plan says so."""
    if plan.parameters.get(PARAMETER.name) != "drawn":
        return []
    # Made by `*`, which asks for memory that need not be zero: what malloc has free then comes first.
    return [
        b"-" * (size - _EMPTY)
        for size, number in zip(_SIZES, _drawn(plan.seed))
        for _ in range(number % _MOST_OF_A_SIZE)
    ]
