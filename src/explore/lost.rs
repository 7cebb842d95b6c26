//! Workers that were given up, and what they were doing: see [`spy`](crate::engine::spy).

use super::Run;
use crate::builder::Builder;
use crate::engine::spy::{Halt, Spy, Trail, When, Whereabouts};
use crate::engine::{Failure, Learnt};
use crate::fiber::{Abandoned, Cause};

/// What a thread that unwinds must not do.
pub(super) const DOUBLE_PANIC: &str =
    "a destructor must not panic while its thread unwinds: check `std::thread::panicking()` first";

/// The advice for a program that aborts the process when it is unwound.
pub(super) const ABORT: &str = "a destructor must not end the process when its thread unwinds";

impl Run<'_> {
    /// Calls `run`, which runs executions on a worker from the beginning: with what is known, and in what to spy on the
    /// executions from a certain one on. If the worker is given up, finds out what for.
    pub(super) fn on_worker<R>(
        &self,
        builder: &Builder,
        learnt: &[Learnt],
        run: impl Fn(&[Learnt], u64, &Option<Spy>) -> Result<R, Abandoned>,
    ) -> Result<R, Abandoned> {
        let mut learnt = learnt.to_vec();
        loop {
            let abandoned = match run(&learnt, 0, &None) {
                Err(abandoned) if !matches!(abandoned.cause, Cause::Unusable(_)) => abandoned,
                came => return came,
            };
            // A program that is unwound as everything has to begin anew may not survive that, and do nothing wrong.
            let news: Vec<Learnt> = abandoned.learnt.iter().copied().filter(|fact| !learnt.contains(fact)).collect();
            if self.abandons_from_now_on(&abandoned) || !news.is_empty() && matches!(abandoned.cause, Cause::Message(_))
            {
                learnt.extend(news);
                continue;
            }
            learnt.extend(news);
            let trail = Trail::default();
            if run(&learnt, abandoned.begun, &Some(Spy::Trail(trail.clone()))).is_ok() {
                return Err(abandoned);
            }
            let Some(last) = trail.last() else { return Err(abandoned) };
            let when = When::After(last.thread, last.after);
            let halt = Halt { when, failure: failure(builder, &abandoned.cause, last) };
            return run(&learnt, abandoned.begun, &Some(Spy::Halt(halt))).map_err(|_| abandoned);
        }
    }
}

/// A builder for executions in which a thread is stopped where it would have used up its stack: that takes some room, too.
pub(super) fn with_room(builder: &Builder, spy: &Option<Spy>) -> Builder {
    let more = if matches!(spy, Some(Spy::Halt(_))) { ROOM } else { 0 };
    Builder { stack_size: builder.stack_size + more, ..builder.clone() }
}

const ROOM: usize = 256 << 10;

/// What a thread was given up for.
fn failure(builder: &Builder, cause: &Cause, last: Whereabouts) -> Failure {
    let name = match (last.name, last.thread.index()) {
        (Some(name), _) => name,
        (None, 0) => "main".to_owned(),
        (None, _) => "unnamed".to_owned(),
    };
    let (code, message, help) = match cause {
        Cause::StackOverflow => (
            "limit",
            format!("thread `{name}` has used up its stack of {} bytes", builder.stack_size),
            "look for endless recursion after this place; if the code needs that much, raise `stack_size` \
             (INTERLEAVE_STACK_SIZE)",
        ),
        Cause::Stuck(time) => (
            "limit",
            format!("thread `{name}` has run for {} s without an operation of the model", time.as_secs_f64()),
            "after this place it is in a loop that never comes to an operation, or waits for something that is not part of the \
             model, such as a lock of std or a real socket: use the types of interleave for it. If it only computes, raise \
             `max_pause` (INTERLEAVE_MAX_PAUSE)",
        ),
        Cause::Unwinding => ("panic", cause.to_string(), ABORT),
        Cause::Message(message) | Cause::Unusable(message) => ("panic", message.clone(), DOUBLE_PANIC),
    };
    Failure::Other { code, message, help: Some(help.to_owned()), site: Some(last.site) }
}
