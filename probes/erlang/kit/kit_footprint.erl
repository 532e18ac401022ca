%% Experiment footprint: memory of live, suspended contexts, by the kernel's figures. Nothing is timed, the ticks are bytes.
-module(kit_footprint).
-export([carry_out/3]).

-define(QUANTITIES, ["resident_bytes", "virtual_bytes", "kernel_bytes"]).
%% So many contexts at most are made first and kept, so that what start-up left free in the emulator's carriers is used up.
-define(REHEARSED, 1000).

%% Reports everything but `hello`. Contexts of earlier cycles stay alive, so that none is made of what another left.
carry_out(Writer, #{contexts := Contexts, batches := Batches, warmup_batches := Warmup} = Plan, Module) ->
    check(Warmup + Batches),
    kit_measure:send_plan(Writer, Plan, Contexts),
    Module:hold(min(Contexts, ?REHEARSED)),
    Gains = [cycle(Module, Contexts) || _ <- lists:seq(1, Warmup + Batches)],
    {WarmupGains, MeasureGains} = lists:split(Warmup, Gains),
    Seq = send_gains(Writer, 0, "warmup", Contexts, WarmupGains),
    send_gains(Writer, Seq, "measure", Contexts, MeasureGains),
    Units = (Warmup + Batches) * Contexts,
    kit_wire:send(Writer, [{t, {text, "note"}}, {text, {text, "kernel_bytes is the change of this process's page tables (VmPTE)"}}]),
    kit_wire:send(Writer, [
        {t, {text, "evidence"}}, {units, Units}, {turns, kit_evidence:turns({Units, 1, 1, Units})}, {token, null}, {kernel, null},
        {address_spaces, kit_evidence:address_spaces({Units, 1, 1, Units})}, {why, {[{token, {text, "no token is passed in this experiment"}}]}}
    ]),
    kit_wire:send_end(Writer, (Warmup + Batches) * length(?QUANTITIES)).

check(Cycles) ->
    Most = kit_wire:ticks_per_line(),
    Cycles =< Most orelse
        throw(kit_wire:refuse(bad_value, "experiment=footprint takes at most ~b batches; reduce batches or warmup_batches", [Most])),
    kit_machine:memory() =/= null orelse
        throw(kit_wire:unsupported(unsupported_here, "memory in use cannot be read on this system: /proc/self/smaps_rollup is missing", [])).

%% What memory grew by. The driver's own garbage is collected before both readings; contexts have none.
cycle(Module, Contexts) ->
    erlang:garbage_collect(),
    Before = kit_machine:memory(),
    case Module:hold(Contexts) of
        Contexts -> ok;
        Ran -> throw(kit_wire:failed(self_check_failed, "only ~b of ~b contexts ran before they were suspended", [Ran, Contexts]))
    end,
    erlang:garbage_collect(),
    lists:zipwith(fun(After, Earlier) -> After - Earlier end, kit_machine:memory(), Before).

send_gains(_, Seq, _, _, []) ->
    Seq;
send_gains(Writer, Seq, Phase, Contexts, Gains) ->
    Send = fun({N, Quantity}) ->
        kit_wire:send(Writer, [
            {t, {text, "samples"}}, {seq, Seq + N - 1}, {phase, {text, Phase}}, {units, Contexts}, {quantity, {text, Quantity}},
            {ticks, [lists:nth(N, Gain) || Gain <- Gains]}
        ])
    end,
    lists:foreach(Send, lists:zip(lists:seq(1, length(?QUANTITIES)), ?QUANTITIES)),
    Seq + length(?QUANTITIES).
