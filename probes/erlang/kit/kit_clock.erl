%% The clock of the batches, which is also the counter of timing=each: Erlang has nothing finer.
%%
%% Not erlang:monotonic_time: that is corrected towards the time of day while it runs.
-module(kit_clock).
-export([now/0, name/0, ticks_per_second/0, read_cost/0]).
-compile({no_auto_import, [now/0]}).
-compile({inline, [now/0]}).

now() -> os:perf_counter().

ticks_per_second() -> erlang:convert_time_unit(1, second, perf_counter).

%% os:perf_counter reads what the emulator's monotonic time is made from, without the correction.
name() ->
    Source = erlang:system_info(os_monotonic_time_source),
    case lists:keyfind(clock_id, 1, Source) of
        {clock_id, Name} -> atom_to_list(Name);
        false -> "os:perf_counter"
    end.

%% Mean of the quickest of some short rows of readings, rounded up.
read_cost() ->
    Readings = 100,
    Quickest = lists:min([begin Begin = now(), row(Readings) - Begin end || _ <- lists:seq(1, 20)]),
    (Quickest + Readings - 1) div Readings.

row(1) -> now();
row(Readings) -> _ = now(), row(Readings - 1).
