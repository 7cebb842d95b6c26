//! Git, as far as a bisection needs it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A repository, or a work tree of one.
pub(super) struct Git {
    directory: PathBuf,
}

impl Git {
    /// The one around `directory`.
    pub(super) fn around(directory: &Path) -> Result<Git, String> {
        let git = Git { directory: directory.to_owned() };
        let top = git.text(&["rev-parse", "--show-toplevel"]).map_err(|_| {
            "this is no git repository (or git is not on the PATH): run the bisection in the repository under test"
                .to_owned()
        })?;
        Ok(Git { directory: top.into() })
    }

    /// Its top directory.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    fn run(&self, arguments: &[&str]) -> Result<Output, String> {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.directory).args(arguments);
        command.output().map_err(|error| format!("git cannot be run ({error}): is it on the PATH?"))
    }

    /// What a git command prints; its message if it fails.
    pub(super) fn text(&self, arguments: &[&str]) -> Result<String, String> {
        let output = self.run(arguments)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!("git {}: {}", arguments.first().unwrap_or(&""), said.trim()))
    }

    /// Whether a git command succeeds.
    pub(super) fn holds(&self, arguments: &[&str]) -> Result<bool, String> {
        Ok(self.run(arguments)?.status.success())
    }

    /// The commit that `name` stands for.
    pub(super) fn commit(&self, name: &str) -> Result<String, String> {
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")];
        self.text(&arguments).map_err(|_| format!("`{name}` is no commit of this repository"))
    }

    /// A commit as people name it: the short hash and the first line of the message.
    pub(super) fn shown(&self, commit: &str) -> String {
        self.text(&["log", "-1", "--format=%h %s", commit]).unwrap_or_else(|_| commit.to_owned())
    }
}

/// A work tree that goes away with this.
pub(super) struct Worktree<'a> {
    git: &'a Git,
    path: PathBuf,
}

impl<'a> Worktree<'a> {
    /// At `commit`, in the directory `path`, which must not exist.
    pub(super) fn add(git: &'a Git, path: PathBuf, commit: &str) -> Result<Worktree<'a>, String> {
        let shown = path.to_str().ok_or("the temporary directory has a name that is not UTF-8")?;
        git.text(&["worktree", "add", "--quiet", "--detach", shown, commit])?;
        Ok(Worktree { git, path })
    }

    /// Git in it.
    pub(super) fn git(&self) -> Git {
        Git { directory: self.path.clone() }
    }
}

impl Drop for Worktree<'_> {
    fn drop(&mut self) {
        let shown = self.path.to_string_lossy().into_owned();
        let _ = self.git.text(&["worktree", "remove", "--force", &shown]);
    }
}
