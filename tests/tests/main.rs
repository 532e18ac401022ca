//! End to end, in one program: it links once.

mod alike;
mod answers;
mod architecture;
mod audit;
mod audit_rights;
#[cfg(target_os = "linux")]
mod audit_service;
mod chaos;
mod check;
#[cfg(target_os = "linux")]
mod ci;
mod ci_jobs;
mod classic;
mod compare;
mod compare_percentile;
#[cfg(unix)]
mod config;
mod conformance;
mod containers;
#[cfg(unix)]
mod contrib;
mod count;
mod counters;
mod crosscheck;
#[cfg(target_os = "linux")]
mod doctor;
mod documents;
#[cfg(target_os = "linux")]
mod drawn;
mod dropped;
mod edges;
#[cfg(target_os = "linux")]
mod escapes;
mod explain;
mod fake;
mod faults;
mod fleet;
#[cfg(unix)]
mod foreign_builds;
mod forged;
#[cfg(unix)]
mod forget;
#[cfg(unix)]
mod formats;
#[cfg(target_os = "linux")]
mod fuzzed;
#[cfg(target_os = "linux")]
mod gap;
mod golden;
#[cfg(unix)]
mod guides;
#[cfg(target_os = "linux")]
mod hindered;
mod history;
#[cfg(target_os = "linux")]
mod inherited;
mod invented;
mod kept;
#[cfg(target_os = "linux")]
mod kernels;
mod lies;
mod limits;
mod load;
mod names;
mod negative;
#[cfg(unix)]
mod one_figure;
mod output;
#[cfg(unix)]
mod own_probe;
mod parameters;
mod real;
mod recipes;
mod refused;
mod remembered;
mod report;
#[cfg(unix)]
mod revisions;
mod runtimes;
#[cfg(target_os = "linux")]
mod saved;
#[cfg(target_os = "linux")]
mod scheduler;
mod security;
mod seen;
#[cfg(unix)]
mod sentences;
mod slow_start;
#[cfg(target_os = "linux")]
mod stop_at;
mod sweep;
mod text;
mod widths;
