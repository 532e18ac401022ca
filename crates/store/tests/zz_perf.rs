mod support;
use support::*;
use std::time::Instant;
use switchcost_store::*;
#[test] fn perf() {
    let d = tempfile::tempdir_in("/work").unwrap();
    let p = d.path().join("r.sqlite");
    let mut s = Store::open(&p).unwrap();
    for (id, n, ticks) in [("big", 1, 1_000_000usize), ("mid", 250, 4000), ("many", 28_000, 35)] {
        s.begin_run(&header(id)).unwrap();
        let mut worst = 0u128; let t0 = Instant::now();
        for i in 0..n { let mut v = invocation(0, i as u64); v.transcript.samples[1].ticks = (0..ticks as i64).map(|x| 1_000_000 + x % 977).collect();
            let t = Instant::now(); s.add_invocation(id, &v).unwrap(); worst = worst.max(t.elapsed().as_micros()); }
        let w = t0.elapsed(); s.finish_run(id, switchcost_model::EndedBy::Rounds, 1).unwrap();
        let t = Instant::now(); let r = s.load(id).unwrap(); let l = t.elapsed();
        let t = Instant::now(); let f = export(&r); let e = t.elapsed();
        let t = Instant::now(); import(&f).unwrap(); let im = t.elapsed();
        eprintln!("{id}: write mean {:?} worst {worst}us; load {l:?}; export {e:?} {} bytes; import {im:?}", w / n as u32, f.len());
    }
    let t = Instant::now(); s.list().unwrap(); eprintln!("list {:?} size {}", t.elapsed(), std::fs::metadata(&p).unwrap().len());
}
