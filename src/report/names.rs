//! What threads, objects and operations are called.
//!
//! A step is written as in the source (`left.lock()`), so a reader finds it there. If the same expression names several
//! objects, or several expressions name the same one, the object has a number as well (`left#2`): equal numbers, equal
//! objects.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::measure::{fit, fit_start, width};
use super::receiver::{callee, receiver};
use super::source::{Sources, brief, shown};
use super::style::Style;
use super::trace::{Failure, Object, Place, Step, Thread, Trace};

/// Columns of a receiver expression, of arguments, of a whole call.
const RECEIVER: usize = 24;
const ARGUMENTS: usize = 24;
const CALL: usize = 40;

/// Methods that read as a phrase with their arguments: `spawn inc-1`.
const PHRASES: [&str; 8] = ["spawn", "join", "panic", "end", "exit", "crash", "choose", "advance"];

/// The names of one trace.
pub(crate) struct Names {
    /// One a thread.
    pub(crate) threads: Vec<String>,
    /// One a thread: the process it belongs to.
    pub(crate) processes: Vec<Option<String>>,
    /// One an object, for sentences.
    objects: Vec<Label>,
    written: Written,
    style: Style,
}

/// How the methods at places are called in the source.
type Written = HashMap<(Place, &'static str), Form>;

/// How an operation is written in the source.
enum Form {
    /// `receiver.method(…)`.
    Method(String),
    /// `path::method(…)`.
    Function,
    /// It is not (the unlock of a dropped guard), or the source is not at hand.
    Hidden,
}

/// The name of an object.
struct Label {
    text: String,
    tag: Option<usize>,
    given: bool,
}

impl Label {
    fn shown(&self) -> String {
        self.tag.map_or_else(|| self.text.clone(), |tag| format!("{}#{tag}", self.text))
    }
}

/// What each thread is called: its given name, or else the place where it was spawned, numbered if several are called the same.
/// Not escaped.
pub(crate) fn thread_names(threads: &[Thread]) -> Vec<String> {
    let base = |(index, thread): (usize, &Thread)| match (&thread.name, &thread.spawned) {
        (Some(name), _) => name.clone(),
        (None, _) if index == 0 => "main".to_owned(),
        (None, Some(place)) => brief(place),
        (None, None) => format!("thread-{index}"),
    };
    // Two processes may each have a thread of the same name: the header tells them apart.
    let full: Vec<_> =
        threads.iter().enumerate().map(|(index, thread)| (&thread.process, base((index, thread)))).collect();
    let number = |(index, name): (usize, &(&Option<String>, String))| {
        let before = full[..index].iter().filter(|other| *other == name).count();
        let alone = full.iter().filter(|other| *other == name).count() == 1;
        if alone { name.1.clone() } else { format!("{}#{}", name.1, before + 1) }
    };
    full.iter().enumerate().map(number).collect()
}

impl Names {
    /// The names of `trace`.
    pub(crate) fn new(trace: &Trace, style: &Style, sources: &Sources) -> Self {
        let uses = uses(trace);
        let written = written(&uses, sources);
        let threads = thread_names(&trace.threads).iter().map(|name| style.user(name)).collect();
        let process = |thread: &Thread| thread.process.as_deref().map(|name| style.user(name));
        Names {
            threads,
            processes: trace.threads.iter().map(process).collect(),
            objects: labels(trace, &uses, &written, style),
            written,
            style: style.clone(),
        }
    }

    /// The object, for a sentence or a list.
    pub(crate) fn object(&self, object: usize) -> String {
        self.objects.get(object).map_or_else(|| "?".to_owned(), Label::shown)
    }

    /// What the step does, as it is written in the source: `n.load(Acquire)`.
    pub(crate) fn call(&self, step: &Step) -> String {
        let ellipsis = self.style.glyphs().ellipsis;
        let arguments = fit(&self.style.user(&step.arguments), ARGUMENTS, ellipsis);
        fit(&self.phrase(step.method, step.object, &arguments, &step.site), CALL, ellipsis)
    }

    /// The operation without its arguments, for a sentence: `left#1.lock()`.
    pub(crate) fn operation(&self, method: &'static str, object: Option<usize>, site: &Place) -> String {
        self.phrase(method, object, "", site)
    }

    fn phrase(&self, method: &'static str, object: Option<usize>, arguments: &str, site: &Place) -> String {
        let Some(label) = object.and_then(|object| self.objects.get(object)) else {
            return match PHRASES.contains(&method) {
                true => format!("{method} {arguments}").trim_end().to_owned(),
                false => format!("{method}({arguments})"),
            };
        };
        let form = self.written.get(&(site.clone(), method)).unwrap_or(&Form::Hidden);
        let receiver = match (label.given, form) {
            // `connect(/run/x.sock)`: a path is not something one calls a method on.
            (true, _) if label.text.contains(['/', ' ', '\\']) => None,
            (false, Form::Method(receiver)) => Some(self.shortened(receiver, label.tag)),
            (_, Form::Function) => None,
            _ => Some(label.shown()),
        };
        let separator = if arguments.is_empty() { "" } else { ", " };
        match receiver {
            Some(receiver) => format!("{receiver}.{method}({arguments})"),
            None if label.given => format!("{method}({}{separator}{arguments})", label.text),
            None => format!("{method}({arguments})"),
        }
    }

    fn shortened(&self, receiver: &str, tag: Option<usize>) -> String {
        let label = Label { text: short_receiver(receiver, &self.style), tag, given: false };
        label.shown()
    }

    /// What the numbers of objects stand for, in order: `#1 AtomicUsize src/x.rs:5:17`.
    pub(crate) fn numbered(&self, objects: &[Object]) -> Vec<String> {
        let mut tagged: Vec<_> =
            self.objects.iter().zip(objects).filter_map(|(label, object)| Some((label.tag?, object))).collect();
        tagged.sort_by_key(|(tag, _)| *tag);
        let describe = |(tag, object): (usize, &Object)| match &object.created {
            Some(place) => format!("#{tag} {} {}", object.family, self.style.user(&shown(place))),
            None => format!("#{tag} {}", object.family),
        };
        tagged.into_iter().map(describe).collect()
    }
}

/// Every use of an object in the source: object, method, place.
type Use<'a> = (usize, &'static str, &'a Place);

fn uses(trace: &Trace) -> Vec<Use<'_>> {
    let steps = trace.steps.iter().filter_map(|step| Some((step.object?, step.method, &step.site)));
    let waiters: &[_] = match &trace.failure {
        Failure::Deadlock { waiters } | Failure::Livelock { waiters } => waiters,
        _ => &[],
    };
    let waits = waiters.iter().filter_map(|waiter| Some((waiter.object?, waiter.method, &waiter.site)));
    steps.chain(waits).collect()
}

