%% What the probe says about itself.
-module(kit_hello).
-export([send_hello/3, send_mechanisms/2, wrong_runtime/0]).

-define(OLDEST, 24).

%% Why no mechanism can run on this Erlang; null when they can.
wrong_runtime() ->
    Release = erlang:system_info(otp_release),
    case string:to_integer(Release) of
        {Number, _} when is_integer(Number), Number >= ?OLDEST -> null;
        _ -> lists:flatten(io_lib:format("needs Erlang/OTP ~b or newer, and this is ~s", [?OLDEST, Release]))
    end.

send_hello(Writer, Probe, Version) ->
    kit_wire:send(Writer, [
        {t, {text, "hello"}}, {protocol, 1}, {probe, {text, binary_to_list(Probe)}}, {version, {text, binary_to_list(Version)}},
        {runtime, {text, runtime()}}, {compiler, {text, compiler()}}, {flags, {text, "+S 1:1"}}, {pid, list_to_integer(os:getpid())},
        {clock, {[
            {name, {text, kit_clock:name()}}, {ticks_per_second, kit_clock:ticks_per_second()},
            {read_cost_ticks, kit_clock:read_cost()}
        ]}},
        {counter, {[{name, {text, "os:perf_counter"}}]}}
    ]).

runtime() ->
    lists:flatten(io_lib:format("Erlang/OTP ~s, ERTS ~s, ~s", [
        erlang:system_info(otp_release), erlang:system_info(version),
        case catch erlang:system_info(emu_flavor) of jit -> "JIT"; _ -> "interpreter" end
    ])).

%% Of the emulator.
compiler() ->
    case erlang:system_info(c_compiler_used) of
        {Name, Version} when is_tuple(Version) ->
            lists:flatten([atom_to_list(Name), " ", lists:join(".", [integer_to_list(Part) || Part <- tuple_to_list(Version)])]);
        Other ->
            lists:flatten(io_lib:format("~p", [Other]))
    end.

%% Answers `describe`.
send_mechanisms(Writer, Mechanisms) ->
    Answer =
        case wrong_runtime() of
            null -> [{available, true}];
            Reason -> [{available, false}, {code, {text, "unsupported_here"}}, {reason, {text, Reason}}]
        end,
    [
        kit_wire:send(Writer, [
            {t, {text, "mechanism"}}, {id, {text, Id}}, {experiments, [{text, Word} || Word <- Experiments]},
            {timings, [{text, Word} || Word <- Timings]},
            {parameters, [{text, atom_to_list(Name)} || {Name, _} <- maps:get(parameters, Mechanism, [])]}
        | Answer])
     || #{id := Id, experiments := Experiments, timings := Timings} = Mechanism <- Mechanisms
    ].
