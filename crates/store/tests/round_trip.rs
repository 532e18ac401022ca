//! What goes in comes out: run → store → run, run → file → run, and every way round, bit for bit.

use crate::support::{arbitrary_run, export, full_run, import};
use proptest::prelude::*;
use switchcost_model::{EndedBy, Run};
use switchcost_store::{Insertion, Store};

/// Stores a run the way a measurement does: header, invocations one by one, end.
fn step_by_step(store: &mut Store, run: &Run) {
    store.begin_run(&Run { invocations: Vec::new(), ..run.clone() }).unwrap();
    for invocation in &run.invocations {
        store.add_invocation(&run.id, invocation).unwrap();
    }
    if run.ended_by != EndedBy::Unfinished {
        store.finish_run(run).unwrap();
    }
}

fn check(run: &Run) {
    let mut first = Store::in_memory().unwrap();
    step_by_step(&mut first, run);
    let stored = first.load(&run.id).unwrap();
    assert_eq!(&stored, run);

    let file = export(&stored);
    let imported = import(&file).unwrap();
    assert_eq!(&imported, run);
    assert_eq!(export(&imported), file, "a file is exported as it was imported");

    let mut second = Store::in_memory().unwrap();
    assert_eq!(second.insert_run(&imported).unwrap(), Insertion::Inserted);
    assert_eq!(export(&second.load(&run.id).unwrap()), file, "another store exports the same bytes");
    assert_eq!(first.insert_run(&imported).unwrap(), Insertion::AlreadyThere);

    let header = first.list().unwrap().pop().unwrap();
    assert_eq!((header.id.as_str(), header.ended_by), (run.id.as_str(), run.ended_by));
    let counts = (run.variants.len() as u64, run.not_run.len() as u64, run.invocations.len() as u64);
    assert_eq!((header.variants, header.not_run, header.invocations), counts);
    assert_eq!(header.partial(), run.ended_unix_ns.is_none());
    first.check().unwrap();
}

#[test]
fn a_run_with_every_field_filled() {
    check(&full_run());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn arbitrary_runs(mut run in arbitrary_run()) {
        // A run that is being measured numbers its invocations upwards, and the store holds it to
        // that.
        run.invocations.iter_mut().zip(0..).for_each(|(invocation, sequence)| invocation.sequence = sequence);
        check(&run);
    }
}
