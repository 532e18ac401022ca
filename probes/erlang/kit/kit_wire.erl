%% The messages of PROTOCOL.md, section 2: one JSON object per line, ASCII, integers only.
%%
%% A message is a list of {Key, Value}. Values: integers, null, true, false, {text, Characters}, [..] for lists of values,
%% {[{Key, Value}]} for objects.
-module(kit_wire).
-export([open/1, send/2, ticks_per_line/0, send_samples/5, send_histogram/4, send_end/2, send_end/3, encode/1]).
-export([refuse/3, unsupported/3, failed/3]).

%% A line stays below 65 536 bytes even if every number had 20 digits.
-define(TICKS_PER_LINE, 3000).
%% With what the ruler took beside them:
-define(SAMPLES_PER_LINE, 1400).
-define(BUCKETS_PER_LINE, 1400).

%% Why a run does not take place or came to nothing; it is thrown and becomes the `end` message.
%% The plan is bad:
refuse(Code, Format, Arguments) -> {refusal, refused, Code, text(Format, Arguments)}.
%% The plan is fine, but this machine cannot carry it out:
unsupported(Code, Format, Arguments) -> {refusal, unsupported, Code, text(Format, Arguments)}.
%% Something broke:
failed(Code, Format, Arguments) -> {refusal, failed, Code, text(Format, Arguments)}.

text(Format, Arguments) -> {text, lists:flatten(io_lib:format(Format, Arguments))}.

%% An inherited descriptor has no other way into Erlang than its name, or a port, which would write some time later.
open(Descriptor) ->
    case file:open("/dev/fd/" ++ integer_to_list(Descriptor), [append, raw, binary]) of
        {ok, File} -> File;
        {error, Reason} -> give_up(Reason)
    end.

%% A host that no longer listens is the end of the run: nothing could be reported about it.
send(File, Fields) ->
    case file:write(File, [encode({Fields}), $\n]) of
        ok -> ok;
        {error, Reason} -> give_up(Reason)
    end.

give_up(Reason) ->
    io:format(standard_error, "cannot write a message: ~p~n", [Reason]),
    erlang:halt(1, [{flush, false}]).

ticks_per_line() -> ?TICKS_PER_LINE.

%% Writes the ticks of one phase, with what the ruler took beside them, and gives the next sequence number.
send_samples(_, Seq, _, _, {[], []}) ->
    Seq;
send_samples(File, Seq, Phase, Units, {Ticks, Beside}) ->
    {Part, Rest} = split(?SAMPLES_PER_LINE, Ticks),
    {PartBeside, RestBeside} = split(?SAMPLES_PER_LINE, Beside),
    send(File, [
        {t, {text, "samples"}}, {seq, Seq}, {phase, {text, Phase}}, {units, Units}, {ticks, Part}, {rulers, {[{width, PartBeside}]}}
    ]),
    send_samples(File, Seq + 1, Phase, Units, {Rest, RestBeside}).

%% Writes the histogram of one phase and gives the next sequence number.
send_histogram(File, Seq, Phase, Histogram) ->
    send_buckets(File, Seq, Phase, kit_histogram:totals(Histogram), kit_histogram:buckets(Histogram)).

send_buckets(_, Seq, _, _, []) ->
    Seq;
send_buckets(File, Seq, Phase, Totals, Buckets) ->
    {Part, Rest} = split(?BUCKETS_PER_LINE, Buckets),
    send(File, [{t, {text, "histogram"}}, {seq, Seq}, {phase, {text, Phase}}, {buckets, Part} | Totals]),
    send_buckets(File, Seq + 1, Phase, Totals, Rest).

split(Most, List) when length(List) > Most -> lists:split(Most, List);
split(_, List) -> {List, []}.

%% Says how it ended.
send_end(File, Samples) ->
    send(File, [{t, {text, "end"}}, {status, {text, "ok"}}, {samples, Samples}]).

send_end(File, Samples, {refusal, Status, Code, Detail}) ->
    send(File, [
        {t, {text, "end"}}, {status, {text, atom_to_list(Status)}}, {samples, Samples},
        {code, {text, atom_to_list(Code)}}, {detail, Detail}
    ]).

encode(Integer) when is_integer(Integer) -> integer_to_list(Integer);
encode(Word) when Word =:= null; Word =:= true; Word =:= false -> atom_to_list(Word);
encode({text, Characters}) -> [$", [escape(Character) || Character <- Characters], $"];
encode({Fields}) -> [${, lists:join($,, [[$", atom_to_list(Key), $", $:, encode(Value)] || {Key, Value} <- Fields]), $}];
encode(List) when is_list(List) -> [$[, lists:join($,, [encode(Value) || Value <- List]), $]].

escape($") -> "\\\"";
escape($\\) -> "\\\\";
escape(Character) when Character >= 32, Character < 127 -> Character;
escape(Character) when Character < 16#10000 -> io_lib:format("\\u~4.16.0b", [Character]);
escape(Character) ->
    Above = Character - 16#10000,
    io_lib:format("\\u~4.16.0b\\u~4.16.0b", [16#d800 + (Above bsr 10), 16#dc00 + (Above band 16#3ff)]).
