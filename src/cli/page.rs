//! The page of a replay file: one HTML file that needs nothing else, and the same as JSON.
//!
//! Time goes downwards, one lane a thread. The rows are cut into blocks with a drawing each, so that a page break never falls
//! into a drawing and a browser lays out only what is on the screen.

use std::collections::BTreeMap;
use std::path::Path;

use askama::Template;
use data_encoding::BASE64;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::replay::{Record, Recording, StepNote};
use crate::report::{escaped_line, read_below};

/// Pixels of a row, and rows of a block: a block fits on a landscape page.
const ROW: usize = 24;
const BLOCK: usize = 24;
/// Pixels of the header of the lanes: with processes and without.
const HEAD: [usize; 2] = [40, 22];
/// Arrows over more rows are only drawn where they arrive.
const LONG: usize = 150;
/// Colours of threads.
const COLOURS: usize = 8;
/// Lines of source around a place.
const AROUND: usize = 4;
const SCRIPT: &str = include_str!("../../templates/page.js");
const STYLE: &str = include_str!("../../templates/page.css");

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    test: String,
    code: &'a str,
    message: String,
    facts: Vec<(&'static str, String)>,
    width: usize,
    head: usize,
    lanes: Vec<Lane>,
    groups: Vec<Group>,
    chunks: Vec<Chunk>,
    report: &'a str,
    data: String,
    style: String,
    style_hash: String,
    script: &'static str,
    script_hash: String,
}

struct Lane {
    x: usize,
    colour: usize,
    name: String,
    full: String,
}

/// Neighbouring lanes of one process.
struct Group {
    x: usize,
    width: usize,
    middle: usize,
    name: String,
    full: String,
}

#[derive(Default)]
struct Chunk {
    top: usize,
    height: usize,
    life: Vec<Life>,
    arrows: Vec<Arrow>,
    nodes: Vec<Node>,
    crosses: Vec<Node>,
    rows: Vec<Row>,
}

struct Life {
    class: &'static str,
    x: usize,
    from: usize,
    to: usize,
}

#[derive(Clone)]
struct Arrow {
    kind: &'static str,
    path: String,
}

struct Node {
    x: usize,
    y: usize,
    colour: usize,
}

struct Row {
    number: Option<usize>,
    thread: String,
    call: String,
    effect: String,
    preempts: Option<String>,
    notes: Vec<Note>,
    place: String,
    /// The place without directories.
    file: String,
}

struct Note {
    class: &'static str,
    text: &'static str,
    step: Option<usize>,
}

/// A step with its record.
type Steps<'a> = Vec<(&'a Record, &'a StepNote)>;

fn steps(recording: &Recording) -> Steps<'_> {
    recording.records.iter().filter_map(|record| Some((record, record.step.as_ref()?))).collect()
}

/// The thread of a record.
fn thread_of(recording: &Recording, record: &Record) -> usize {
    recording.threads.iter().position(|thread| thread.path == record.thread).unwrap_or(0)
}

/// An arrow from one step to a later one, both from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    from: usize,
    to: usize,
    kind: &'static str,
}

/// The arrows, each pair of steps with one of a kind.
fn edges(recording: &Recording, steps: &Steps<'_>) -> Vec<Edge> {
    let threads: Vec<usize> = steps.iter().map(|(record, _)| thread_of(recording, record)).collect();
    let mut edges = Vec::new();
    let mut last: Vec<Option<usize>> = vec![None; recording.threads.len().max(1)];
    for (to, (_, step)) in steps.iter().enumerate() {
        let mut add = |from: Option<usize>, kind| {
            if let Some(from) = from.filter(|&from| from < to && threads[from] != threads[to]) {
                edges.push(Edge { from, to, kind });
            }
        };
        let handed = handed_over(steps, step);
        add(step.reads.and_then(|reads| reads.checked_sub(1)), "rf");
        add(handed.map(|step| step - 1), "lock");
        for &after in step.after.iter().filter(|&&after| Some(after) != handed) {
            add(after.checked_sub(1), "sw");
        }
        add(step.preempts.and_then(|thread| last.get(thread).copied().flatten()), "preempt");
        last[threads[to]] = Some(to);
    }
    edges
}

/// The step that gave up the lock which this one takes.
fn handed_over(steps: &Steps<'_>, step: &StepNote) -> Option<usize> {
    let from = step.from.filter(|&from| from > 0 && step.role == "acquire")?;
    (steps.get(from - 1)?.1.role == "release").then_some(from)
}

