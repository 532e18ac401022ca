%% What the operating system says about this process. Nothing here is called within a batch: reading a file wakes one of the
%% emulator's helper threads.
-module(kit_machine).
-export([allowed_cpus/0, cpu_reader/0, available_memory/0, memory/0, task_switches/0, task_switches/1, page_faults/0]).

%% The thread that runs the processes is called so up to OTP 25, and from OTP 26 on.
-define(SCHEDULER, "^(1_scheduler|erts_sched_1)").

%% The CPUs that the process may run on, such as "0-2,5"; null where it cannot be told.
allowed_cpus() -> find(read("/proc/self/status"), "^Cpus_allowed_list:\\s*(\\S+)$").

%% A function that gives the CPU on which the scheduler that runs the processes was last seen; null where it cannot be told.
cpu_reader() ->
    Threads = case file:list_dir("/proc/self/task") of {ok, Ids} -> Ids; _ -> [] end,
    IsScheduler = fun(Id) -> re:run(read(["/proc/self/task/", Id, "/comm"]), ?SCHEDULER) =/= nomatch end,
    case lists:filter(IsScheduler, Threads) of
        [Id] -> fun() -> stat_field(read(["/proc/self/task/", Id, "/stat"]), 39) end;
        _ -> null
    end.

%% What the kernel believes it can give to this process, in bytes; 0 where it cannot be told.
available_memory() -> 1024 * number(find(read("/proc/meminfo"), "^MemAvailable:\\s*(\\d+)")).

%% [resident, mapped, page tables] of this process in bytes; null where they cannot be read. Resident is a walk of the page tables
%% (smaps_rollup); statm is only approximate.
memory() ->
    Status = read("/proc/self/status"),
    Kibibytes = [find(read("/proc/self/smaps_rollup"), "^Rss:\\s*(\\d+)"), find(Status, "^VmSize:\\s*(\\d+)"), find(Status, "^VmPTE:\\s*(\\d+)")],
    case lists:member(null, Kibibytes) of
        true -> null;
        false -> [1024 * number(Digits) || Digits <- Kibibytes]
    end.

%% {Files, [{Thread id, voluntary, involuntary}]} of every thread of the process; null where they cannot be read.
%%
%% Each operation on a file is itself a switch to a helper thread and back. So the files are opened beforehand and the threads
%% that take part are read last before the batches, and after them first: in the opposite order, given the earlier answer.
task_switches() ->
    case file:list_dir("/proc/self/task") of
        {ok, Ids} ->
            Files = open_tasks(lists:sort(fun(A, B) -> takes_part(A) =< takes_part(B) end, Ids)),
            all_told(Files, read_tasks(Files));
        {error, _} ->
            null
    end.

task_switches({Files, _}) ->
    Known = read_tasks(lists:reverse(Files)),
    {ok, Ids} = file:list_dir("/proc/self/task"),
    New = open_tasks(Ids -- [Id || {Id, _} <- Files]),
    all_told(Files ++ New, Known ++ read_tasks(New));
task_switches(null) ->
    null.

all_told(Files, Tasks) ->
    case lists:any(fun({_, Voluntary, Involuntary}) -> Voluntary =:= null orelse Involuntary =:= null end, Tasks) of
        true -> null;
        false -> {Files, Tasks}
    end.

open_tasks(Ids) ->
    Opened = [{Id, file:open(["/proc/self/task/", Id, "/status"], [read, raw, binary])} || Id <- Ids],
    [{Id, File} || {Id, {ok, File}} <- Opened].

%% Without those that have ended.
read_tasks(Files) ->
    Read = [{Id, file:pread(File, 0, 8192)} || {Id, File} <- Files],
    [switches(Id, Status) || {Id, {ok, Status}} <- Read].

takes_part(Id) ->
    Name = read(["/proc/self/task/", Id, "/comm"]),
    case {re:run(Name, ?SCHEDULER), re:run(Name, "dirty_io|erts_dios|aux")} of
        {{match, _}, _} -> 2;
        {_, {match, _}} -> 1;
        _ -> 0
    end.

switches(Id, Status) ->
    {
        Id,
        count(find(Status, "^voluntary_ctxt_switches:\\s*(\\d+)")),
        count(find(Status, "^nonvoluntary_ctxt_switches:\\s*(\\d+)"))
    }.

%% {minor, major} page faults of the process; null where they cannot be read.
page_faults() ->
    case read("/proc/self/stat") of
        <<>> -> null;
        Stat -> {stat_field(Stat, 10), stat_field(Stat, 12)}
    end.

%% Field 2, the name, may hold anything, so counting begins behind it, at field 3.
stat_field(Stat, Number) ->
    [_, Rest] = string:split(Stat, ") ", trailing),
    binary_to_integer(lists:nth(Number - 2, binary:split(Rest, <<" ">>, [global]))).

read(Path) ->
    case file:read_file(Path) of
        {ok, Text} -> Text;
        {error, _} -> <<>>
    end.

find(Text, Pattern) ->
    case re:run(Text, Pattern, [multiline, {capture, all_but_first, list}]) of
        {match, [Found]} -> Found;
        nomatch -> null
    end.

count(null) -> null;
count(Digits) -> list_to_integer(Digits).

number(null) -> 0;
number(Digits) -> list_to_integer(Digits).