/// How `uses` are written. The place of an operation that is not in the source (the unlock of a dropped guard, the locks inside
/// `Condvar::wait`) names another method: its receiver is another object.
fn written(uses: &[Use<'_>], sources: &Sources) -> Written {
    let form = |method: &str, place: &Place| {
        let (text, offset) =
            sources.locate(place).filter(|(text, offset)| callee(text, *offset).starts_with(method))?;
        Some(receiver(&text, offset).map_or(Form::Function, Form::Method))
    };
    let mut found = HashMap::new();
    for (_, method, place) in uses {
        found.entry(((*place).clone(), *method)).or_insert_with(|| form(method, place).unwrap_or(Form::Hidden));
    }
    found
}

fn labels(trace: &Trace, uses: &[Use<'_>], written: &Written, style: &Style) -> Vec<Label> {
    let given = |object: usize| trace.objects[object].name.is_some();
    let known = uses.iter().filter(|(object, ..)| *object < trace.objects.len() && !given(*object));
    let mut texts: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    let mut order: Vec<usize> = Vec::new();
    for (object, method, place) in known {
        let all = texts.entry(*object).or_insert_with(|| {
            order.push(*object);
            Vec::new()
        });
        if let Some(Form::Method(text)) = written.get(&((*place).clone(), *method))
            && !all.contains(&text.as_str())
        {
            all.push(text);
        }
    }
    let mut labels: Vec<Label> =
        (0..trace.objects.len()).map(|object| label(&trace.objects[object], texts.get(&object), style)).collect();
    number(&mut labels, &texts, &order);
    labels
}

fn label(object: &Object, receivers: Option<&Vec<&str>>, style: &Style) -> Label {
    let text = match (&object.name, receivers.and_then(|all| all.first()), &object.created) {
        (Some(name), ..) => style.user(name),
        (None, Some(receiver), _) => short_receiver(receiver, style),
        (None, None, Some(place)) => created(object.family, place, style),
        (None, None, None) => object.family.to_owned(),
    };
    Label { text, tag: None, given: object.name.is_some() }
}

fn created(family: &str, place: &Place, style: &Style) -> String {
    let long = format!("{family}@{}:{}", style.user(super::source::shown_file(&place.file)), place.line);
    if width(&long) <= CALL - 10 { long } else { format!("{family}@{}", style.user(&brief(place))) }
}

/// Numbers the objects whose name is not theirs alone, or which have several, in the order of first use.
fn number(labels: &mut [Label], texts: &BTreeMap<usize, Vec<&str>>, order: &[usize]) {
    let mut owners: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (object, label) in labels.iter().enumerate().filter(|(_, label)| !label.given) {
        owners.entry(label.text.clone()).or_default().insert(object);
        for text in texts.get(&object).into_iter().flatten() {
            owners.entry((*text).to_owned()).or_default().insert(object);
        }
    }
    let shared = |name: &str| owners.get(name).is_some_and(|objects| objects.len() > 1);
    let unused = (0..labels.len()).filter(|object| !order.contains(object));
    let mut next = 1;
    for object in order.iter().copied().chain(unused).collect::<Vec<_>>() {
        let all = texts.get(&object).map_or(&[][..], Vec::as_slice);
        let ambiguous = all.len() > 1 || shared(&labels[object].text) || all.iter().any(|text| shared(text));
        if ambiguous && !labels[object].given {
            labels[object].tag = Some(next);
            next += 1;
        }
    }
}

/// A receiver in the columns it may take: what is in its brackets goes first, then the start of the path.
fn short_receiver(receiver: &str, style: &Style) -> String {
    let ellipsis = style.glyphs().ellipsis;
    let receiver = style.user(receiver);
    if width(&receiver) <= RECEIVER {
        return receiver;
    }
    let folded = fold_brackets(&receiver, ellipsis);
    if width(&folded) <= RECEIVER {
        return folded;
    }
    let shorter = folded.match_indices('.').map(|(at, _)| format!("{ellipsis}{}", &folded[at..]));
    let fitting = shorter.filter(|text| !text.contains("..") || style.ascii).find(|text| width(text) <= RECEIVER);
    fitting.unwrap_or_else(|| fit_start(&folded, RECEIVER, ellipsis))
}

/// `slots[hash(key) % 7].head` as `slots[…].head`.
fn fold_brackets(text: &str, ellipsis: &str) -> String {
    let (mut out, mut depth, mut inner) = (String::new(), 0usize, String::new());
    for c in text.chars() {
        let closes = matches!(c, ')' | ']' | '}');
        if closes && depth == 1 {
            out.push_str(if width(&inner) > 3 { ellipsis } else { &inner });
            inner.clear();
        }
        depth = if closes { depth.saturating_sub(1) } else { depth };
        if depth == 0 {
            out.push(c)
        } else {
            inner.push(c)
        }
        depth += usize::from(matches!(c, '(' | '[' | '{'));
    }
    out + &inner
}