/// What the script needs to know, and what `--json` prints.
#[derive(Serialize)]
struct Data<'a> {
    test: &'a str,
    program: &'a str,
    code: &'a str,
    message: &'a str,
    preemptions: Option<u32>,
    commit: Option<&'a str>,
    token: String,
    threads: Vec<DataThread<'a>>,
    steps: Vec<DataStep<'a>>,
    sources: BTreeMap<&'a str, Source>,
}

#[derive(Serialize)]
struct DataThread<'a> {
    name: &'a str,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spawned: Option<&'a str>,
}

#[derive(Serialize)]
struct DataStep<'a> {
    thread: usize,
    call: &'a str,
    effect: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<String>,
    place: &'a str,
    alternatives: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    reads: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stale: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    overwrites: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    handed: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preempts: Option<usize>,
    after: &'a [usize],
}

#[derive(Serialize)]
struct Source {
    first: usize,
    line: usize,
    lines: Vec<String>,
    changed: bool,
}

fn data<'a>(recording: &'a Recording, steps: &Steps<'a>, root: Option<&Path>) -> Data<'a> {
    let object = |record: &Record| {
        let object = recording.objects.get(record.on?)?;
        let created = object.created.as_ref().map_or_else(String::new, |place| format!(", created at {place}"));
        Some(format!("{} ({}{created})", object.name, object.family))
    };
    let one = |(record, step): &(&'a Record, &'a StepNote)| DataStep {
        thread: thread_of(recording, record),
        call: &step.call,
        effect: &step.effect,
        object: object(record),
        place: &record.place,
        alternatives: record.alternatives,
        reads: step.reads,
        stale: step.stale,
        overwrites: step.overwrites,
        handed: handed_over(steps, step),
        preempts: step.preempts,
        after: &step.after,
    };
    let thread = |thread: &'a crate::replay::ThreadNote| DataThread {
        name: &thread.name,
        path: &thread.path,
        process: thread.process.as_deref(),
        spawned: thread.spawned.as_deref(),
    };
    Data {
        test: &recording.test,
        program: &recording.program,
        code: &recording.failure.code,
        message: &recording.failure.message,
        preemptions: recording.failure.preemptions,
        commit: recording.provenance.commit.as_deref(),
        token: crate::replay::token(&recording.test, &recording.decisions()),
        threads: recording.threads.iter().map(thread).collect(),
        steps: steps.iter().map(one).collect(),
        sources: root.map_or_else(BTreeMap::new, |root| sources(recording, steps, root)),
    }
}

/// The source around each place, as it is now.
fn sources<'a>(recording: &Recording, steps: &Steps<'a>, root: &Path) -> BTreeMap<&'a str, Source> {
    let changed = recording.provenance.changed(root);
    let mut files: BTreeMap<&str, Option<String>> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for (record, _) in steps {
        let mut parts = record.place.rsplitn(3, ':').skip(1);
        let (Some(line), Some(file)) = (parts.next().and_then(|line| line.parse::<usize>().ok()), parts.next()) else {
            continue;
        };
        let Some(text) = files.entry(file).or_insert_with(|| read_below(root, file)) else { continue };
        let first = line.saturating_sub(AROUND).max(1);
        let lines: Vec<String> =
            text.lines().skip(first - 1).take(line + AROUND + 1 - first).map(str::to_owned).collect();
        if line >= first && line - first < lines.len() {
            found.entry(record.place.as_str()).or_insert_with(|| Source {
                first,
                line,
                lines,
                changed: changed.contains(&file),
            });
        }
    }
    found
}

/// The recording as JSON.
pub(super) fn json(recording: &Recording) -> String {
    let steps = steps(recording);
    serde_json::to_string_pretty(&data(recording, &steps, None)).expect("strings, numbers and lists are JSON")
}

/// JSON that cannot end the element it is in.
fn embedded(data: &Data<'_>) -> String {
    let json = serde_json::to_string(data).expect("strings, numbers and lists are JSON");
    let dangerous =
        [('<', "\\u003c"), ('>', "\\u003e"), ('&', "\\u0026"), ('\u{2028}', "\\u2028"), ('\u{2029}', "\\u2029")];
    dangerous.into_iter().fold(json, |json, (c, escape)| json.replace(c, escape))
}

fn hash(text: &str) -> String {
    BASE64.encode(&Sha256::digest(text.as_bytes()))
}

