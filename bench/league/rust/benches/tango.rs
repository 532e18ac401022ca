use std::hint::black_box;
use tango_bench::{benchmark_fn, tango_benchmarks, IntoBenchmarks};

fn benchmarks() -> impl IntoBenchmarks {
    [benchmark_fn("work", |bencher| bencher.iter(|| league::work(black_box(1))))]
}

tango_benchmarks!(benchmarks());
