"""The Python probe of switchcost; PROTOCOL.md says how it is spoken to."""

import sys

if __name__ == "__main__":
    # Before 3.6 the rest cannot even be read, so that this file must be for 2; what reads it says itself from which on it runs.
    # The host shows the last line of a probe that says nothing else.
    if sys.version_info < (3, 6):  # noqa: UP036
        sys.exit("needs Python 3.9 or newer, and this is " + sys.version.split()[0] + "; put a newer one first in PATH")

    from kit.main import main

    from mechanisms import LIST

    main("python", "1", LIST)
