//! Threads of simulated processes, which end where they are: nothing of theirs is dropped while the execution goes on.

use dpor::{Action, ObjectId, Op};
use sync_shims::model::controller::{Controller, Inert};

use super::threads::END;
use super::{Engine, Request, Site};

impl Engine {
    /// Ends the running thread in the middle of what it does. Unwinds when the execution is over, or returns then if the
    /// thread is unwinding already.
    pub(super) fn halt_thread(&self, site: Site) -> Inert {
        let op = Op { action: Action::End, object: ObjectId::NONE, info: &END, site };
        match self.perform(None, op).and_then(|_| self.switch(Request::Halted)) {
            Err(Inert) => Inert,
            Ok(()) => unreachable!("a thread that is over is not run again"),
        }
    }

    /// A thread that is blocked, but whose process has been told to end, is not stuck: in another execution it has noticed
    /// before. This one does not count.
    pub(super) fn excuse_doomed(&self) {
        for (id, thread) in self.threads.all() {
            if thread.doomed.get() {
                self.explorer.with(|explorer| explorer.excuse(id));
            }
        }
    }

    /// The budgets that the program could draw on so far, by bit.
    pub(crate) fn offered(&self) -> u8 {
        self.budgets.get()
    }
}
