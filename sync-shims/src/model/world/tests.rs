//! The simulated kernel under a controller that runs one thread and always takes the first outcome.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::ptr::NonNull;

use dpor::{Access, Action, Info, Op, Outcomes, ThreadId};

use crate::model::controller::{Controller, Inert, Scope, Target, ThreadSpec, enter};
use crate::model::fs;
use crate::model::os::unix::net::{UnixListener, UnixStream};

/// One step that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Taken {
    object: String,
    method: &'static str,
    args: [u64; 2],
    wrote: bool,
}

/// A controller for one thread at a time, under whichever number the test says.
#[derive(Default)]
struct Sequential {
    thread: Cell<u32>,
    inert: Cell<bool>,
    states: RefCell<Vec<u64>>,
    storage: RefCell<HashMap<usize, NonNull<dyn Any>>>,
    taken: RefCell<Vec<Taken>>,
}

const EXECUTION: u64 = 1;

impl Sequential {
    /// The state of the object, which is made on its first use.
    fn state_of(&self, target: &Target<'_>) -> usize {
        let mut states = self.states.borrow_mut();
        if target.slot.get() == 0 {
            states.push(target.init);
            target.slot.set(EXECUTION << 24 | states.len() as u64);
        }
        (target.slot.get() & 0xff_ffff) as usize - 1
    }
}

impl Drop for Sequential {
    fn drop(&mut self) {
        for (_, value) in self.storage.borrow_mut().drain() {
            // SAFETY: 1. `storage` leaked it from a box; 2. the execution is over, and nobody else frees it.
            drop(unsafe { Box::from_raw(value.as_ptr()) });
        }
    }
}

impl Controller for Sequential {
    fn perform(&self, target: Option<Target<'_>>, op: Op) -> Result<u64, Inert> {
        if self.inert.get() {
            return Err(Inert);
        }
        let (Some(target), Action::Object { outs, args, .. }) = (target, op.action) else {
            panic!("the simulated kernel acts on objects only");
        };
        let index = self.state_of(&target);
        let mut outcomes = Outcomes::default();
        outs(self.states.borrow()[index], args, self.thread(), &mut outcomes);
        let object = target.name.expect("objects of the simulated kernel have names").to_owned();
        let Some(outcome) = outcomes.as_slice().first() else {
            panic!("blocked at {} of {object}", op.info.name);
        };
        if outcome.writes {
            self.states.borrow_mut()[index] = outcome.state;
        }
        self.taken.borrow_mut().push(Taken { object, method: op.info.name, args, wrote: outcome.writes });
        Ok(outcome.result)
    }

    fn wrote(&self) -> bool {
        self.taken.borrow().last().is_some_and(|step| step.wrote)
    }

    fn plain(&self, _: Target<'_>, _: Access, _: &'static Info, _: &'static Location<'static>) {}

    fn exclusive(&self, _: Target<'_>, _: &'static Info, _: &'static Location<'static>) -> Option<u64> {
        None
    }

    fn unsynchronised(&self, _: Target<'_>, _: &'static Info, _: &'static Location<'static>) -> Option<u64> {
        None
    }

    fn start(&self, _: ThreadId, _: ThreadSpec) {
        panic!("there is one thread");
    }

    fn thread(&self) -> ThreadId {
        ThreadId(self.thread.get())
    }

    fn thread_name(&self, thread: ThreadId) -> Option<String> {
        (thread == ThreadId::MAIN).then(|| "main".into())
    }

    fn spawned_at(&self, _: ThreadId) -> Option<&'static std::panic::Location<'static>> {
        None
    }

    fn execution(&self) -> u64 {
        EXECUTION
    }

    fn inert(&self) -> bool {
        self.inert.get()
    }

    fn panicking(&self) -> bool {
        false
    }

    fn storage(&self, _: Scope, key: usize, init: &mut dyn FnMut() -> Box<dyn Any>) -> Option<NonNull<dyn Any>> {
        let mut storage = self.storage.borrow_mut();
        Some(*storage.entry(key).or_insert_with(|| NonNull::from(Box::leak(init()))))
    }

    fn fail(&self, kind: &'static str, message: String, _: &'static Location<'static>) -> ! {
        panic!("{kind}: {message}");
    }

    fn delivered(&self, _: ThreadId) {}

    fn counts(&self, _: &'static Location<'static>) -> bool {
        false
    }

    fn count_from_now_on(&self, _: &'static Location<'static>) {}

    fn facts(&self, _: &'static Location<'static>) -> u64 {
        0
    }

    fn learn(&self, _: &'static Location<'static>, _: u64) {}

    fn ordered_drop(&self, _: bool) {}

    fn performed(&self) -> u64 {
        self.taken.borrow().len() as u64
    }
}

/// Runs `f` as one execution.
fn execution<R>(f: impl FnOnce(&Sequential) -> R) -> R {
    let controller = Sequential::default();
    enter(&controller, || f(&controller))
}