/// The recording as a page; sources are looked for in `root` and above.
pub(super) fn html(recording: &Recording, root: &Path) -> Result<String, String> {
    let steps = steps(recording);
    let lane = match recording.threads.len() {
        0..=6 => 92,
        7..=12 => 64,
        _ => 40,
    };
    let draw = Drawing { recording, steps: &steps, lane };
    let width = lane * recording.threads.len().max(1);
    let groups = draw.groups();
    let style = STYLE.replace("WIDTH", &width.to_string());
    let page = Page {
        test: escaped_line(&recording.test),
        code: &recording.failure.code,
        message: recording.failure.message.lines().map(|line| escaped_line(line) + "\n").collect(),
        facts: facts(recording, steps.len()),
        width,
        head: HEAD[usize::from(groups.is_empty())],
        lanes: draw.lanes(),
        groups,
        chunks: draw.chunks(),
        report: &recording.report,
        data: embedded(&data(recording, &steps, Some(root))),
        style_hash: hash(&style),
        style,
        script: SCRIPT,
        script_hash: hash(SCRIPT),
    };
    page.render().map_err(|error| format!("the page cannot be made: {error}"))
}

fn facts(recording: &Recording, steps: usize) -> Vec<(&'static str, String)> {
    let c = &recording.configuration;
    let mut facts = vec![("memory model", c.memory.clone()), ("steps", steps.to_string())];
    facts.extend(recording.failure.preemptions.map(|n| ("preemptions", n.to_string())));
    facts.extend(recording.failure.place.clone().map(|place| ("fails at", place)));
    facts.extend(recording.provenance.commit.clone().map(|commit| ("commit", commit)));
    facts.push((
        "run again with",
        format!("cargo interleave replay {}", crate::replay::token(&recording.test, &recording.decisions())),
    ));
    facts
}

/// A place without directories.
fn brief(place: &str) -> String {
    place.rsplit(['/', '\\']).next().unwrap_or(place).to_owned()
}

/// Where things are drawn.
struct Drawing<'a> {
    recording: &'a Recording,
    steps: &'a Steps<'a>,
    lane: usize,
}

