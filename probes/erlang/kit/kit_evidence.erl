%% What shows that the units claimed did happen.
-module(kit_evidence).
-export([observe_begin/0, observe_end/1, between/2, no_turns/0, count/2, turns/1, address_spaces/1, new_trace/1, visit/3, judge/2, cpus/1]).

%% The threads are read last before the batches and first after them, so that the reading itself hardly counts; the collections
%% even later and earlier, because reading makes garbage.
observe_begin() ->
    Faults = kit_machine:page_faults(),
    Tasks = kit_machine:task_switches(),
    {Tasks, Faults, collections()}.

observe_end({TasksBegin, _, _}) ->
    Collections = collections(),
    Tasks = kit_machine:task_switches(TasksBegin),
    {Tasks, kit_machine:page_faults(), Collections}.

collections() ->
    {Collections, _, _} = erlang:statistics(garbage_collection),
    Collections.

%% {Fields, Why} of the evidence message that are differences of two observations.
between({TasksBegin, FaultsBegin, CollectionsBegin}, {TasksEnd, FaultsEnd, CollectionsEnd}) ->
    {Kernel, WhyKernel} = kernel(TasksBegin, TasksEnd),
    {Faults, WhyFaults} = faults(FaultsBegin, FaultsEnd),
    {[{kernel, Kernel}, {page_faults, Faults}, {gc_cycles, CollectionsEnd - CollectionsBegin}], WhyKernel ++ WhyFaults}.

kernel(Begin, End) when Begin =:= null; End =:= null ->
    {null, [{kernel, {text, "the kernel's counts of each thread cannot be read on this system"}}]};
kernel({_, Begin}, {_, End}) ->
    case [Id || {Id, _, _} <- Begin, not lists:keymember(Id, 1, End)] of
        [] ->
            %% A thread that began in between counts from zero.
            {{[
                {voluntary, sum(2, End) - sum(2, Begin)}, {involuntary, sum(3, End) - sum(3, Begin)},
                {tasks, length(End)}, {source, {text, "proc_task_status"}}
            ]}, []};
        _ ->
            {null, [{kernel, {text, "a thread of the emulator ended during the batches and took its counts with it"}}]}
    end.

sum(Place, Tasks) -> lists:sum([element(Place, Task) || Task <- Tasks]).

faults({MinorBegin, MajorBegin}, {MinorEnd, MajorEnd}) ->
    {{[{minor, MinorEnd - MinorBegin}, {major, MajorEnd - MajorBegin}]}, []};
faults(_, _) ->
    {null, [{page_faults, {text, "not readable on this system"}}]}.

%% What the contexts counted themselves: {Total, Min, Max, Contexts}.
no_turns() -> {0, 0, 0, 0}.

count(Turns, {0, 0, 0, 0}) -> {Turns, Turns, Turns, 1};
count(Turns, {Total, Min, Max, Contexts}) -> {Total + Turns, min(Min, Turns), max(Max, Turns), Contexts + 1}.

turns({Total, Min, Max, Contexts}) -> {[{total, Total}, {min, Min}, {max, Max}, {contexts, Contexts}]}.

%% One, where contexts have counted their turns: all are spawned in this emulator, which is one process of the operating system.
address_spaces({_, _, _, 0}) -> null;
address_spaces(_) -> 1.

%% The record of the verification pass: who had the token, on which CPU and by which of the emulator's schedulers, indexed by the
%% token's sequence number. It lies outside every heap. null where the CPU cannot be told.
new_trace(Units) ->
    case kit_machine:cpu_reader() of
        null -> null;
        Reader -> {atomics:new(Units + 1, []), atomics:new(Units + 1, []), atomics:new(Units + 1, []), Units, Reader}
    end.

%% Called by a context that came to run with the token. Each scheduler is a thread of its own.
visit({Who, Cpu, Scheduler, Units, Reader}, Sequence, Context) when Sequence =< Units ->
    atomics:put(Who, Sequence + 1, Context + 1),
    atomics:put(Scheduler, Sequence + 1, erlang:system_info(scheduler_id)),
    atomics:put(Cpu, Sequence + 1, Reader());
visit(_, _, _) ->
    ok.

%% Compares every hop with the one before it. The pass comes after the timed batches, by the same contexts.
judge({Who, Cpu, Scheduler, Units, _}, Contexts) ->
    InOrder = [N || N <- lists:seq(1, Units), atomics:get(Who, N + 1) - 1 =:= atomics:get(Who, N) rem Contexts],
    Same = fun(Cells) -> length([N || N <- lists:seq(1, Units), atomics:get(Cells, N + 1) =:= atomics:get(Cells, N)]) end,
    {Migrations, _} = lists:foldl(
        fun(N, {Count, Last}) ->
            {Context, Now} = {atomics:get(Who, N + 1), atomics:get(Cpu, N + 1)},
            Moved = case Last of #{Context := Before} when Before =/= Now -> 1; _ -> 0 end,
            {Count + Moved, Last#{Context => Now}}
        end,
        {0, #{}}, lists:seq(0, Units)),
    {{[
        {count, Units}, {in_order, length(InOrder)}, {same_cpu, Same(Cpu)}, {same_thread, Same(Scheduler)}, {timed, false}
    ]}, Migrations}.

cpus({_, Cpu, _, Units, _}) -> lists:usort([atomics:get(Cpu, N + 1) || N <- lists:seq(0, Units)]).
