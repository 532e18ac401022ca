"""ReFrame tests: is the node fit, and what does a switch cost on it?

reframe -c switchcost_test.py -r --distribute=idle gives one test per node; --exec-policy=serial keeps two from measuring on one host at once.
"""

import csv

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, performance_function, run_after, sanity_function, variable


class SwitchcostTest(rfm.RunOnlyRegressionTest):
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "switchcost"
    num_tasks = 1


@rfm.simple_test
class Fit(SwitchcostTest):
    """The node is not unlike its baseline."""

    baseline = variable(str, value="check")

    @run_after("init")
    def ask(self):
        self.executable_opts = ["check", "--baseline", self.baseline]

    @sanity_function
    def is_not_unfit(self):
        return sn.assert_not_found(r"^not fit: ", self.stdout)


@rfm.simple_test
class Cost(SwitchcostTest):
    """The cost of a switch, for ReFrame's own records."""

    mechanism = parameter(["thread/futex", "process/pipe"])

    @run_after("init")
    def ask(self):
        self.executable_opts = ["run", self.mechanism, "--budget", "10s", "--format", "csv", "--store", "runs.sqlite"]

    @sanity_function
    def has_figure(self):
        return sn.assert_found(rf",{self.mechanism},", self.stdout)

    @performance_function("ns")
    def median(self):
        header = sn.extractsingle(r"^(run,label,.*)$", self.stdout, 1).evaluate()
        row = sn.extractsingle(rf"^(.*,{self.mechanism},.*)$", self.stdout, 1).evaluate()
        return float(next(csv.DictReader([header, row]))["median"])
