%% One `run`, as asked: parsed once, never changed. What calibration makes of it stands in the `plan` message.
-module(kit_plan).
-export([parse/2, report_fd/1, check_describe/1]).

-define(PROTOCOL, "1").

%% Reads the words after `run`, in any order, and gives {Plan, Mechanism}. The mechanism must be known before its parameters can be
%% told from typing errors, so it is looked for first.
parse(Words, Mechanisms) ->
    {{mechanism, Id}, Values} = (text(mechanism))(split(Words)),
    Mechanism = find(Id, Mechanisms),
    Parameters = maps:get(parameters, Mechanism, []),
    Numbers = [contexts, batch_units, batch_ns, batches, warmup_batches, verify_units, seed],
    Takes = [
        word(protocol, [?PROTOCOL]),
        word(experiment, maps:get(experiments, Mechanism)),
        word(timing, maps:get(timings, Mechanism)),
        fun take_cpus/1
        | [integer(Key) || Key <- Numbers] ++ [word(Name, Choice) || {Name, Choice} <- Parameters]
    ],
    {Taken, Left} = lists:mapfoldl(fun(Take, Rest) -> Take(Rest) end, without_report_fd(Values), Takes),
    case maps:keys(Left) of
        [] -> ok;
        [Key | _] -> throw(kit_wire:refuse(unknown_key, "`~ts` is neither a key of `run` nor a parameter of ~s", [Key, Id]))
    end,
    Own = #{mechanism => Id, parameters => [Name || {Name, _} <- Parameters]},
    {maps:merge(maps:from_list(Taken), Own), Mechanism}.

%% Looked for before anything else is judged, so that even a refusal reaches the host.
report_fd(Words) ->
    case [list_to_integer(Digits) || "report_fd=" ++ Digits <- Words, digits(Digits)] of
        [Number | _] -> Number;
        [] -> 1
    end.

%% `describe` knows no key but report_fd.
check_describe(Words) ->
    case maps:keys(without_report_fd(split(Words))) of
        [] -> ok;
        [Key | _] -> throw(kit_wire:refuse(unknown_key, "`~ts` is not a key of `describe`; only report_fd is", [Key]))
    end.

%% The one key that has a default.
without_report_fd(#{"report_fd" := _} = Values) ->
    {_, Left} = (integer(report_fd))(Values),
    Left;
without_report_fd(Values) ->
    Values.

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

find(Id, Mechanisms) ->
    case [Mechanism || Mechanism <- Mechanisms, maps:get(id, Mechanism) =:= Id] of
        [Mechanism] -> Mechanism;
        [] -> throw(kit_wire:refuse(unknown_mechanism, "this probe has no mechanism `~ts`; `describe` lists those it has", [Id]))
    end.

%% What follows gives functions that take one key out of the values; whatever is left at the end is unknown.

text(Key) ->
    fun(Values) ->
        case maps:take(atom_to_list(Key), Values) of
            error -> throw(kit_wire:refuse(bad_value, "`~s` is missing; a plan has every key, and every parameter that `describe` lists", [Key]));
            {Text, Rest} -> {{Key, Text}, Rest}
        end
    end.

integer(Key) ->
    fun(Values) ->
        {{_, Text}, Rest} = (text(Key))(Values),
        digits(Text) orelse throw(kit_wire:refuse(bad_value, "`~s=~ts` must be an integer", [Key, Text])),
        {{Key, list_to_integer(Text)}, Rest}
    end.

word(Key, Words) ->
    fun(Values) ->
        {{_, Text}, _} = Taken = (text(Key))(Values),
        lists:member(Text, Words) orelse throw(kit_wire:refuse(bad_value, "`~s=~ts` must be one of: ~s", [Key, Text, lists:join(", ", Words)])),
        Taken
    end.

take_cpus(Values) ->
    {{_, Text}, Rest} = (text(cpus))(Values),
    Parts = case Text of "" -> []; _ -> string:split(Text, ",", all) end,
    lists:all(fun digits/1, Parts) orelse throw(kit_wire:refuse(bad_value, "`cpus=~ts` must be a list of CPU numbers such as 0,1", [Text])),
    {{cpus, [list_to_integer(Part) || Part <- Parts]}, Rest}.

digits(Text) -> Text =/= "" andalso length(Text) =< 19 andalso lists:all(fun(C) -> C >= $0 andalso C =< $9 end, Text).
