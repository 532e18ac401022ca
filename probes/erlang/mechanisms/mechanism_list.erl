%% One module a mechanism. Sorted by id; a test checks it.
-module(mechanism_list).
-export([all/0]).

all() ->
    [control_erlang_message:mechanism(), control_erlang_yield:mechanism(), fiber_erlang:mechanism()].
