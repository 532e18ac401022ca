"""Tags the wheel: any Python 3, and any Linux of its processor, whatever C library it has."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Tag(BuildHookInterface):
    """What is in the wheel is linked statically: the oldest glibc and the oldest musl that tags know are both true."""

    def initialize(self, version, build_data):
        arch = os.environ["SWITCHCOST_ARCH"]
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-manylinux2014_{arch}.manylinux_2_17_{arch}.musllinux_1_1_{arch}"
