//! Wall-clock time for each execution, by tool and program. The throughput is in operations of the program.

use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use interleave_benches::{PROGRAMS, Tool};

fn executions(criterion: &mut Criterion) {
    for program in &PROGRAMS {
        let mut group = criterion.benchmark_group(program.name);
        group.throughput(Throughput::Elements(program.operations));
        group.sample_size(20).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
        for tool in Tool::ALL {
            // criterion's iteration is an execution.
            group.bench_function(tool.name(), |bencher| {
                bencher.iter_custom(|iterations| {
                    let start = Instant::now();
                    tool.run(program, iterations);
                    start.elapsed()
                });
            });
        }
    }
}

criterion_group!(benches, executions);
criterion_main!(benches);
