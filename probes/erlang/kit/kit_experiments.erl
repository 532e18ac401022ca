%% What carries out each experiment and reports everything but `hello`: batches of a workload, or a module of its own.
-module(kit_experiments).
-export([carry_out/4]).

carry_out("footprint", Writer, Plan, Module) -> kit_footprint:carry_out(Writer, Plan, Module);
carry_out(_, Writer, Plan, Module) -> kit_measure:measure(Writer, Plan, Module).
