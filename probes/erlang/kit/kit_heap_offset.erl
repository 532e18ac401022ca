%% Where contexts lie inside their pages: behind a drawn number of processes, since the first free places of a fresh emulator
%% are the same in every start. The seed is another in every start.
-module(kit_heap_offset).
-export([parameter/0, take/1]).

%% A process and its first heap have sizes that are not powers of two: one more moves what comes behind to another place in the page.
-define(MOST, 256).

parameter() -> {heap_offset, ["drawn", "fixed"]}.

%% For a mechanism that makes contexts which stay: makes processes that wait as long as the emulator lives, and gives them. None
%% where the plan says so.
take(#{heap_offset := "drawn", seed := Seed}) ->
    {Number, _} = rand:uniform_s(?MOST, rand:seed_s(exsss, Seed)),
    [spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(2, Number)];
take(_) ->
    [].
