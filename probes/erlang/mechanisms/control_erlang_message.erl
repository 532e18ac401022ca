%% control/erlang-message: a process sends itself a message and takes it out: no other process, no scheduler.
-module(control_erlang_message).
-define(ID, "control/erlang-message").
-include("alone.hrl").

repeat(0, Token) ->
    Token;
repeat(Units, Token) ->
    self() ! Token + 1,
    Due = Token + 1,
    receive
        Due -> repeat(Units - 1, Due)
    end.
