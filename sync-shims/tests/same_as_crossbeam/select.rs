// `Select`, `select!` and `select_biased!`.

use std::fmt::Debug;
use time::{Duration, Instant};

use lib::channel::{
    Receiver, Select, SelectedOperation, Sender, TrySelectError, after, bounded, never, select, select_biased,
    unbounded,
};

use crate::panic_message;

const SHORT: Duration = Duration::from_millis(2);

#[test]
fn traits() {
    assert_impl!(Select<'_>: Send + Sync + Clone + Default + Debug);
    assert_impl!(SelectedOperation<'_>: Debug);
    assert_not_impl!(SelectedOperation<'_>: Send);
    assert_eq!(format!("{:?}", Select::new()), "Select { .. }");
}

#[test]
fn all_forms_of_the_macro() {
    let (s1, r1) = unbounded();
    let (s2, r2) = bounded(1);
    let mut seen = Vec::new();
    // A block without a comma, an expression with one, a pattern, a reference, trailing commas.
    s1.send(1).unwrap();
    select! {
        recv(r1) -> msg => { seen.push(msg.unwrap()) }
        recv(&r2,) -> _ => unreachable!(),
    }
    select! {
        recv(r1) -> _ => unreachable!(),
        send(s2, 2) -> res => { res.unwrap() },
    }
    assert_eq!(select! { recv(if true { &r2 } else { &r1 }) -> msg => msg }, Ok(2));
    let value = select! {
        recv(r1) -> _ => 1,
        recv(r2) -> _ => 2,
        default => 3,
    };
    assert_eq!(value, 3);
    let value = select! {
        default(SHORT) => 4,
        recv(r1) -> _ => 1,
    };
    assert_eq!(value, 4);
    assert_eq!(select! { default() => 5 }, 5);
    select! { default => {} }
    drop(s1);
    let value = select! {
        recv(r1) -> msg => match msg {
            Ok(_) => 1,
            Err(error) => { let text = error.to_string(); text.len() }
        },
        recv(never::<i32>()) -> (Ok(_) | Err(_)) => 2,
    };
    assert_eq!(value, "receiving on an empty and disconnected channel".len());
    assert_eq!(seen, [1]);
}

#[test]
fn bodies_are_where_they_are_written() {
    fn first(receiver: Receiver<i32>) -> Option<i32> {
        loop {
            select! {
                // The handle is free again.
                recv(receiver) -> msg => { drop(receiver); return msg.ok() }
                default => break,
            }
        }
        None
    }
    let (sender, receiver) = unbounded();
    assert_eq!(first(receiver.clone()), None);
    sender.send(1).unwrap();
    assert_eq!(first(receiver), Some(1));
}

#[test]
fn a_message_is_made_only_if_it_is_sent() {
    let mut made = 0;
    let mut next = || {
        made += 1;
        made
    };
    for capacity in [0, 1] {
        let (sender, receiver) = bounded(capacity);
        let sent = select! {
            send(sender, next()) -> res => res.is_ok(),
            default => false,
        };
        assert_eq!((sent, receiver.try_recv().ok()), (capacity == 1, (capacity == 1).then_some(1)));
    }
}

#[test]
fn what_is_ready_is_found() {
    let (s1, r1) = unbounded::<i32>();
    let (s2, r2) = unbounded::<i32>();
    let mut select = Select::new();
    assert!(matches!(select.try_select(), Err(TrySelectError)));
    let (one, two) = (select.recv(&r1), select.recv(&r2));
    assert_eq!((one, two), (0, 1));
    assert!(select.try_ready().is_err() && select.select_timeout(SHORT).is_err());
    assert!(select.ready_deadline(Instant::now()).is_err() && select.select_deadline(Instant::now()).is_err());
    s2.send(2).unwrap();
    assert_eq!((select.ready(), select.try_ready(), select.ready_timeout(SHORT)), (two, Ok(two), Ok(two)));
    let selected = select.select();
    assert_eq!((format!("{selected:?}"), selected.index()), ("SelectedOperation { .. }".to_owned(), two));
    assert_eq!(selected.recv(&r2), Ok(2));
    select.remove(one);
    s1.send(1).unwrap();
    assert!(select.clone().try_select().is_err());
    let three = select.send(&s2);
    assert_eq!(three, 2);
    let selected = select.select_timeout(SHORT).unwrap();
    assert_eq!((selected.index(), selected.send(&s2, 3), r2.recv()), (three, Ok(()), Ok(3)));
}

#[test]
fn misuse() {
    let (sender, receiver) = unbounded::<i32>();
    assert_eq!(panic_message(|| Select::new().select()), "no operations have been added to `Select`");
    assert_eq!(panic_message(|| Select::new().ready()), "no operations have been added to `Select`");
    assert_eq!(panic_message(|| Select::new().remove(3)), "index out of bounds; 3 >= 0");
    assert_eq!(
        panic_message(|| {
            let mut select = Select::new();
            let index = select.recv(&receiver);
            select.remove(index);
            select.remove(index);
        }),
        "no operation with this index"
    );
    sender.send(1).unwrap();
    assert_eq!(
        panic_message(|| {
            let mut select = Select::new();
            select.recv(&receiver);
            drop(select.select());
        }),
        "dropped `SelectedOperation` without completing the operation"
    );
}

#[test]
fn biased_selections_take_the_first() {
    let channels: Vec<(Sender<usize>, Receiver<usize>)> = (0..3).map(|_| unbounded()).collect();
    for _ in 0..20 {
        channels.iter().for_each(|(sender, _)| sender.send(1).unwrap());
        let taken = select_biased! {
            recv(channels[0].1) -> _ => 0,
            recv(channels[1].1) -> _ => 1,
            recv(channels[2].1) -> _ => 2,
        };
        assert_eq!(taken, 0);
        let mut select = Select::new_biased();
        let index = select.recv(&channels[2].1);
        select.recv(&channels[1].1);
        let selected = select.select();
        assert_eq!(selected.index(), index);
        selected.recv(&channels[2].1).unwrap();
    }
}

#[test]
fn all_selected_sooner_or_later() {
    let (s1, r1) = bounded(0);
    let (s2, r2) = bounded(0);
    let timer = after(Duration::from_secs(60));
    let threads = [std::thread::spawn(move || s1.send(1)), std::thread::spawn(move || s2.send(2))];
    let mut sum = 0;
    for _ in 0..2 {
        sum += select! {
            recv(r1) -> msg => msg.unwrap_or(0),
            recv(r2) -> msg => msg.unwrap_or(0),
            recv(timer) -> _ => panic!("it took too long"),
        };
        // The other one may be disconnected and ready.
        if sum == 3 {
            break;
        }
    }
    drop((r1, r2));
    assert!(sum >= 1);
    // Whoever was not received from is told so.
    threads.into_iter().for_each(|t| _ = t.join().unwrap());
}
