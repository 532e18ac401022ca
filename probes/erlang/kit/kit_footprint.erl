%% Experiment footprint: memory of live, suspended contexts, by the kernel's figures. Nothing is timed, the ticks are bytes.
-module(kit_footprint).
-export([carry_out/3]).

-define(QUANTITIES, ["resident_bytes", "virtual_bytes", "kernel_bytes"]).
%% So many contexts at most are made first and kept, so that what start-up left free in the emulator's carriers is used up.
-define(REHEARSED, 1000).

%% Reports everything but `hello`. Contexts of earlier cycles stay alive, so that none is made of what another left.
carry_out(Writer, #{contexts := Contexts, batches := Batches, warmup_batches := Warmup} = Plan, Module) ->
    check(),
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

check() ->
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

%% In as many messages as their length takes; gives the next number of a message.
send_gains(Writer, First, Phase, Contexts, Gains) ->
    Column = fun(N) -> [lists:nth(N, Gain) || Gain <- Gains] end,
    Numbered = lists:zip(lists:seq(1, length(?QUANTITIES)), ?QUANTITIES),
    Parts = [{Quantity, Part} || {N, Quantity} <- Numbered, Part <- parts(Column(N))],
    Send = fun({Quantity, Ticks}, Seq) ->
        kit_wire:send(Writer, [
            {t, {text, "samples"}}, {seq, Seq}, {phase, {text, Phase}}, {units, Contexts}, {quantity, {text, Quantity}}, {ticks, Ticks}
        ]),
        Seq + 1
    end,
    lists:foldl(Send, First, Parts).

parts([]) ->
    [];
parts(Ticks) ->
    {Part, Rest} = lists:split(min(length(Ticks), kit_wire:ticks_per_line()), Ticks),
    [Part | parts(Rest)].
