%% Carries out a plan and reports everything but `hello`.
%%
%% A mechanism is a map with `module`, whose functions are
%%   set_up(Plan) -> State           does everything slow
%%   lap(State)                      smallest number of units after which everything stands where it began
%%   run(Units, State) -> State      the measured region: no clock, no branch on the plan
%%   run_each(Units, Histogram, State) -> State    the same, recording every unit
%%   reset(State) -> State           sets the count of turns to zero
%%   claim(State) -> {Turns, Token, State}         since reset
%%   verify(Units, Trace, State) -> State | none   none where the experiment has no ring
%%   hold(Contexts) -> Ran           of experiment footprint: makes so many contexts, lets each run once and suspend, counts those that ran
%% They run in the calling process, which is context 0, and throw a refusal when a token is not the one that was due.
-module(kit_measure).
-export([carry_out/3, check_memory/2, measure/3, send_plan/3]).

%% Reading a CPU takes some 30 us here, so a long verification pass would take minutes.
-define(MOST_VISITS, 50000).
%% The largest k of PROTOCOL.md, section 1.
-define(MOST_UNITS, 1000000000000).

carry_out(Writer, #{experiment := Experiment} = Plan, #{module := Module}) ->
    check_placement(Plan),
    case kit_hello:wrong_runtime() of
        null -> ok;
        Reason -> throw(kit_wire:unsupported(unsupported_here, "~s", [Reason]))
    end,
    kit_experiments:carry_out(Experiment, Writer, Plan, Module).

measure(Writer, Plan, Module) ->
    State = Module:set_up(Plan),
    {Units, Calibrated} = calibrate(Plan, Module, State),
    send_plan(Writer, Plan, Units),
    Record = new_record(Plan),
    Ready = Module:reset(Calibrated),
    Reader = kit_machine:cpu_reader(),
    CpuBefore = cpu(Reader),
    erlang:garbage_collect(),
    Begin = kit_evidence:observe_begin(),
    Done = batches(Plan, Module, Units, Record, Ready),
    End = kit_evidence:observe_end(Begin),
    CpuAfter = cpu(Reader),
    {Turns, Token, Claimed} = Module:claim(Done),
    Samples = report(Writer, Plan, Units, Record),
    {Observed, WhyObserved} = kit_evidence:between(Begin, End),
    {Verified, WhyVerified, Seen} = verify(Plan, Module, Claimed),
    Cpus = case Reader of null -> null; _ -> lists:usort([CpuBefore, CpuAfter | Seen]) end,
    #{batches := Batches, warmup_batches := Warmup} = Plan,
    kit_wire:send(Writer, [
        {t, {text, "evidence"}}, {units, (Batches + Warmup) * Units}, {turns, kit_evidence:turns(Turns)}, {token, Token},
        {address_spaces, kit_evidence:address_spaces(Turns)}, {cpus, Cpus}, {why, {WhyObserved ++ WhyVerified}}
        | Observed ++ Verified
    ]),
    kit_wire:send_end(Writer, Samples).

cpu(null) -> null;
cpu(Reader) -> Reader().

%% Processes cannot be pinned one by one, and pinning the emulator is the host's duty; a plan that says one CPU while it may run
%% on others would be believed.
check_placement(#{cpus := []}) ->
    ok;
check_placement(#{cpus := [Cpu]}) ->
    Asked = integer_to_list(Cpu),
    case kit_machine:allowed_cpus() of
        Allowed when Allowed =:= null; Allowed =:= Asked ->
            ok;
        _ ->
            throw(kit_wire:failed(set_up_failed,
                "the plan says CPU ~b, but the process is not restricted to it; start it with taskset -c ~b", [Cpu, Cpu]))
    end;
check_placement(_) ->
    throw(kit_wire:refuse(bad_value, "Erlang processes cannot be pinned one by one; give one CPU or none in `cpus`", [])).

%% Throws the answer to a ring for which there is no room.
check_memory(Contexts, BytesEach) ->
    Available = kit_machine:available_memory(),
    Limit = erlang:system_info(process_limit) - 100,
    if
        Available > 0, Contexts * BytesEach > Available ->
            throw(kit_wire:unsupported(limit_reached, "~b processes need about ~b MB and ~b MB are available; ask for fewer contexts",
                [Contexts, Contexts * BytesEach bsr 20, Available bsr 20]));
        Contexts > Limit ->
            throw(kit_wire:unsupported(limit_reached, "the emulator was started with room for ~b processes; ask for fewer contexts", [Limit]));
        true ->
            ok
    end.

batch(Module, Units, Histogram, State) ->
    Begin = kit_clock:now(),
    Next = case Histogram of none -> Module:run(Units, State); _ -> Module:run_each(Units, Histogram, State) end,
    {kit_clock:now() - Begin, Next}.

%% Rounds what was asked up to whole laps, or doubles by the rule of PROTOCOL.md, section 1.
calibrate(#{batch_units := 0, batch_ns := Ns} = Plan, Module, State) ->
    Goal = (Ns * kit_clock:ticks_per_second() + 999999999) div 1000000000,
    calibrate(Goal, Module, histogram(Plan), Module:lap(State), 0, State);
calibrate(#{batch_units := Asked}, Module, State) ->
    Lap = Module:lap(State),
    {(Asked + Lap - 1) div Lap * Lap, State}.

calibrate(_, _, _, Units, 3, State) ->
    {Units, State};
calibrate(Goal, Module, Histogram, Units, LongEnough, State) ->
    case batch(Module, Units, Histogram, State) of
        {Ticks, Next} when Ticks >= Goal -> calibrate(Goal, Module, Histogram, Units, LongEnough + 1, Next);
        {_, Next} when 2 * Units =< ?MOST_UNITS -> calibrate(Goal, Module, Histogram, 2 * Units, 0, Next);
        _ -> throw(kit_wire:unsupported(limit_reached, "~b units last less than batch_ns; ask for a smaller batch_ns", [Units]))
    end.

histogram(#{timing := "each"}) -> kit_histogram:new();
histogram(_) -> none.

send_plan(Writer, Plan, Units) ->
    #{mechanism := Id, experiment := Experiment, contexts := Contexts, timing := Timing, cpus := Cpus, batches := Batches,
        warmup_batches := Warmup, parameters := Parameters} = Plan,
    kit_wire:send(Writer, [
        {t, {text, "plan"}}, {mechanism, {text, Id}}, {experiment, {text, Experiment}}, {contexts, Contexts}, {timing, {text, Timing}},
        {cpus, Cpus}, {batch_units, Units}, {batches, Batches}, {warmup_batches, Warmup},
        {parameters, {[{Name, {text, maps:get(Name, Plan)}} || Name <- Parameters]}}
    ]).

%% Where the ticks go: outside the heap, so that storing them allocates nothing.
new_record(#{batches := Batches, warmup_batches := Warmup} = Plan) ->
    {{atomics:new(Warmup + Batches, []), kit_ruler:new(Plan)}, histogram(Plan), histogram(Plan)}.

%% The silence of PROTOCOL.md.
batches(#{batches := Batches, warmup_batches := Warmup}, Module, Units, {Samples, HistogramWarmup, HistogramMeasure}, State) ->
    Warm = phase(Module, Units, Samples, 1, Warmup, HistogramWarmup, State),
    Done = phase(Module, Units, Samples, Warmup + 1, Warmup + Batches, HistogramMeasure, Warm),
    {_, Rulers} = Samples,
    kit_ruler:read(Rulers, Warmup + Batches + 1),
    Done.

phase(Module, Units, Samples, From, To, Histogram, State) ->
    Clock = kit_clock:now(),
    Next = repeat(Module, Units, Samples, From, To, Histogram, State),
    Histogram =/= none andalso kit_histogram:span(Histogram, kit_clock:now() - Clock),
    Next.

repeat(_, _, _, From, To, _, State) when From > To ->
    State;
repeat(Module, Units, {Ticks, Rulers} = Samples, From, To, Histogram, State) ->
    kit_ruler:read(Rulers, From),
    {Elapsed, Next} = batch(Module, Units, Histogram, State),
    atomics:put(Ticks, From, Elapsed),
    repeat(Module, Units, Samples, From + 1, To, Histogram, Next).

report(Writer, #{timing := "each"}, _, {_, Warmup, Measure}) ->
    Seq = kit_wire:send_histogram(Writer, 0, "warmup", Warmup),
    kit_wire:send_histogram(Writer, Seq, "measure", Measure),
    kit_histogram:count(Warmup) + kit_histogram:count(Measure);
report(Writer, #{batches := Batches, warmup_batches := Warmup}, Units, {{Ticks, Rulers}, _, _}) ->
    Read = fun(From, To) -> {[atomics:get(Ticks, N) || N <- lists:seq(From, To)], kit_ruler:beside(Rulers, From, To)} end,
    Seq = kit_wire:send_samples(Writer, 0, "warmup", Units, Read(1, Warmup)),
    kit_wire:send_samples(Writer, Seq, "measure", Units, Read(Warmup + 1, Warmup + Batches)),
    Warmup + Batches.

%% {Fields, Why, CPUs seen}.
verify(#{verify_units := 0}, _, _) ->
    {[], [], []};
verify(#{verify_units := Asked, contexts := Contexts}, Module, State) ->
    Lap = Module:lap(State),
    case (Asked + Lap - 1) div Lap * Lap of
        Units when Units > ?MOST_VISITS -> unverified("reading the CPU at every hop of so long a ring would take minutes");
        Units -> verify_units(Module, Units, Contexts, kit_evidence:new_trace(Units), State)
    end.

verify_units(_, _, _, null, _) ->
    unverified("the CPU of a scheduler can be read from /proc only, which this system does not have");
verify_units(Module, Units, Contexts, Trace, State) ->
    case Module:verify(Units, Trace, State) of
        none ->
            {[], [], []};
        _ ->
            {Hops, Migrations} = kit_evidence:judge(Trace, Contexts),
            {[{hops, Hops}, {migrations, Migrations}], [], kit_evidence:cpus(Trace)}
    end.

unverified(Reason) ->
    {[{hops, null}, {migrations, null}], [{hops, {text, Reason}}, {migrations, {text, Reason}}], []}.
