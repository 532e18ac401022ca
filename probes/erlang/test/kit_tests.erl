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
        {"buckets", fun buckets/0}, {"trace", fun trace/0}, {"rulers", fun rulers/0},
        {"lines", fun lines/0}, {"list", fun described/0}, {"heap offset", fun heap_offset/0}, {"as the host starts it", fun started/0}
    ].

buckets() ->
    rand:seed(exsss, 1),
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

rulers() ->
    Rulers = kit_ruler:new(#{timing => "batch", batches => 2, warmup_batches => 1}),
    kit_ruler:read(Rulers, 4),
    true = atomics:get(Rulers, 4) > 0,
    [atomics:put(Rulers, N, Ticks) || {N, Ticks} <- [{1, 5}, {2, 7}, {3, 6}, {4, 9}]],
    {[7], [7, 9]} = {kit_ruler:beside(Rulers, 1, 1), kit_ruler:beside(Rulers, 2, 3)}.

lines() ->
    "{\"t\":\"note\",\"text\":\"\\u00b5 \\\"\\\\ \\ud83d\\ude00\\u000a\",\"list\":[1,-2,null,{}]}" =
        lists:flatten(kit_wire:encode({[{t, {text, "note"}}, {text, {text, [16#b5, $\s, $", $\\, $\s, 16#1f600, $\n]}}, {list, [1, -2, null, {[]}]}]})).

described() ->
    Ids = [Id || #{id := Id} <- mechanism_list:all()],
    Ids = lists:sort(Ids),
    [{ok, _} = file:read_file("../../mechanisms/" ++ Id ++ ".toml") || Id <- Ids].

%% A number of processes that is drawn from the seed, or none.
heap_offset() ->
    [One, Same, Other] = [taken("seed=" ++ Seed) || Seed <- ["1", "1", "2"]],
    true = One > 0 andalso One =:= Same andalso One =/= Other,
    0 = taken("heap_offset=fixed seed=1").

%% All words of a plan, of which some are given.
plan(Given) ->
    Usual = "protocol=1 mechanism=fiber/erlang experiment=switch contexts=2 timing=batch cpus= batch_units=0 batch_ns=1000000 batches=30 "
        "warmup_batches=5 verify_units=1000 seed=0 heap_offset=drawn",
    Words = [{hd(string:split(Word, "=")), Word} || Word <- string:lexemes(Usual ++ " " ++ Given, " ")],
    maps:values(maps:from_list(Words)).

taken(Words) ->
    {Plan, _} = kit_plan:parse(plan(Words), mechanism_list:all()),
    Taken = kit_heap_offset:take(Plan),
    [Process ! stop || Process <- Taken],
    length(Taken).

%% The command of probe.toml, with the modules of this test: what the host's conformance suite does not ask.
started() ->
    check_started("cpus=0,1", 1, "\"code\":\"bad_value\""),
    check_started("contexts=1100001 batch_units=1", 0, "\"code\":\"limit_reached\"", "+P 100000").

check_started(Words, Status, Wanted) -> check_started(Words, Status, Wanted, "").

check_started(Words, Status, Wanted, Flags) ->
    Ebin = filename:dirname(code:which(probe)),
    Answer = os:cmd("exec 3>&1; erl +S 1:1 " ++ Flags ++ " -boot no_dot_erlang -noshell -noinput -pa " ++ Ebin ++
        " -s probe main -extra run " ++ lists:join(" ", plan(Words)) ++ " report_fd=3 >/dev/null; echo status $?"),
    case {string:find(Answer, Wanted), string:find(Answer, "status " ++ integer_to_list(Status))} of
        {Found, Ended} when Found =/= nomatch, Ended =/= nomatch -> ok;
        _ -> error({Words, Answer})
    end.
