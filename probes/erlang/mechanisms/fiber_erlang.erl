%% fiber/erlang: processes send a token round a ring. The driver's process is context 0.
%%
%% The token counts every switch. Each context compares it with the number it is due, which advances by one lap a turn and so is
%% also its count of turns. What is not a number is a command and takes the path of a wrong token.
-module(fiber_erlang).
-export([mechanism/0, set_up/1, lap/1, run/2, run_each/3, reset/1, claim/1, verify/3, hold/1]).
-export([member/4, member_each/5, created/2, held/1]).

%% A process with its first heap (2.7 kB observed).
-define(BYTES_EACH, 3000).

mechanism() ->
    #{id => "fiber/erlang", module => ?MODULE, experiments => ["switch", "create", "footprint"], timings => ["batch", "each"],
        parameters => [kit_heap_offset:parameter()]}.

%% State of the ring: first member, contexts, the token as the driver knows it, and a cell for the counter as read by the sender.
-record(ring, {first, lap, token = 0, stamp, histogram}).
%% State of `create`: the token.
-record(creation, {token = 0}).

set_up(#{experiment := "create"}) ->
    #creation{};
set_up(#{contexts := Contexts, timing := Timing} = Plan) ->
    kit_heap_offset:take(Plan),
    kit_measure:check_memory(Contexts, ?BYTES_EACH),
    Stamp = atomics:new(1, []),
    Make = fun(Index, Next) ->
        case Timing of
            "each" -> spawn_link(?MODULE, member_each, [Next, Index, Contexts, Index, {Stamp, none}]);
            "batch" -> spawn_link(?MODULE, member, [Next, Index, Contexts, Index])
        end
    end,
    First = lists:foldl(Make, self(), lists:seq(Contexts - 1, 1, -1)),
    #ring{first = First, lap = Contexts, stamp = Stamp}.

lap(#ring{lap = Lap}) -> Lap;
lap(#creation{}) -> 1.

%% A context other than the driver.
member(Next, Due, Lap, Index) ->
    receive
        Due ->
            Next ! Due + 1,
            member(Next, Due + Lap, Lap, Index);
        Command ->
            member(Next, obey(Command, Next, Due, Lap, Index), Lap, Index)
    end.

member_each(Next, Due, Lap, Index, {Stamp, Histogram} = Each) ->
    receive
        Due ->
            Arrived = kit_clock:now(),
            kit_histogram:arrive(Histogram, Arrived - atomics:get(Stamp, 1)),
            atomics:put(Stamp, 1, kit_clock:now()),
            Next ! Due + 1,
            member_each(Next, Due + Lap, Lap, Index, Each);
        {histogram, New} = Command ->
            Next ! Command,
            member_each(Next, Due, Lap, Index, {Stamp, New});
        Command ->
            member_each(Next, obey(Command, Next, Due, Lap, Index), Lap, Index, Each)
    end.

%% Passes a command on and gives what the context is due next.
obey(reset, Next, _, _, Index) ->
    Next ! reset,
    Index;
obey({publish, Turns}, Next, Due, Lap, _) ->
    Next ! {publish, kit_evidence:count(Due div Lap, Turns)},
    Due;
obey({visit, Sequence, Trace}, Next, Due, _, Index) ->
    kit_evidence:visit(Trace, Sequence, Index),
    Next ! {visit, Sequence + 1, Trace},
    Due;
obey(Other, Next, Due, _, Index) ->
    Next ! {not_due, Index, Other},
    Due.

%% What the driver does with anything but the token that it was due.
broken(Message) ->
    io:format(standard_error, "unexpected message: ~p~n", [Message]),
    throw(kit_wire:failed(self_check_failed, "a context received another token than the one it was due", [])).

run(Units, #ring{first = First, lap = Lap, token = Token} = Ring) ->
    Ring#ring{token = laps(Units div Lap, First, Lap, Token)};
run(Units, #creation{token = Token}) ->
    #creation{token = create(Units, Token)}.

laps(0, _, _, Token) ->
    Token;
laps(Laps, First, Lap, Token) ->
    First ! Token + 1,
    Due = Token + Lap,
    receive
        Due -> laps(Laps - 1, First, Lap, Due);
        Other -> broken(Other)
    end.

%% With one scheduler a created process has ended before its creator goes on: it sends, returns and exits in one turn.
create(0, Token) ->
    Token;
create(Units, Token) ->
    spawn(?MODULE, created, [self(), Token]),
    Due = Token + 1,
    receive
        Due -> create(Units - 1, Due);
        Other -> broken(Other)
    end.

created(Creator, Token) ->
    Creator ! Token + 1.

run_each(Units, Histogram, #ring{first = First, lap = Lap, token = Token, stamp = Stamp, histogram = Known} = Ring) ->
    Histogram =:= Known orelse round_trip(First, {histogram, Histogram}),
    Ring#ring{token = laps_each(Units div Lap, First, Lap, Token, Stamp, Histogram), histogram = Histogram};
run_each(Units, Histogram, #creation{token = Token}) ->
    #creation{token = create_each(Units, Token, Histogram)}.

laps_each(0, _, _, Token, _, _) ->
    Token;
laps_each(Laps, First, Lap, Token, Stamp, Histogram) ->
    atomics:put(Stamp, 1, kit_clock:now()),
    First ! Token + 1,
    Due = Token + Lap,
    receive
        Due ->
            Arrived = kit_clock:now(),
            kit_histogram:arrive(Histogram, Arrived - atomics:get(Stamp, 1)),
            laps_each(Laps - 1, First, Lap, Due, Stamp, Histogram);
        Other ->
            broken(Other)
    end.

create_each(0, Token, _) ->
    Token;
create_each(Units, Token, Histogram) ->
    Begin = kit_clock:now(),
    Due = create(1, Token),
    kit_histogram:arrive(Histogram, kit_clock:now() - Begin),
    create_each(Units - 1, Due, Histogram).

reset(#ring{first = First} = Ring) ->
    round_trip(First, reset),
    Ring#ring{token = 0};
reset(#creation{}) ->
    #creation{}.

claim(#ring{first = First, lap = Lap, token = Token} = Ring) ->
    %% The driver's own turns are its laps.
    {publish, Turns} = round_trip(First, {publish, kit_evidence:count(Token div Lap, kit_evidence:no_turns())}),
    {Turns, Token, Ring};
%% Every created process adds one to the token, which is how it counts its turn.
claim(#creation{token = Token} = Creation) ->
    {{Token, 1, 1, Token}, Token, Creation}.

verify(_, _, #creation{}) ->
    none;
verify(Units, Trace, #ring{first = First, lap = Lap} = Ring) ->
    kit_evidence:visit(Trace, 0, 0),
    visits(Units div Lap, 1, First, Trace),
    Ring.

visits(0, _, _, _) ->
    ok;
visits(Laps, Sequence, First, Trace) ->
    {visit, Back, Trace} = round_trip(First, {visit, Sequence, Trace}),
    kit_evidence:visit(Trace, Back, 0),
    visits(Laps - 1, Back + 1, First, Trace).

%% Sends a command round once and gives what comes back.
round_trip(First, Command) ->
    First ! Command,
    receive
        {not_due, _, _} = Message -> broken(Message);
        Back -> Back
    end.

%% Processes that wait for a message that never comes. The counter is read when each of them has run.
hold(Contexts) ->
    kit_measure:check_memory(Contexts, ?BYTES_EACH),
    Ran = atomics:new(1, []),
    spawn_all(Contexts, Ran),
    wait_for(Contexts, Ran).

spawn_all(0, _) ->
    ok;
spawn_all(Contexts, Ran) ->
    spawn(?MODULE, held, [Ran]),
    spawn_all(Contexts - 1, Ran).

wait_for(Contexts, Ran) ->
    case atomics:get(Ran, 1) of
        Contexts -> Contexts;
        _ -> erlang:yield(), wait_for(Contexts, Ran)
    end.

held(Ran) ->
    atomics:add(Ran, 1, 1),
    receive
        stop -> ok
    end.