/// The steps that `f` takes.
fn steps(controller: &Sequential, f: impl FnOnce()) -> Vec<Taken> {
    controller.taken.borrow_mut().clear();
    f();
    controller.taken.take()
}

/// The steps as `object method`, with a `!` if they wrote.
fn outline(controller: &Sequential, f: impl FnOnce()) -> Vec<String> {
    let shown = |step: Taken| format!("{}: {}{}", step.object, step.method, if step.wrote { "!" } else { "" });
    steps(controller, f).into_iter().map(shown).collect()
}

/// What the panic of `f` says.
fn panic_of(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("a panic");
    payload.downcast_ref::<String>().expect("a message").clone()
}

#[test]
fn binding_is_two_steps_and_a_failed_one_only_looks() {
    execution(|controller| {
        let mut listener = None;
        let bind = || listener = Some(UnixListener::bind("/tmp/sock").unwrap());
        assert_eq!(outline(controller, bind), ["/tmp/sock: bind!", "/tmp/sock of main: listen!"]);
        let again = || assert_eq!(UnixListener::bind("/tmp/sock").unwrap_err().raw_os_error(), Some(98));
        assert_eq!(outline(controller, again), ["/tmp/sock: bind"]);
        assert_eq!(outline(controller, || drop(listener)), ["/tmp/sock of main: close!"]);
    });
}

#[test]
fn a_refused_connect_looks_at_the_path_and_at_the_socket_it_leads_to() {
    execution(|controller| {
        drop(UnixListener::bind("/tmp/sock").unwrap());
        let refused = || assert_eq!(UnixStream::connect("/tmp/sock").unwrap_err().raw_os_error(), Some(111));
        assert_eq!(outline(controller, refused), ["/tmp/sock: connect", "/tmp/sock of main: connect"]);
        let missing = || assert_eq!(UnixStream::connect("/tmp/none").unwrap_err().raw_os_error(), Some(2));
        assert_eq!(outline(controller, missing), ["/tmp/none: connect"]);
    });
}

#[test]
fn connecting_and_accepting_meet_only_where_one_waits() {
    execution(|controller| {
        let listener = UnixListener::bind("sock").unwrap();
        let mut stream = None;
        let connect = || stream = Some(UnixStream::connect("sock").unwrap());
        assert_eq!(
            outline(controller, connect),
            ["sock: connect", "sock of main: connect!", "connection 1 to sock of main: connect!"]
        );
        let accept = || drop(listener.accept().unwrap());
        assert_eq!(
            outline(controller, accept)[..2],
            ["queue of sock of main: accept!", "connection 1 to sock of main: accept"]
        );
    });
}

#[test]
fn only_directories_that_the_program_made_are_looked_up() {
    execution(|controller| {
        fs::create_dir("/tmp/d").unwrap();
        let below = || assert!(!fs::exists("/tmp/d/x").unwrap());
        assert_eq!(outline(controller, below), ["/tmp/d: lookup", "/tmp/d/x: exists"]);
        let beside = || assert!(!fs::exists("/tmp/x").unwrap());
        assert_eq!(outline(controller, beside), ["/tmp/x: exists"]);
    });
}

#[test]
fn inode_numbers_do_not_depend_on_what_other_threads_make() {
    let numbers = |order: [u32; 3]| {
        execution(|controller| {
            let mut made = HashMap::<u32, Vec<u64>>::new();
            for thread in order {
                controller.thread.set(thread);
                let path = format!("/tmp/{thread}-{}", made.get(&thread).map_or(0, Vec::len));
                let steps = steps(controller, || drop(fs::File::create_new(path).unwrap()));
                made.entry(thread).or_default().push(steps[0].args[0]);
            }
            made
        })
    };
    assert_eq!(numbers([1, 1, 2]), numbers([2, 1, 1]));
    assert_eq!(numbers([1, 1, 2]), numbers([1, 2, 1]));
    let all: std::collections::HashSet<u64> = numbers([1, 1, 2]).into_values().flatten().collect();
    assert_eq!(all.len(), 3);
}

#[test]
fn what_cannot_proceed_is_blocked() {
    execution(|_| {
        let listener = UnixListener::bind("sock").unwrap();
        assert_eq!(panic_of(|| drop(listener.accept())), "blocked at accept of connection 1 to sock of main");
        let (a, b) = UnixStream::pair().unwrap();
        assert_eq!(panic_of(|| drop((&a).read(&mut [0]))), "blocked at read of pair, second to first");
        while (&b).write(&[0; 1 << 16]).is_ok_and(|_| b.set_nonblocking(true).is_ok()) {}
        b.set_nonblocking(false).unwrap();
        assert_eq!(panic_of(|| drop((&b).write(&[0]))), "blocked at write of pair, second to first");
        let (f, g) = (fs::File::create("f").unwrap(), fs::File::create("f").unwrap());
        f.lock().unwrap();
        assert_eq!(panic_of(|| g.lock().unwrap()), "blocked at lock of lock of f");
    });
}

