//! Exit codes. `docs/cli.md` has the table.

use std::process::ExitCode;

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// Nothing fails.
    Ok,
    /// A model fails; a replay fails as recorded.
    Fails,
    /// The command line, a file or the environment cannot be used.
    Usage,
    /// A replay is not the execution that was recorded any more.
    Diverged,
    /// A replay fails in another way than recorded.
    OtherFailure,
    /// No model ran.
    NoModel,
    /// Cargo failed: it does not build, or a test that is not about a model fails.
    Cargo,
    /// A bisection has no answer.
    Undecided,
}

/// Each code with its meaning, in the order of the table.
pub(super) const TABLE: [(Exit, &str); 8] = [
    (
        Exit::Ok,
        "nothing fails: every model that ran passes, a replayed execution passes now, a bisection has found the commit",
    ),
    (Exit::Fails, "a model fails; a replayed execution fails as recorded"),
    (Exit::Usage, "the command line, a file, a token, the repository or the environment cannot be used"),
    (Exit::Diverged, "a replay diverged: the program is another one, and the recording cannot be followed or repaired"),
    (Exit::OtherFailure, "a replayed execution fails, but in another way than recorded"),
    (Exit::NoModel, "no model ran"),
    (Exit::Cargo, "cargo failed and no model did: it does not build, or a test without a model fails"),
    (Exit::Undecided, "a bisection is undecided: only commits that cannot be judged are left"),
];

impl Exit {
    /// The number.
    pub(super) fn code(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::Fails => 1,
            Exit::Usage => 2,
            Exit::Diverged => 3,
            Exit::OtherFailure => 4,
            Exit::NoModel => 5,
            Exit::Cargo => 101,
            Exit::Undecided => 125,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
