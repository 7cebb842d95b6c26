//! `cargo interleave report` and `keep`: what is done with a replay file without running it.

use std::path::PathBuf;

use super::cargo::{Selection, Workspace};
use super::exit::Exit;
use super::replay::Asked;
use super::{Done, page};
use crate::replay::{self, DIRECTORY, Recording};

/// The recording of a file; a token has too little in it.
fn recording(file: &str, use_: &str) -> Result<Recording, String> {
    Asked::read(file)?.recording.ok_or_else(|| {
        format!(
            "a token has only decisions, which is too little to {use_}: `cargo interleave replay` writes the file anew"
        )
    })
}

/// Shows a replay file.
pub(super) fn report(file: &str, html: Option<Option<PathBuf>>, json: bool) -> Done {
    let recording = recording(file, "show")?;
    if recording.threads.is_empty() {
        return Err(format!(
            "`{file}` was written by an older version (format 1), and has no steps to show: `cargo interleave replay {file}` \
             writes it anew"
        ));
    }
    if json {
        println!("{}", page::json(&recording));
        return Ok(Exit::Ok);
    }
    let Some(path) = html else {
        print!("{}", recording.report);
        return Ok(Exit::Ok);
    };
    let found = replay::find(file).unwrap_or_else(|| file.into());
    let path = path.unwrap_or_else(|| found.with_extension("html"));
    let text = page::html(&recording, &std::env::current_dir().unwrap_or_default())?;
    std::fs::write(&path, text).map_err(|error| format!("`{}` cannot be written: {error}", path.display()))?;
    println!("{}", path.display());
    Ok(Exit::Ok)
}

/// Keeps a replay file with its package.
pub(super) fn keep(file: &str, selection: &Selection) -> Done {
    let recording = recording(file, "keep")?;
    let workspace = Workspace::read(selection)?;
    let package = workspace.program(&recording.program).map(|(package, _)| package);
    let package = match (package, workspace.packages.as_slice()) {
        (Some(package), _) => package,
        (None, [only]) => only,
        (None, _) => {
            return Err(format!(
                "no package of the workspace has a target `{}`, whose test `{}` the file is about: run this in the right \
                 workspace",
                recording.program, recording.test
            ));
        }
    };
    let directory = package.directory().join(DIRECTORY);
    std::fs::create_dir_all(&directory)
        .map_err(|error| format!("`{}` cannot be made: {error}", directory.display()))?;
    let text = recording.to_text();
    let first = replay::file_name(&recording.program, &recording.test);
    let stem = first.trim_end_matches(".il");
    let names = std::iter::once(first.clone()).chain((2..).map(|n: u32| format!("{stem}.{n}.il")));
    for name in names {
        let path = directory.join(&name);
        match std::fs::read_to_string(&path) {
            Ok(kept) if kept == text => {
                println!("{} has it already", path.display());
                return Ok(Exit::Ok);
            }
            Ok(_) => continue,
            Err(_) => {}
        }
        recording.write(&path).map_err(|error| format!("`{}` cannot be written: {error}", path.display()))?;
        println!("{}", path.display());
        break;
    }
    Ok(Exit::Ok)
}
