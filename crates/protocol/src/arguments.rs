//! Plans as arguments.

use crate::PROTOCOL_VERSION;
use switchcost_model::Plan;

/// Arguments that ask a probe what it implements.
#[must_use]
pub fn describe_arguments(report_fd: i32) -> Vec<String> {
    vec!["describe".to_owned(), format!("report_fd={report_fd}")]
}

/// Arguments that ask a probe to carry out `plan`.
#[must_use]
pub fn run_arguments(plan: &Plan, report_fd: i32) -> Vec<String> {
    let variant = &plan.variant;
    let cpus: Vec<String> = plan.cpus.iter().map(u32::to_string).collect();
    let mut arguments = vec![
        "run".to_owned(),
        format!("report_fd={report_fd}"),
        format!("protocol={PROTOCOL_VERSION}"),
        format!("mechanism={}", variant.mechanism),
        format!("experiment={}", variant.experiment),
        format!("contexts={}", variant.contexts),
        format!("timing={}", variant.timing),
        format!("cpus={}", cpus.join(",")),
        format!("batch_units={}", plan.batch_units),
        format!("batch_ns={}", plan.batch_ns),
        format!("batches={}", plan.batches),
        format!("warmup_batches={}", plan.warmup_batches),
        format!("verify_units={}", plan.verify_units),
        format!("seed={}", plan.seed),
    ];
    arguments.extend(variant.sent().map(|(name, value)| format!("{name}={value}")));
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchcost_model::{Placement, Timing, Variant};

    fn plan() -> Plan {
        Plan {
            variant: Variant {
                mechanism: "thread/pipe".parse().unwrap(),
                probe: "gcc-12".into(),
                experiment: "message".parse().unwrap(),
                contexts: 2,
                placement: Placement::of_cpus(2),
                timing: Timing::Batch,
                parameters: [("payload".to_owned(), "64".to_owned())].into(),
                label: String::new(),
            },
            cpus: vec![0, 1],
            batch_units: 700,
            batch_ns: 1_000_000,
            batches: 30,
            warmup_batches: 5,
            verify_units: 1000,
            seed: 9,
            deadline_ms: 1000,
        }
    }

    #[test]
    fn every_key_of_the_page_is_sent() {
        let page = include_str!("../../../PROTOCOL.md");
        let rows =
            page.split("| key of `run` |").nth(1).unwrap().lines().skip(2).take_while(|row| row.starts_with('|'));
        let keys: Vec<&str> = rows.filter_map(|row| row.strip_prefix("| `")?.split('`').next()).collect();
        let words = run_arguments(&plan(), 3);
        let sent: Vec<&str> = words.iter().filter_map(|word| Some(word.split_once('=')?.0)).collect();
        assert_eq!(sent[..keys.len()], keys);
        assert_eq!(sent[keys.len()..], ["payload"]);
    }

    #[test]
    fn a_plan_becomes_key_value_words() {
        assert_eq!(
            run_arguments(&plan(), 3).join(" "),
            "run report_fd=3 protocol=1 mechanism=thread/pipe experiment=message contexts=2 timing=batch cpus=0,1 \
             batch_units=700 batch_ns=1000000 batches=30 warmup_batches=5 verify_units=1000 seed=9 payload=64"
        );
    }
}
