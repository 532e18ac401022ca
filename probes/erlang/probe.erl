%% The Erlang probe of switchcost; PROTOCOL.md says how it is spoken to.
-module(probe).
-export([main/0]).

-define(NAME, <<"erlang">>).
-define(VERSION, <<"1">>).

%% A process of its own: the one that -s calls holds up the start of the system until it returns.
main() ->
    spawn(fun() -> erlang:halt(status(init:get_plain_arguments()), [{flush, false}]) end).

status(Words) ->
    Writer = kit_wire:open(kit_plan:report_fd(Words)),
    kit_hello:send_hello(Writer, ?NAME, ?VERSION),
    try
        obey(Writer, Words),
        0
    catch
        throw:{refusal, unsupported, _, _} = Refusal ->
            kit_wire:send_end(Writer, 0, Refusal),
            0;
        throw:{refusal, _, _, _} = Refusal ->
            kit_wire:send_end(Writer, 0, Refusal),
            1;
        Class:Reason:Stack ->
            io:format(standard_error, "~p ~p~n~p~n", [Class, Reason, Stack]),
            kit_wire:send_end(Writer, 0, kit_wire:failed(self_check_failed, "the probe crashed; its log says where", [])),
            1
    end.

%% `describe` or `run`; returns only after `end` with status ok.
obey(Writer, ["describe" | Words]) ->
    kit_plan:check_describe(Words),
    kit_hello:send_mechanisms(Writer, mechanism_list:all()),
    kit_wire:send_end(Writer, 0);
obey(Writer, ["run" | Words]) ->
    {Plan, Mechanism} = kit_plan:parse(Words, mechanism_list:all()),
    kit_measure:carry_out(Writer, Plan, Mechanism);
obey(_, [Verb | _]) ->
    throw(kit_wire:refuse(bad_value, "the first word must be `describe` or `run`, not `~ts`", [Verb]));
obey(_, []) ->
    throw(kit_wire:refuse(bad_value, "the first word must be `describe` or `run`", [])).
