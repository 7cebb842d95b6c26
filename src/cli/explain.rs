//! `cargo interleave explain` and `env`.

use super::Done;
use super::exit::Exit;
use crate::environment::KNOWN;
use crate::report::escaped_line;
use crate::verdict::Kind;

/// What a code means, and what to do.
fn text(kind: Kind) -> &'static str {
    match kind {
        Kind::Panic => {
            "A thread panicked: an assertion of the model does not hold in this order of steps, or the code under test gave \
             up. Read the order from the failing line upwards: the step that surprises is the first one that reads a value \
             its author did not expect. `Builder::panics(Panics::Deliver)` lets `join` deliver panics of spawned threads \
             instead."
        }
        Kind::Deadlock => {
            "Threads remain and none of them can ever go on. The report has the cycle of who waits for whom, or says which \
             signal came before its wait. Take locks in one order everywhere; wait for a condition in a loop that looks at \
             the condition under the lock; let go of a lock before joining a thread that needs it. Waits with a timeout are \
             never part of a deadlock."
        }
        Kind::Livelock => {
            "Threads spin, and nobody is left who could change what they read: the loops never end. The step that should \
             have made the condition true is missing, or happened before the loop could see it."
        }
        Kind::DataRace => {
            "Two threads access the same memory, one of them writes, and nothing orders the two accesses: undefined \
             behaviour in Rust, whatever the hardware does. The report names the missing edge. Most often a store must be \
             `Release` and the load that sees it `Acquire`, or a lock must be held."
        }
        Kind::Leak => {
            "Memory that the checker keeps track of is still there when the execution is over: what `interleave::alloc` \
             watches, or, with `Builder::leaks` (INTERLEAVE_LEAKS=1), an `Arc`. Of those, look for a cycle."
        }
        Kind::UseAfterFree => {
            "Memory of `interleave::alloc` was freed twice, or an object in it was used after it was freed. One thread freed \
             what another one still had a pointer to."
        }
        Kind::Nondeterminism => {
            "The program did something else when its execution was repeated with the same decisions, so that nothing found \
             in it could be relied on. A model must depend on nothing but the types of this crate: no real time, no random \
             numbers, no addresses, no order of a hash map, no state that outlives an execution."
        }
        Kind::Outside => {
            "An object was used outside of the model or the execution it belongs to. Create objects in the body, or make \
             them `static`s, which are fresh in every execution; do not carry them from one execution to the next."
        }
        Kind::Limit => {
            "An execution was larger than a limit allows: operations (INTERLEAVE_MAX_STEPS), threads (64), the stack of a \
             model thread (INTERLEAVE_STACK_SIZE), the time that a thread may run without any operation \
             (INTERLEAVE_MAX_PAUSE). Usually a loop never ends; one that waits should call `hint::spin_loop` or \
             `thread::yield_now`, so that the checker knows it for what it is. A thread without operations may also wait \
             for something outside of the model: a lock of std, a real socket, a real sleep."
        }
        Kind::Vacuous => {
            "No two threads touched the same object, so there was nothing to check. Usually the code under test uses the \
             types of std: build with `--cfg interleave` (as `cargo interleave test` does), and import the types from \
             `sync_shims` or `interleave`."
        }
        Kind::Found => {
            "No failure: `Builder::find` looked for an execution that comes by a label, and this is one. The steps show how \
             to get there."
        }
        Kind::Config => {
            "The configuration cannot be used: a variable INTERLEAVE_... that does not exist, or a value it does not take. \
             `cargo interleave env` lists all of them."
        }
        Kind::Replay => {
            "A replay file or token cannot be used: it is damaged, of another test, or of a newer version; or the program \
             has changed so much that the recorded execution cannot be followed, not even after a repair in steps that \
             other threads do not see. Explore the model anew; delete a kept file that is of no use any more."
        }
        Kind::Internal => {
            "An error of the checker itself. Please report it with the model, or with the replay file if there is one."
        }
    }
}

const ALL: [Kind; 14] = [
    Kind::Panic,
    Kind::Deadlock,
    Kind::Livelock,
    Kind::DataRace,
    Kind::Leak,
    Kind::UseAfterFree,
    Kind::Nondeterminism,
    Kind::Outside,
    Kind::Limit,
    Kind::Vacuous,
    Kind::Found,
    Kind::Config,
    Kind::Replay,
    Kind::Internal,
];

/// Explains a code, or all.
pub(super) fn code(code: Option<&str>) -> Done {
    let Some(code) = code else {
        ALL.iter().for_each(|kind| print!("{}", paragraph(*kind)));
        return Ok(Exit::Ok);
    };
    let bare = code.trim_start_matches("interleave::");
    match ALL.iter().find(|kind| kind.code() == bare) {
        Some(kind) => {
            print!("{}", paragraph(*kind));
            Ok(Exit::Ok)
        }
        None => {
            let known = ALL.map(Kind::code).join(", ");
            Err(format!("there is no code `{}`: the codes are {known}", escaped_line(code)))
        }
    }
}

fn paragraph(kind: Kind) -> String {
    let width = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse::<usize>().ok()).unwrap_or(100);
    let mut out = format!("{kind}\n");
    let mut line = String::new();
    for word in text(kind).split(' ') {
        if !line.is_empty() && line.len() + word.len() + 5 > width.clamp(40, 100) {
            out.push_str(&format!("   {line}\n"));
            line.clear();
        }
        line = format!("{line} {word}");
    }
    out + &format!("   {line}\n")
}

/// Lists the variables.
pub(super) fn environment() -> Done {
    let set = |name: &str| std::env::var_os(name).map(|value| escaped_line(&value.to_string_lossy()));
    for (name, takes) in KNOWN {
        match set(name) {
            Some(value) => println!("{name}={value}\n    takes {takes}"),
            None => println!("{name}\n    takes {takes}"),
        }
    }
    let known = |name: &str| KNOWN.iter().any(|(known, _)| *known == name);
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let foreign: Vec<String> = names.filter(|name| name.starts_with("INTERLEAVE_") && !known(name)).collect();
    match foreign.first() {
        None => Ok(Exit::Ok),
        Some(name) => {
            Err(format!("there is no variable {}: unset it, as every model fails while it is set", escaped_line(name)))
        }
    }
}
