"""Packages that one mechanism needs and the standard library lacks."""

import sys
from importlib import import_module, util

from . import wire


class Package:
    """Of PyPI, by the name that is imported; Debian's, where it has one, belongs to Debian's own Python."""

    def __init__(self, name, debian=None):
        self.name = name
        python = "python{}.{}".format(*sys.version_info)
        self.install = f"{name} for {python} ({python} -m pip install {name}"
        self.install += f"; Debian: {debian}, for its own Python)" if debian else ")"

    def missing(self):
        """Why it is not there, or None. It is not imported: for some that takes longer than all of `describe`."""
        return None if util.find_spec(self.name) else self._why(f"No module named '{self.name}'")

    def load(self):
        """Imports it, and says which version runs."""
        try:
            module = import_module(self.name)
        # One that is half installed may raise anything.
        except Exception as error:
            raise wire.unsupported("missing_library", f"{self._why(error)}; install {self.install}") from error
        return f"{self.name} {getattr(module, '__version__', 'of unknown version')}"

    def _why(self, error):
        return f"the package {self.name} cannot be imported ({error})"


class Since:
    """A part of the standard library, from a version of Python on."""

    def __init__(self, version, name):
        self.version, self.name = version, name
        self.install = "Python {}.{} or newer".format(*version)

    def missing(self):
        """Why it is not there, or None."""
        return None if sys.version_info >= self.version else f"this Python has no {self.name}"

    def load(self):
        """Says what runs."""
        why = self.missing()
        if why:
            raise wire.unsupported("missing_library", f"{why}; install {self.install}")
        return f"{self.name} of the standard library"
