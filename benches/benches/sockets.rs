//! The engine's price of a call on a simulated socket: one thread, one execution, many calls. criterion's throughput is in calls.

use std::hint::black_box;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use interleave::net::{TcpListener, TcpStream};
use interleave::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use interleave::{Builder, Verdict};
use interleave_benches::{forget_kept, keep};

/// How often the body of an execution does what is measured.
const ROUNDS: u64 = 500;

/// A body, and how many calls a round of it is.
type Program = (&'static str, u64, fn());

const PROGRAMS: [Program; 5] = [
    ("write_read", 2, write_read),
    ("connect_accept", 2, connect_accept),
    ("connect_accept_close", 4, connect_accept_close),
    ("tcp_connect_accept", 2, tcp_connect_accept),
    ("datagram_send_recv", 2, datagram_send_recv),
];

fn write_read() {
    let (mut a, mut b) = UnixStream::pair().unwrap();
    for _ in 0..ROUNDS {
        a.write_all(b"x").unwrap();
        black_box(b.read(&mut [0; 8]).unwrap());
    }
}

fn connect_accept() {
    forget_kept();
    let listener = UnixListener::bind("sock").unwrap();
    for _ in 0..ROUNDS {
        let client = UnixStream::connect("sock").unwrap();
        let accepted = listener.accept().unwrap();
        // Closing is not what is measured.
        keep((client, accepted));
    }
}

fn connect_accept_close() {
    let listener = UnixListener::bind("sock").unwrap();
    for _ in 0..ROUNDS {
        let client = UnixStream::connect("sock").unwrap();
        drop((client, listener.accept().unwrap()));
    }
}

fn tcp_connect_accept() {
    forget_kept();
    let listeners: Vec<TcpListener> = (0..5).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    for listener in &listeners {
        let address = listener.local_addr().unwrap();
        for _ in 0..ROUNDS / 5 {
            let client = TcpStream::connect(address).unwrap();
            keep((client, listener.accept().unwrap()));
        }
    }
}

fn datagram_send_recv() {
    let (a, b) = UnixDatagram::pair().unwrap();
    for _ in 0..ROUNDS {
        a.send(b"x").unwrap();
        black_box(b.recv(&mut [0; 8]).unwrap());
    }
}

fn sockets(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sockets");
    group.sample_size(20).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    for (name, calls, program) in PROGRAMS {
        group.throughput(Throughput::Elements(ROUNDS * calls));
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|iterations| {
                let start = Instant::now();
                for _ in 0..iterations {
                    let report = Builder::new().spurious(0).max_steps(1_000_000).explore(program);
                    assert_eq!((report.verdict, report.executions), (Verdict::Vacuous, 1), "{:?}", report.failure);
                }
                start.elapsed()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, sockets);
criterion_main!(benches);