impl Drawing<'_> {
    fn x(&self, thread: usize) -> usize {
        self.lane / 2 + thread * self.lane
    }

    /// A name that fits above a lane.
    fn short(&self, name: &str, lanes: usize) -> String {
        let most = (self.lane * lanes / 8).max(4);
        if name.chars().count() <= most {
            name.to_owned()
        } else {
            name.chars().take(most - 1).chain(['…']).collect()
        }
    }

    fn lanes(&self) -> Vec<Lane> {
        let lane = |(thread, note): (usize, &crate::replay::ThreadNote)| Lane {
            x: self.x(thread),
            colour: thread % COLOURS,
            name: self.short(&note.name, 1),
            full: note
                .spawned
                .as_ref()
                .map_or_else(|| note.name.clone(), |at| format!("{}, spawned at {at}", note.name)),
        };
        self.recording.threads.iter().enumerate().map(lane).collect()
    }

    fn groups(&self) -> Vec<Group> {
        let mut first = 0;
        let mut groups = Vec::new();
        for run in self.recording.threads.chunk_by(|a, b| a.process == b.process) {
            if let Some(process) = &run[0].process {
                let (x, width) = (first * self.lane + 3, run.len() * self.lane - 6);
                let name = self.short(process, run.len());
                groups.push(Group { x, width, middle: x + width / 2, name, full: process.clone() });
            }
            first += run.len();
        }
        groups
    }

    fn chunks(&self) -> Vec<Chunk> {
        let rows = self.steps.len() + 1;
        let mut chunks: Vec<Chunk> = (0..rows)
            .step_by(BLOCK)
            .map(|first| {
                let rows = BLOCK.min(rows - first);
                Chunk { top: first * ROW, height: rows * ROW, ..Chunk::default() }
            })
            .collect();
        for (index, (record, step)) in self.steps.iter().enumerate() {
            let thread = thread_of(self.recording, record);
            let chunk = &mut chunks[index / BLOCK];
            chunk.rows.push(self.row(index, thread, record, step));
            chunk.nodes.push(Node { x: self.x(thread), y: index * ROW + ROW / 2, colour: thread % COLOURS });
            self.life(index, step, &mut chunk.life);
        }
        self.end(chunks.last_mut().expect("there is a row for the failure"));
        let mut arriving: Vec<usize> = vec![0; self.recording.threads.len().max(1)];
        for edge in edges(self.recording, self.steps) {
            self.arrow(edge, &mut arriving, &mut chunks);
        }
        chunks
    }

    /// What every other lane shows beside a step.
    fn life(&self, index: usize, step: &StepNote, life: &mut Vec<Life>) {
        for (thread, sign) in step.marks.chars().enumerate() {
            let class = match sign {
                ' ' => continue,
                'o' => "blocked",
                _ => "could",
            };
            let (x, from, to) = (self.x(thread), index * ROW, (index + 1) * ROW);
            match life.iter_mut().rev().find(|line| line.x == x) {
                Some(line) if line.to == from && line.class == class => line.to = to,
                _ => life.push(Life { class, x, from, to }),
            }
        }
    }

    fn row(&self, index: usize, thread: usize, record: &Record, step: &StepNote) -> Row {
        let mut notes = Vec::new();
        match step.reads {
            Some(0) => notes.push(Note { class: "faint", text: "reads the initial value", step: None }),
            Some(from) => notes.push(Note { class: "faint", text: "reads", step: Some(from) }),
            None => {}
        }
        notes.extend(step.stale.map(|newest| Note {
            class: "notable",
            text: "STALE, the newest is",
            step: Some(newest),
        }));
        notes.extend(step.overwrites.map(|from| Note { class: "faint", text: "overwrites", step: Some(from) }));
        let handed = handed_over(self.steps, step);
        notes.extend(handed.map(|from| Note { class: "faint", text: "from", step: Some(from) }));
        let name =
            |thread: usize| self.recording.threads.get(thread).map_or_else(String::new, |note| note.name.clone());
        Row {
            number: Some(index + 1),
            thread: name(thread),
            call: step.call.clone(),
            effect: step.effect.clone(),
            preempts: step.preempts.map(name),
            notes,
            place: record.place.clone(),
            file: brief(&record.place),
        }
    }

    /// The last row: the failure.
    fn end(&self, chunk: &mut Chunk) {
        let failure = &self.recording.failure;
        let y = self.steps.len() * ROW + ROW / 2;
        let waiting = self.steps.last().map_or("", |(_, step)| step.marks.as_str());
        let failing: Vec<usize> = match failure.thread {
            Some(thread) => vec![thread],
            None => waiting.chars().enumerate().filter(|(_, sign)| *sign == 'o').map(|(thread, _)| thread).collect(),
        };
        chunk.crosses.extend(failing.into_iter().map(|thread| Node { x: self.x(thread), y, colour: 0 }));
        chunk.rows.push(Row {
            number: None,
            thread: failure
                .thread
                .and_then(|thread| self.recording.threads.get(thread))
                .map_or_else(String::new, |t| t.name.clone()),
            call: failure.code.clone(),
            effect: escaped_line(failure.message.lines().next().unwrap_or_default()),
            preempts: None,
            notes: Vec::new(),
            place: failure.place.clone().unwrap_or_default(),
            file: failure.place.as_deref().map_or_else(String::new, brief),
        });
    }

    /// From the earlier step along its row to the lane of the later one, and down beside that.
    fn arrow(&self, edge: Edge, arriving: &mut [usize], chunks: &mut [Chunk]) {
        let thread = |step: usize| thread_of(self.recording, self.steps[step].0);
        let (from, to) = (thread(edge.from), thread(edge.to));
        let (x1, x2) = (self.x(from), self.x(to));
        let (y1, y2) = (edge.from * ROW + ROW / 2, edge.to * ROW + ROW / 2);
        let room = self.lane / 2 - 8;
        arriving[to] = (arriving[to] + 5) % room.max(1);
        let beside = 9 + arriving[to].min(room.saturating_sub(4));
        let (channel, start, tip) = match x1 < x2 {
            true => (x2 - beside, x1 + 6, x2 - 6),
            false => (x2 + beside, x1 - 6, x2 + 6),
        };
        if edge.to - edge.from > LONG {
            let path = format!("M{channel} {}V{y2}H{tip}", y2 - ROW / 2);
            chunks[edge.to / BLOCK].arrows.push(Arrow { kind: edge.kind, path });
            return;
        }
        let arrow = Arrow { kind: edge.kind, path: format!("M{start} {y1}H{channel}V{y2}H{tip}") };
        for chunk in &mut chunks[edge.from / BLOCK..=edge.to / BLOCK] {
            chunk.arrows.push(arrow.clone());
        }
    }
}
