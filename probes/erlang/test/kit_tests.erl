%% Tests of the probe: the kit, and the probe as the host starts it. main/0 runs all and ends with status 0 or 1; it runs in
%% probes/erlang, with the modules in the code path.
-module(kit_tests).
-export([main/0]).

main() ->
    spawn(fun() ->
        Failed = [Name || {Name, Test} <- tests(), not passes(Name, Test)],
        io:format("~b tests, ~b failed~n", [length(tests()), length(Failed)]),
        halt(case Failed of [] -> 0; _ -> 1 end)
    end).

passes(Name, Test) ->
    try Test(), true
    catch Class:Reason:Stack -> io:format("~s: ~p ~p~n~p~n", [Name, Class, Reason, Stack]), false
    end.

tests() ->
    [
        {"defaults", fun defaults/0}, {"buckets", fun buckets/0}, {"trace", fun trace/0},
        {"lines", fun lines/0}, {"list", fun described/0}, {"rings", fun rings/0}, {"as the host starts it", fun started/0}
    ].

defaults() ->
    {Plan, _} = kit_plan:parse(["mechanism=fiber/erlang", "cpus=1"], mechanism_list:all()),
    #{contexts := 2, batches := 30, warmup_batches := 5, batch_ns := 1000000, batch_units := 0, verify_units := 1000, cpus := [1]} = Plan.

buckets() ->
    [
        begin
            Value = rand:uniform(1 bsl 62) bsr rand:uniform(62),
            Bucket = kit_histogram:bucket_of(Value),
            Edge = kit_histogram:lower_edge(Bucket),
            true = Edge =< Value andalso Value - Edge =< Edge bsr 7,
            Bucket = kit_histogram:bucket_of(Edge),
            true = Edge =:= 0 orelse kit_histogram:bucket_of(Edge - 1) =:= Bucket - 1
        end
     || _ <- lists:seq(1, 20000)
    ],
    Histogram = kit_histogram:new(),
    kit_histogram:arrive(Histogram, 1 bsl 62),
    [[4611686018427387904, 1]] = kit_histogram:buckets(Histogram).

trace() ->
    Cpu = atomics:new(1, []),
    Trace = {_, _, Scheduler, _, _} = {atomics:new(5, []), atomics:new(5, []), atomics:new(5, []), 4, fun() -> atomics:get(Cpu, 1) end},
    Visits = [{0, 0}, {1, 0}, {2, 1}, {0, 1}, {2, 1}],
    lists:foldl(fun({Who, On}, N) -> atomics:put(Cpu, 1, On), kit_evidence:visit(Trace, N, Who), N + 1 end, 0, Visits),
    {{[{count, 4}, {in_order, 3}, {same_cpu, 3}, {same_thread, 4}, {timed, false}]}, 1} = kit_evidence:judge(Trace, 3),
    atomics:put(Scheduler, 5, 77),
    {{[_, _, _, {same_thread, 3}, _]}, 1} = kit_evidence:judge(Trace, 3).

lines() ->
    "{\"t\":\"note\",\"text\":\"\\u00b5 \\\"\\\\ \\ud83d\\ude00\\u000a\",\"list\":[1,-2,null,{}]}" =
        lists:flatten(kit_wire:encode({[{t, {text, "note"}}, {text, {text, [16#b5, $\s, $", $\\, $\s, 16#1f600, $\n]}}, {list, [1, -2, null, {[]}]}]})).

described() ->
    Ids = [Id || #{id := Id} <- mechanism_list:all()],
    Ids = lists:sort(Ids),
    [{ok, _} = file:read_file("../../mechanisms/" ++ Id ++ ".toml") || Id <- Ids].

%% A workload claims what was asked of it, and nothing when nothing was.
rings() ->
    [
        begin
            {Plan, #{module := Module}} = kit_plan:parse(
                ["mechanism=fiber/erlang", "contexts=5", "experiment=" ++ Experiment, "timing=" ++ Timing], mechanism_list:all()),
            Histogram = kit_histogram:new(),
            Run = fun(Units, State) ->
                case Timing of "each" -> Module:run_each(Units, Histogram, State); _ -> Module:run(Units, State) end
            end,
            Ready = Module:reset(Run(10, Module:set_up(Plan))),
            {{0, _, _, _}, 0, _} = Module:claim(Run(0, Ready)),
            Done = Run(500, Run(1000, Ready)),
            {Turns, 1500, Claimed} = Module:claim(Done),
            case Experiment of
                "switch" -> {1500, 300, 300, 5} = Turns;
                "create" -> {1500, 1, 1, 1500} = Turns
            end,
            Timing =:= "each" andalso (1510 = kit_histogram:count(Histogram)),
            Trace = kit_evidence:new_trace(10),
            Module:verify(10, Trace, Claimed) =:= none orelse
                begin {{[{count, 10}, {in_order, 10}, _, {same_thread, 10}, _]}, _} = kit_evidence:judge(Trace, 5) end
        end
     || Experiment <- ["switch", "create"], Timing <- ["batch", "each"]
    ].

%% The command of probe.toml, with the modules of this test.
started() ->
    check_started("describe", 0, "\"status\":\"ok\""),
    check_started("run mechanism=fiber/erlang contexts=5 batches=3 batch_units=1003", 0, "\"token\":8040"),
    check_started("run mechanism=fiber/erlang experiment=create timing=each batches=3 batch_units=1003", 0, "\"token\":8024"),
    check_started("run mechanism=fiber/erlang experiment=footprint contexts=5000 batches=2 warmup_batches=1", 0,
        "\"turns\":{\"total\":15000,\"min\":1,\"max\":1,\"contexts\":15000}"),
    check_started("run mechanism=fiber/erlang bogus=1", 1, "\"code\":\"unknown_key\""),
    check_started("run mechanism=fiber/erlang cpus=0,1", 1, "\"code\":\"bad_value\""),
    check_started("run mechanism=fiber/erlang contexts=1100001 batch_units=1", 0, "\"code\":\"limit_reached\"", "+P 100000").

check_started(Words, Status, Wanted) -> check_started(Words, Status, Wanted, "").

check_started(Words, Status, Wanted, Flags) ->
    Ebin = filename:dirname(code:which(probe)),
    Answer = os:cmd("exec 3>&1; erl +S 1:1 " ++ Flags ++ " -boot no_dot_erlang -noshell -noinput -pa " ++ Ebin ++
        " -s probe main -extra " ++ Words ++ " report_fd=3 >/dev/null; echo status $?"),
    case {string:find(Answer, Wanted), string:find(Answer, "status " ++ integer_to_list(Status))} of
        {Found, Ended} when Found =/= nomatch, Ended =/= nomatch -> ok;
        _ -> error({Words, Answer})
    end.
