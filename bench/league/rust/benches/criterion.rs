use criterion::{criterion_group, criterion_main, Criterion};
use std::hint::black_box;

fn bench(criterion: &mut Criterion) {
    criterion.bench_function("work", |bencher| bencher.iter(|| league::work(black_box(1))));
}

criterion_group!(benches, bench);
criterion_main!(benches);
