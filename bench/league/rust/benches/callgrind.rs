use gungraun::{library_benchmark, library_benchmark_group, main};
use std::hint::black_box;

#[library_benchmark]
fn work() -> u64 {
    black_box(league::work(black_box(1)))
}

library_benchmark_group!(name = group, benchmarks = work);
main!(library_benchmark_groups = group);
