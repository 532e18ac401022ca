//! From transcripts to verdicts and rows. Pure: the same run gives the same rows.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

mod analysis;
mod at;
mod beside;
mod break_even;
mod clock;
mod compare;
mod condition;
mod counters;
mod curves;
mod detail;
mod distrust;
mod explain;
mod figures;
mod intervals;
mod judge;
mod judged;
mod kinds;
mod label;
mod lacking;
mod load;
mod noise;
mod notes;
mod percentile;
mod representatives;
mod rounds;
mod row;
mod rulers;
mod series;
mod settle;
mod speed;
mod summary;
mod together;
mod trend;
mod warnings;
mod words;

pub use analysis::{Analysis, short_of};
pub use at::At;
pub use break_even::BreakEven;
pub use compare::{
    Caution, Common, Comparison, DoctorGate, Exceeded, Gate, GateOutcome, Ground, Grown, Incomparable, Most, Outcome,
    Place, Remark, Rules, Side, THRESHOLD, Verdicts, Why, alike, between, clocks_differ, common, comparable, counts,
    exceeded, excludes, grown, methods_differ, probe_without_version, slowed_throughout, verdicts, within,
};
pub use condition::Condition;
pub use counters::{counters, in_layers};
pub use curves::{
    CONTEXTS, Curve, Growth, Line, Matrix, Order, Point, Relation, Split, Topology, lines, matrices, order, split,
};
pub use detail::{Detail, SHARES, Start, detail};
pub use explain::{ADDS_UP_WITHIN, AddsUp, Explained, LayerCost, Limited, Part, Prediction, Shares, explain};
pub use figures::{Figures, KernelRate, Reading, Summary};
pub use judge::{
    Bound, Bounds, Changed, Constants, Content, ProbeAnswer, Ruling, bounds_of, departures, found, judge, judge_again,
    judge_again_by, judge_by, leave_ms, no_answer, untold, went_another_way,
};
pub use label::label;
pub use lacking::{Lacking, time_texts};
pub use load::{Burden, Fit, Load};
pub use noise::{DEFAULT_FLOOR, Equals, Noise, noise};
pub use notes::run_command;
pub use percentile::{LONGEST, Percentile};
pub use representatives::Beside;
pub use row::{Judged, Of, Row, Times, usable};
pub use rulers::{
    CLOCK, CORE, Distrust, SLOWED, Speed, Speeds, Undisturbed, clock_beside, core, slower_core, slowest, speeds,
    undisturbed,
};
pub use series::{Series, batch_ns, claimed_ns, longest_ns, series, values};
pub use settle::{LOOKS, Settled, by_itself, settled};
pub use summary::{counted, summarise, verdict_of};
pub use switchcost_model::{Quantity, number};
pub use switchcost_stats::FEWEST as FEWEST_STARTS;
pub use trend::{LevelChange, Trend, TrendSearch, WORTH_SHOWING, fewest_runs};
pub use warnings::resume_command;
pub use words::{is_message, last_words};
