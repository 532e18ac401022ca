%% One module a mechanism. Sorted by id; a test checks it.
-module(mechanism_list).
-export([all/0]).

all() ->
    [fiber_erlang:mechanism()].
