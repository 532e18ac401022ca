%% control/erlang-yield: the only process that can run gives its scheduler away: into the run queue, through the scheduler, back to itself.
-module(control_erlang_yield).
-define(ID, "control/erlang-yield").
-include("alone.hrl").

repeat(0, Token) ->
    Token;
repeat(Units, Token) ->
    erlang:yield(),
    repeat(Units - 1, Token + 1).
