%% A ruler: a fixed piece of work that has nothing to do with the mechanism. What it takes right before and right after a batch
%% says how fast the machine was then, whatever the batch itself says.
%%
%% One is enough: what the emulator makes of a chain of dependent steps is mostly checks, of which a core takes several per cycle.
%% A call of the kernel is not among them: Erlang has none that is cheap and direct.
-module(kit_ruler).
-export([new/1, read/2, beside/3]).
-export([width/7]).

%% A reading takes four microseconds, of which a step of the clock is little. The untimed steps come before: after a batch the code is
%% anywhere but in the nearest cache.
-define(STEPS, 1000).
-define(UNTIMED, 100).

%% Where the readings before every batch and after the last go.
new(#{timing := "each"}) -> none;
new(#{batches := Batches, warmup_batches := Warmup}) -> atomics:new(Warmup + Batches + 1, []).

%% Before batch N, which counts from 1. The process gives its turn away first, so that it does not end within the ruler.
read(none, _) ->
    ok;
read(Rulers, N) ->
    erlang:yield(),
    ?MODULE:width(?UNTIMED, 1, 2, 3, 4, 5, 6),
    kit_clock:now(),
    Begin = kit_clock:now(),
    ?MODULE:width(?STEPS, 1, 2, 3, 4, 5, 6),
    atomics:put(Rulers, N, kit_clock:now() - Begin).

%% Steps of which a core takes several per cycle: a neighbour on the same core takes its share of them. Called with the module's name, so
%% that the compiler does not leave out what nobody wants.
width(0, A, B, C, D, E, F) -> A + B + C + D + E + F;
width(Steps, A, B, C, D, E, F) -> width(Steps - 1, A + 1, B + 1, C + 1, D + 1, E + 1, F + 1).

%% The slower of that before and that after of these batches.
beside(Rulers, From, To) -> [max(atomics:get(Rulers, N), atomics:get(Rulers, N + 1)) || N <- lists:seq(From, To)].
