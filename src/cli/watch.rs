//! Runs cargo, and learns from the models that run in its children what happens to them.

use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Deserialize;

use crate::events::Event;
use crate::report::{escaped_line, thousands};

/// Time between two lines where there is no terminal.
const EVERY: Duration = Duration::from_secs(30);
/// Time between two looks.
const TICK: Duration = Duration::from_millis(100);

/// What to do with what the children print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Show {
    /// Everything, and progress.
    All,
    /// Nothing.
    Nothing,
}

/// What came of it.
pub(super) struct Watched {
    pub(super) status: ExitStatus,
    pub(super) events: Vec<Event>,
    /// What it printed, if that was not shown.
    pub(super) printed: String,
}

impl Watched {
    /// Models that began.
    pub(super) fn started(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, Event::Started { .. })).count()
    }
}

/// A directory that goes away with this.
pub(super) struct Scratch(pub(super) PathBuf);

impl Scratch {
    pub(super) fn new() -> io::Result<Scratch> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("cargo-interleave-{}-{number}", std::process::id()));
        std::fs::create_dir(&path)?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What `INTERLEAVE_PROGRESS` has in a line.
#[derive(Clone, Debug, Deserialize)]
struct Progress {
    test: String,
    executions: u64,
    rate: f64,
    bound: Option<u32>,
    estimate: Option<Estimate>,
    ended: bool,
}

#[derive(Clone, Debug, Deserialize)]
struct Estimate {
    executions: f64,
}

impl Progress {
    /// On one line: executions, rate, estimate, bound.
    fn line(&self) -> String {
        let estimate = self.estimate.as_ref().map(|e| format!(" of about {}", thousands(e.executions as u64)));
        let bound = self.bound.map(|bound| format!(", at most {bound} preemptions")).unwrap_or_default();
        let (done, rate) = (thousands(self.executions), thousands(self.rate as u64));
        format!("{}: {done} executions{}, {rate}/s{bound}", escaped_line(&self.test), estimate.unwrap_or_default())
    }
}

/// The lines that were appended to a file since the last look.
struct Tail {
    path: PathBuf,
    read: u64,
}

impl Tail {
    fn new(path: PathBuf) -> Tail {
        Tail { path, read: 0 }
    }

    fn lines(&mut self) -> Vec<String> {
        let Ok(bytes) = std::fs::read(&self.path) else { return Vec::new() };
        let new = bytes.get(self.read as usize..).unwrap_or_default();
        // The last line may not be whole yet.
        let whole = new.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.read += whole as u64;
        String::from_utf8_lossy(&new[..whole]).lines().map(str::to_owned).collect()
    }
}

/// Runs `command` to its end. Every `every` (30 s, if `None`) it says how far the models are.
pub(super) fn run(command: &mut Command, show: Show, every: Option<Duration>) -> Result<Watched, String> {
    let name = command_name(command.get_program().as_ref());
    let failed = |error: io::Error| format!("{name} cannot be run: {error}");
    let scratch = Scratch::new().map_err(|error| format!("the temporary directory cannot be written: {error}"))?;
    let (events, progress) = (scratch.0.join("events"), scratch.0.join("progress"));
    command.env(crate::events::VARIABLE, &events).env("INTERLEAVE_PROGRESS", &progress);
    let terminal = show == Show::All && io::stderr().is_terminal();
    if terminal {
        if std::env::var_os("COLUMNS").is_none()
            && let Some((terminal_size::Width(columns), _)) = terminal_size::terminal_size_of(io::stderr())
        {
            command.env("COLUMNS", columns.to_string());
        }
        if std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) {
            command.env("CARGO_TERM_COLOR", "always").env("CLICOLOR_FORCE", "1");
        }
    }
    if terminal || show == Show::Nothing {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    let child = command.stdin(Stdio::null()).spawn().map_err(failed)?;
    let mut tail = Tail::new(progress);
    let (status, printed) = match (show, terminal) {
        (Show::All, true) => with_bar(child, &mut tail),
        (Show::All, false) => with_lines(child, &mut tail, every.unwrap_or(EVERY)),
        (Show::Nothing, _) => collected(child),
    }
    .map_err(|error| format!("cargo cannot be waited for: {error}"))?;
    let events = Tail::new(events).lines();
    let events = events.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    Ok(Watched { status, events, printed })
}

fn command_name(program: &Path) -> String {
    program.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Without a terminal: a line now and then.
fn with_lines(mut child: Child, tail: &mut Tail, every: Duration) -> io::Result<(ExitStatus, String)> {
    let mut due = Instant::now() + every;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, String::new()));
        }
        if Instant::now() >= due {
            due += every;
            // The newest of each model that is running.
            let mut newest: Vec<Progress> = Vec::new();
            for progress in tail.lines().iter().filter_map(|line| serde_json::from_str::<Progress>(line).ok()) {
                newest.retain(|known| known.test != progress.test);
                newest.extend((!progress.ended).then_some(progress));
            }
            newest.iter().for_each(|progress| eprintln!("interleave: {}", progress.line()));
        }
        std::thread::sleep(TICK / 4);
    }
}

/// On a terminal: a line at the bottom that changes, above it what the children print.
fn with_bar(mut child: Child, tail: &mut Tail) -> io::Result<(ExitStatus, String)> {
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}");
    bar.set_style(style.expect("the template is one"));
    bar.enable_steady_tick(TICK);
    let (send, printed) = mpsc::channel();
    let pipes: [Option<Box<dyn Read + Send>>; 2] = [
        child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
        child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
    ];
    for pipe in pipes.into_iter().flatten() {
        let send = send.clone();
        std::thread::spawn(move || {
            let mut lines = BufReader::new(pipe);
            let mut line = Vec::new();
            while lines.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                let text = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
                line.clear();
                if send.send(text).is_err() {
                    return;
                }
            }
        });
    }
    drop(send);
    loop {
        match printed.recv_timeout(TICK) {
            Ok(line) => bar.suspend(|| println!("{line}")),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            // Both pipes are closed.
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
        let last = tail.lines().iter().filter_map(|line| serde_json::from_str::<Progress>(line).ok()).next_back();
        if let Some(progress) = last {
            bar.set_message(progress.line());
        }
    }
    let status = child.wait()?;
    bar.finish_and_clear();
    Ok((status, String::new()))
}

fn collected(child: Child) -> io::Result<(ExitStatus, String)> {
    let output = child.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    Ok((output.status, text))
}
