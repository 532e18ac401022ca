%% One `run`, as asked: parsed once, never changed. What calibration makes of it stands in the `plan` message.
-module(kit_plan).
-export([parse/2, report_fd/1, check_describe/1, most_units/0]).

-define(PROTOCOL, 1).
%% The limits of PROTOCOL.md, section 1.
-define(MAX_UNITS, 1000000000000).
-define(MAX_BATCHES, 1000000).
-define(MAX_CONTEXTS, 1 bsl 24).
-define(MAX_CPU, (1 bsl 20 - 1)).
-define(MAX_DESCRIPTOR, 1 bsl 20).

%% Reads the words after `run` and gives {Plan, Mechanism}. The mechanism must be known before its parameters can be told from
%% typing errors, so it is looked for first; the order of the words does not matter.
parse(Words, Mechanisms) ->
    {Mechanism, Values} = find(split(Words), Mechanisms),
    Parameters = maps:get(parameters, Mechanism, []),
    Takes = [
        integer(report_fd, 1, 0, ?MAX_DESCRIPTOR),
        integer(protocol, ?PROTOCOL, ?PROTOCOL, ?PROTOCOL),
        word(experiment, "switch", maps:get(experiments, Mechanism)),
        integer(contexts, 2, 1, ?MAX_CONTEXTS),
        word(timing, "batch", maps:get(timings, Mechanism)),
        fun take_cpus/1,
        integer(batch_units, 0, 0, ?MAX_UNITS),
        integer(batch_ns, 1000000, 1, ?MAX_UNITS),
        integer(batches, 30, 1, ?MAX_BATCHES),
        integer(warmup_batches, 5, 0, ?MAX_BATCHES),
        integer(verify_units, 1000, 0, ?MAX_CONTEXTS),
        integer(seed, 0, 0, 1 bsl 63 - 1)
        | [word(Name, Default, Choice) || {Name, Choice, Default} <- Parameters]
    ],
    {Taken, Left} = lists:mapfoldl(fun(Take, Rest) -> Take(Rest) end, Values, Takes),
    case maps:keys(Left) of
        [] -> ok;
        [Key | _] -> throw(kit_wire:refuse(unknown_key, "`~ts` is neither a key of `run` nor a parameter of ~s", [Key, maps:get(id, Mechanism)]))
    end,
    Own = #{mechanism => maps:get(id, Mechanism), parameters => [Name || {Name, _, _} <- Parameters]},
    Plan = maps:merge(maps:from_list(Taken), Own),
    case Plan of
        #{experiment := "switch", contexts := 1} when not is_map_key(control, Mechanism) ->
            throw(kit_wire:refuse(bad_value, "a ring needs at least two contexts: contexts=2 or more", []));
        _ ->
            {Plan, Mechanism}
    end.

%% Looked for before anything else is judged, so that even a refusal reaches the host.
report_fd(Words) ->
    Found = [list_to_integer(Digits) || "report_fd=" ++ Digits <- Words, digits(Digits)],
    case [Number || Number <- Found, Number =< ?MAX_DESCRIPTOR] of
        [Number | _] -> Number;
        [] -> 1
    end.

%% `describe` knows no key but report_fd.
check_describe(Words) ->
    {_, Left} = (integer(report_fd, 1, 0, ?MAX_DESCRIPTOR))(split(Words)),
    case maps:keys(Left) of
        [] -> ok;
        [Key | _] -> throw(kit_wire:refuse(unknown_key, "`~ts` is not a key of `describe`; only report_fd is", [Key]))
    end.

split(Words) -> lists:foldl(fun split/2, #{}, Words).

split(Word, Values) ->
    case string:split(Word, "=") of
        [[_ | _] = Key, Value] ->
            case re:run(Value, "^[A-Za-z0-9._,/+-]*$", [dollar_endonly]) of
                nomatch -> throw(kit_wire:refuse(bad_value, "the value of `~ts` may hold only letters, digits and . _ , / + -", [Key]));
                _ -> ok
            end,
            case Values of
                #{Key := _} -> throw(kit_wire:refuse(bad_value, "`~ts` is given twice; give it once", [Key]));
                _ -> Values#{Key => Value}
            end;
        _ ->
            throw(kit_wire:refuse(unknown_key, "`~ts` is not of the form key=value", [Word]))
    end.

find(Values, Mechanisms) ->
    case maps:take("mechanism", Values) of
        error ->
            throw(kit_wire:refuse(bad_value, "`mechanism` is missing; `describe` lists the mechanisms", []));
        {Id, Rest} ->
            case [Mechanism || Mechanism <- Mechanisms, maps:get(id, Mechanism) =:= Id] of
                [Mechanism] -> {Mechanism, Rest};
                [] -> throw(kit_wire:refuse(unknown_mechanism, "this probe has no mechanism `~ts`; `describe` lists those it has", [Id]))
            end
    end.

%% What follows gives functions that take one key out of the values; whatever is left at the end is unknown.

take(Key, Default, Values) ->
    case maps:take(atom_to_list(Key), Values) of
        error -> {Default, Values};
        Taken -> Taken
    end.

integer(Key, Default, Lowest, Highest) ->
    fun(Values) ->
        {Text, Rest} = take(Key, integer_to_list(Default), Values),
        case digits(Text) andalso list_to_integer(Text) of
            Number when is_integer(Number), Number >= Lowest, Number =< Highest -> {{Key, Number}, Rest};
            _ -> throw(kit_wire:refuse(bad_value, "`~s=~ts` must be an integer from ~b to ~b", [Key, Text, Lowest, Highest]))
        end
    end.

word(Key, Default, Words) ->
    fun(Values) ->
        {Text, Rest} = take(Key, Default, Values),
        case lists:member(Text, Words) of
            true -> {{Key, Text}, Rest};
            false -> throw(kit_wire:refuse(bad_value, "`~s=~ts` must be one of: ~s", [Key, Text, lists:join(", ", Words)]))
        end
    end.

take_cpus(Values) ->
    {Text, Rest} = take(cpus, "", Values),
    Parts = case Text of "" -> []; _ -> string:split(Text, ",", all) end,
    case lists:all(fun(Part) -> digits(Part) andalso list_to_integer(Part) =< ?MAX_CPU end, Parts) of
        true -> {{cpus, [list_to_integer(Part) || Part <- Parts]}, Rest};
        false -> throw(kit_wire:refuse(bad_value, "`cpus=~ts` must be a list of CPU numbers from 0 to ~b such as 0,1", [Text, ?MAX_CPU]))
    end.

most_units() -> ?MAX_UNITS.

digits(Text) -> Text =/= "" andalso length(Text) =< 19 andalso lists:all(fun(C) -> C >= $0 andalso C =< $9 end, Text).
