%% The histogram of timing=each. It lies outside every heap and has constant size, so that recording never allocates and any
%% process can record.
-module(kit_histogram).
-export([new/0, arrive/2, span/2, count/1, totals/1, buckets/1, bucket_of/1, lower_edge/1]).

%% Below 2^b every value has its own bucket, above it 2^b buckets share a power of two: at most 0.8 % wide.
-define(BITS, 7).
-define(BUCKETS, ((64 - ?BITS) bsl ?BITS)).

%% Places behind the buckets.
-define(COUNT, ?BUCKETS + 1).
-define(SUM, ?BUCKETS + 2).
-define(MIN, ?BUCKETS + 3).
-define(MAX, ?BUCKETS + 4).
-define(PAIR_SUM, ?BUCKETS + 5).
-define(SPAN, ?BUCKETS + 6).

new() ->
    Cells = atomics:new(?BUCKETS + 6, []),
    atomics:put(Cells, ?MIN, 1 bsl 62),
    Cells.

%% Records an interval that a context read as its first act after it came to run. Then times two readings with nothing in
%% between: what the reading itself adds to every interval.
arrive(Cells, Interval) ->
    atomics:add(Cells, bucket_of(Interval) + 1, 1),
    atomics:add(Cells, ?COUNT, 1),
    atomics:add(Cells, ?SUM, Interval),
    case atomics:get(Cells, ?MIN) of
        Min when Interval < Min -> atomics:put(Cells, ?MIN, Interval);
        _ -> ok
    end,
    case atomics:get(Cells, ?MAX) of
        Max when Interval > Max -> atomics:put(Cells, ?MAX, Interval);
        _ -> ok
    end,
    First = kit_clock:now(),
    atomics:add(Cells, ?PAIR_SUM, kit_clock:now() - First).

%% The same stretch of time in counter and clock, which are one here.
span(Cells, Ticks) -> atomics:put(Cells, ?SPAN, Ticks).

count(Cells) -> atomics:get(Cells, ?COUNT).

%% All fields of the message but the buckets.
totals(Cells) ->
    Places = [
        {units, ?COUNT}, {sum, ?SUM}, {min, ?MIN}, {max, ?MAX}, {pair_sum, ?PAIR_SUM}, {pair_count, ?COUNT},
        {span_counter, ?SPAN}, {span_clock, ?SPAN}
    ],
    [{bits, ?BITS} | [{Name, atomics:get(Cells, Place)} || {Name, Place} <- Places]].

%% What is not empty, ascending, as [lower edge, count].
buckets(Cells) ->
    [[lower_edge(Bucket), Count] || Bucket <- lists:seq(0, ?BUCKETS - 1), (Count = atomics:get(Cells, Bucket + 1)) > 0].

bucket_of(Value) -> bucket_of(Value, 0).

bucket_of(Value, Shift) when Value < 2 bsl ?BITS -> (Shift bsl ?BITS) + Value;
bucket_of(Value, Shift) -> bucket_of(Value bsr 1, Shift + 1).

lower_edge(Bucket) ->
    Shift = max((Bucket bsr ?BITS) - 1, 0),
    (Bucket - (Shift bsl ?BITS)) bsl Shift.