#[test]
fn emptying_an_empty_file_only_looks() {
    execution(|controller| {
        fs::write("f", "").unwrap();
        let again = || drop(fs::File::create("f").unwrap());
        assert_eq!(outline(controller, again), ["f: create", "content of f: truncate"]);
        fs::write("f", "x").unwrap();
        assert_eq!(
            outline(controller, again),
            [
                "f: create",
                "content of f: truncate",
                "writing the content of f: take_turn!",
                "content of f: truncate!",
                "writing the content of f: give_turn!",
            ]
        );
    });
}

#[test]
fn closing_gives_up_a_lock_only_if_there_may_be_one() {
    execution(|controller| {
        let file = fs::File::create("f").unwrap();
        assert_eq!(outline(controller, || drop(file)), [""; 0]);
        let file = fs::File::create("f").unwrap();
        file.lock().unwrap();
        assert_eq!(outline(controller, || drop(file)), ["lock of f: unlock!"]);
    });
}

#[test]
fn only_those_who_share_a_descriptor_take_turns() {
    execution(|controller| {
        let (mut a, b) = UnixStream::pair().unwrap();
        let mut file = fs::File::create("f").unwrap();
        let alone = || {
            a.write_all(b"x").unwrap();
            file.read(&mut [0]).unwrap_err();
            file.write_all(b"x").unwrap();
        };
        assert_eq!(
            outline(controller, alone),
            [
                "pair, first to second: write!",
                "writing the content of f: take_turn!",
                "content of f: write!",
                "writing the content of f: give_turn!",
            ]
        );
        let shared = || (&a).write_all(b"x").unwrap();
        assert_eq!(
            outline(controller, shared),
            [
                "writing to pair, first to second: take_turn!",
                "pair, first to second: write!",
                "writing to pair, first to second: give_turn!",
            ]
        );
        assert_eq!((&b).read(&mut [0; 8]).unwrap(), 2);
    });
}

#[test]
fn a_rename_is_over_for_all_at_once() {
    execution(|controller| {
        fs::write("a", "x").unwrap();
        let rename = || fs::rename("a", "b").unwrap();
        assert_eq!(
            outline(controller, rename),
            [
                "renaming: take_turn!",
                "a: rename!",
                "the names of an inode: link!",
                "b: rename!",
                "a: settle!",
                "the end of a rename: settle!",
                "renaming: give_turn!",
            ]
        );
    });
}

#[test]
fn after_the_end_everything_is_harmless() {
    execution(|controller| {
        let listener = UnixListener::bind("sock").unwrap();
        let file = fs::File::create("f").unwrap();
        controller.inert.set(true);
        let mut stream = UnixStream::connect("sock").unwrap();
        stream.write_all(b"bye").unwrap();
        assert_eq!(stream.read_to_end(&mut Vec::new()).unwrap(), 0);
        assert!(listener.accept().is_err(), "a loop must end");
        drop(UnixListener::bind("other").unwrap());
        file.lock().unwrap();
        file.try_lock().unwrap();
        fs::rename("f", "g").unwrap();
        fs::remove_file("none").unwrap();
        assert_eq!(fs::read("none").unwrap(), b"");
        drop((listener, stream, file));
        assert_eq!(controller.taken.borrow().last().unwrap().method, "create");
    });
}

#[test]
fn a_handle_that_outlives_its_execution_is_bad() {
    let listener = execution(|_| UnixListener::bind("sock").unwrap());
    assert_eq!(listener.accept().unwrap_err().raw_os_error(), Some(9));
    assert_eq!(listener.local_addr().unwrap().as_pathname(), Some("sock".as_ref()));
}

#[test]
fn outside_a_model_it_is_the_real_thing() {
    let path = std::env::temp_dir().join(format!("shim-{}.sock", std::process::id()));
    let listener = UnixListener::bind(&path).unwrap();
    assert!(std::fs::exists(&path).unwrap());
    let mut stream = std::os::unix::net::UnixStream::connect(&path).unwrap();
    stream.write_all(b"x").unwrap();
    let (mut accepted, _) = listener.accept().unwrap();
    assert_eq!(accepted.read(&mut [0; 8]).unwrap(), 1);
    fs::remove_file(&path).unwrap();
}

#[test]
fn what_is_not_modelled_says_so() {
    execution(|_| {
        let files: Vec<fs::File> = (0..5).map(|_| fs::File::create("f").unwrap()).collect();
        let lock_all = || files.iter().for_each(|file| file.lock_shared().unwrap());
        assert_eq!(
            panic_of(lock_all),
            "limit: the simulated kernel has room for 4 owners of the shared lock of one file"
        );
    });
}

#[test]
fn types_are_as_shareable_as_those_of_std() {
    fn shareable<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe + Unpin>() {}
    shareable::<UnixListener>();
    shareable::<UnixStream>();
    shareable::<fs::File>();
    shareable::<fs::Metadata>();
    shareable::<fs::OpenOptions>();
}
