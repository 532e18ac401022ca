%% What the controls share: one process does the units alone. A module that includes this defines ID and
%% repeat(Units, Token), which does so many units and gives the token after them. The state is the token, units done since reset.
-export([mechanism/0, set_up/1, lap/1, run/2, run_each/3, reset/1, claim/1, verify/3]).

mechanism() ->
    #{id => ?ID, module => ?MODULE, experiments => ["switch"], timings => ["batch", "each"]}.

set_up(_) -> 0.

lap(_) -> 1.

run(Units, Token) -> repeat(Units, Token).

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
