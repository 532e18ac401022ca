//! Runs in, bytes out. No I/O, no clock: the same run gives the same bytes.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

pub mod answer;
mod baseline;
mod columns;
mod compare;
mod curves;
mod doctor;
mod explain;
mod formats;
mod html;
mod legend;
mod listing;
pub mod text;
mod trend;

pub use baseline::{BaselineEntry, baselines_json, baselines_text};
pub use columns::{COLUMNS, Column, Shown, figure_of};
pub use compare::{
    AskedBy, Compared, ComparedRow, ComparedRun, Loaded, RowFigures, Unmatched, compare_json, compare_junit,
    compare_schema, incomparable, methods, published_figure, reason,
};
pub use doctor::{doctor_gate_text, doctor_json, doctor_schema};
pub use explain::{Explanation, explain_json, explain_schema, explain_text};
pub use formats::json::schema;
pub use formats::ladder::{about, answer_of, not_counted, slowed_by, watched};
pub use formats::{FORMATS, Format};
pub use html::{AuditAnswer, Page, html, page_schema};
pub use legend::legend;
pub use listing::{
    HistoryEntry, ListedMechanism, ListedParameter, ListedProbe, findings_text, history_json, history_text, list_json,
    list_one, list_overview, list_published, list_published_json, list_text,
};
pub use text::{Detail, Style, ascii, listed, machine_words, moment};
pub use trend::{Trend, TrendChange, TrendMachine, TrendPoint, Trends, history_schema, trends_json, trends_text};
