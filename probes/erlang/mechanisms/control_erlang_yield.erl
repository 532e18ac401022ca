%% control/erlang-yield: the only process that can run gives its scheduler away: into the run queue, through the scheduler, back to itself.
-module(control_erlang_yield).
-export([mechanism/0, set_up/1, lap/1, run/2, run_each/3, reset/1, claim/1, verify/3]).

mechanism() ->
    #{id => "control/erlang-yield", module => ?MODULE, control => true, experiments => ["switch"], timings => ["batch", "each"]}.

%% The state is the token: units done since reset.
set_up(_) -> 0.

lap(_) -> 1.

run(Units, Token) -> repeat(Units, Token).

repeat(0, Token) ->
    Token;
repeat(Units, Token) ->
    erlang:yield(),
    repeat(Units - 1, Token + 1).

run_each(0, _, Token) ->
    Token;
run_each(Units, Histogram, Token) ->
    Begin = kit_clock:now(),
    Next = repeat(1, Token),
    kit_histogram:arrive(Histogram, kit_clock:now() - Begin),
    run_each(Units - 1, Histogram, Next).

reset(_) -> 0.

claim(Token) -> {kit_evidence:count(Token, kit_evidence:no_turns()), Token, Token}.

verify(_, _, _) -> none.
