//! The head of a report: the error line, where it points, how the failure was found, whether it needs weak memory.

use dpor::Role;

use super::frame::{Frame, Spot};
use super::measure::{fit, width, wrap};
use super::names::Names;
use super::number::count;
use super::rows::panic_details;
use super::style::Style;
use super::trace::{Failure, Found, MemoryNote, RacyAccess, Trace, Waiter};
use super::wait_for;

/// Lines of a panic message that are shown.
const MESSAGE: usize = 8;
/// Details of a panic up to this width stand beside the source line.
const BESIDE: usize = 48;
/// Places that are pointed at.
const SPOTS: usize = 4;

/// The stable code of a failure (without the prefix `interleave::`).
pub(crate) fn code(failure: &Failure) -> &'static str {
    match failure {
        Failure::Panic { .. } => "panic",
        Failure::Deadlock { .. } => "deadlock",
        Failure::Livelock { .. } => "livelock",
        Failure::DataRace { .. } => "data_race",
        Failure::Nondeterminism { .. } => "nondeterminism",
        Failure::Other { code, .. } => code,
    }
}

/// The head of the report on `trace`.
pub(crate) fn frame<'a>(trace: &'a Trace, names: &Names, style: &Style) -> Frame<'a> {
    let code = format!("interleave::{}", code(&trace.failure));
    let room = style.width.saturating_sub("error[]: ".len() + code.len());
    let title = title(trace, names, style);
    let cut = width(&title) > room;
    let mut notes = Vec::new();
    if let Failure::Panic { message, .. } = &trace.failure {
        notes.extend(message_note(message, cut, style));
    }
    if let Failure::Other { message, .. } = &trace.failure
        && (cut || message.trim_end().contains('\n'))
    {
        notes.push(("message", block(message, style)));
    }
    let wrapped = |name: &'static str, text: String| {
        let columns = style.width.saturating_sub(name.len() + 12);
        (name, wrap(&text, columns, style.glyphs().ellipsis).join("\n"))
    };
    // What is wrong before anything is run is in no execution.
    if trace.found.execution > 0 || trace.found.replayed {
        notes.push(wrapped("found", found(&trace.found)));
    }
    notes.extend(trace.memory.map(|note| wrapped("memory", memory(trace, note, names))));
    notes.extend(help(&trace.failure, style).map(|text| wrapped("help", text)));
    Frame { code, title: fit(&title, room, style.glyphs().ellipsis), spots: spots(trace, names, style), notes }
}

fn title(trace: &Trace, names: &Names, style: &Style) -> String {
    let thread = |thread: usize| format!("`{}`", names.threads[thread]);
    let first_line =
        |text: &str| style.user(text.lines().find(|line| !line.trim().is_empty()).unwrap_or("").trim_end());
    match &trace.failure {
        Failure::Panic { thread: panicking, message, .. } => match first_line(message) {
            empty if empty.is_empty() => format!("thread {} panicked", thread(*panicking)),
            line => line,
        },
        Failure::Deadlock { waiters } => deadlock_title(waiters, names),
        Failure::Livelock { waiters } => {
            let spinning: Vec<usize> =
                waiters.iter().filter(|waiter| spins(waiter)).map(|waiter| waiter.thread).collect();
            match spinning.as_slice() {
                [only] => format!("thread {} spins for ever", thread(*only)),
                all => format!("{} spin for ever", count(all.len() as u64, "thread")),
            }
        }
        Failure::DataRace { object, first, second, .. } => {
            let what = |access: &RacyAccess| format!("{} by {}", style.user(&access.what), thread(access.thread));
            format!("unordered accesses to `{}`: {}, {}", names.object(*object), what(first), what(second))
        }
        Failure::Nondeterminism { thread: changed, .. } => {
            format!(
                "the model is not deterministic: {} took another path when the same decisions were made",
                thread(*changed)
            )
        }
        Failure::Other { message, .. } => first_line(message),
    }
}

fn deadlock_title(waiters: &[Waiter], names: &Names) -> String {
    let cycle = wait_for::cycle(waiters);
    let roots: Vec<&Waiter> = waiters.iter().filter(|waiter| waiter.waits_for.is_empty()).collect();
    match (cycle.as_slice(), roots.as_slice()) {
        ([only], _) => format!("thread `{}` waits for itself", names.threads[*only]),
        ([_, ..], _) => format!("{} wait for each other", count(cycle.len() as u64, "thread")),
        ([], [only]) => format!("thread `{}` waits and nobody will wake it", names.threads[only.thread]),
        ([], _) => format!(
            "{} and nobody will wake them",
            count(waiters.len() as u64, "thread").replace(" threads", " threads wait")
        ),
    }
}

/// The whole message, if neither the error line nor the label has it.
fn message_note(message: &str, cut: bool, style: &Style) -> Option<(&'static str, String)> {
    let details = panic_details(message);
    (cut || width(&details) > BESIDE).then(|| ("message", block(message, style)))
}

/// Several lines of text from the user; each is escaped.
fn block(text: &str, style: &Style) -> String {
    let columns = style.width.saturating_sub(20);
    let ellipsis = style.glyphs().ellipsis;
    let lines: Vec<String> =
        text.trim_end().lines().flat_map(|line| indented(&style.user(line), columns, ellipsis)).collect();
    let more = lines.len().saturating_sub(MESSAGE);
    let mut shown: Vec<String> = lines.into_iter().take(MESSAGE).collect();
    if more > 0 {
        shown.push(format!("{ellipsis} and {}", count(more as u64, "more line")));
    }
    shown.join("\n")
}

/// `line` wrapped, each part indented as it is.
fn indented(line: &str, columns: usize, ellipsis: &str) -> Vec<String> {
    let text = line.trim_start_matches(' ');
    let blank = (line.len() - text.len()).min(columns / 3);
    wrap(text, columns - blank, ellipsis).into_iter().map(|part| format!("{:blank$}{part}", "")).collect()
}

fn spots<'a>(trace: &'a Trace, names: &Names, style: &Style) -> Vec<Spot<'a>> {
    let name = |thread: usize| &names.threads[thread];
    match &trace.failure {
        Failure::Panic { thread, message, site } => {
            let details = panic_details(message);
            let label = match details.is_empty() || width(&details) > BESIDE {
                true => format!("thread `{}` panicked here", name(*thread)),
                false => format!("thread `{}` panicked here: {}", name(*thread), style.user(&details)),
            };
            vec![Spot { place: site, label }]
        }
        Failure::Deadlock { waiters } => {
            let cycle = wait_for::cycle(waiters);
            // Without a cycle, the thread that nobody wakes comes first: the others only wait for it.
            let mut shown: Vec<&Waiter> =
                waiters.iter().filter(|waiter| cycle.is_empty() || cycle.contains(&waiter.thread)).collect();
            shown.sort_by_key(|waiter| cycle.is_empty() && !waiter.waits_for.is_empty());
            waiting(&shown, names)
        }
        Failure::Livelock { waiters } => {
            let mut shown: Vec<&Waiter> = waiters.iter().collect();
            shown.sort_by_key(|waiter| !spins(waiter));
            waiting(&shown, names)
        }
        Failure::DataRace { first, second, .. } => {
            let label = |access: &'a RacyAccess| Spot {
                place: &access.site,
                label: format!("{} by `{}`", style.user(&access.what), name(access.thread)),
            };
            merged(label(second), label(first))
        }
        Failure::Nondeterminism { recorded, now, .. } => merged(
            Spot { place: &now.1, label: format!("now: {}", style.user(&now.0)) },
            Spot { place: &recorded.1, label: format!("recorded: {}", style.user(&recorded.0)) },
        ),
        Failure::Other { site, .. } => site.iter().map(|place| Spot { place, label: String::new() }).collect(),
    }
}

/// Where threads wait, one spot a place: threads that run the same code wait at the same place.
fn waiting<'a>(waiters: &[&'a Waiter], names: &Names) -> Vec<Spot<'a>> {
    let mut places: Vec<(&'a Waiter, Vec<String>)> = Vec::new();
    for waiter in waiters {
        let name = format!("`{}`", names.threads[waiter.thread]);
        match places.iter_mut().find(|(other, _)| other.site == waiter.site && spins(other) == spins(waiter)) {
            Some((_, names)) => names.push(name),
            None => places.push((waiter, vec![name])),
        }
    }
    let spot = |(waiter, names): (&'a Waiter, Vec<String>)| {
        let verb = if spins(waiter) { "spin" } else { "wait" };
        let ending = if names.len() == 1 { "s" } else { "" };
        Spot { place: &waiter.site, label: format!("{} {verb}{ending} here", names.join(", ")) }
    };
    places.into_iter().take(SPOTS).map(spot).collect()
}

/// Whether the thread spins, as opposed to those that are blocked beside it.
pub(crate) fn spins(waiter: &Waiter) -> bool {
    waiter.waits_for.is_empty() && waiter.role == Role::Plain
}

/// Two spots, or one if they are at the same place.
fn merged<'a>(first: Spot<'a>, second: Spot<'a>) -> Vec<Spot<'a>> {
    if first.place != second.place {
        return vec![first, second];
    }
    vec![Spot { place: first.place, label: format!("{}, {}", first.label, second.label) }]
}

fn found(found: &Found) -> String {
    let mut text = format!("execution {}", super::number::thousands(found.execution));
    if found.replayed {
        text = "replayed".to_owned();
    }
    if let Some(seed) = found.seed {
        let how = match found.sampling.as_str() {
            "" | "uniform" => String::new(),
            how => format!(" ({how})"),
        };
        text.push_str(&format!(" of a random search{how} with seed {seed}"));
    }
    if let Some(shrunk) = found.shrunk {
        text.push_str(&format!(
            "; shrunk from {} and {} in {}",
            count(shrunk.preemptions.into(), "preemption"),
            count(shrunk.steps, "step"),
            count(shrunk.executions, "execution")
        ));
    }
    if let Some(preemptions) = found.preemptions {
        text.push_str(&format!("; {}", count(preemptions.into(), "preemption")));
    }
    if let Some((fewer, executions)) = found.fewer.iter().enumerate().next_back() {
        let most = if fewer == 0 {
            "with 0 preemptions".to_owned()
        } else {
            format!("with at most {}", count(fewer as u64, "preemption"))
        };
        let fails = if *executions == 1 { "which does not fail" } else { "none fails" };
        text.push_str(&format!(" ({most}: {}, {fails})", count(*executions, "execution")));
    }
    text
}

fn memory(trace: &Trace, note: MemoryNote, names: &Names) -> String {
    let stale = trace.steps.iter().enumerate().find_map(|(index, step)| Some((index + 1, step, step.reads?.stale?)));
    match (note, stale) {
        (MemoryNote::FailsUnderSc, _) => {
            "fails under SC too (an interleaving bug, not a memory-ordering bug)".to_owned()
        }
        (MemoryNote::RacesWithEveryOrdering, _) => {
            "races with every ordering `SeqCst` too: the accesses need a lock or a wait".to_owned()
        }
        (MemoryNote::OrderingCures, _) => "no race with every ordering `SeqCst`: an ordering is too weak".to_owned(),
        (MemoryNote::RanUnderSc, _) if matches!(trace.failure, Failure::DataRace { .. }) => {
            "ran under SC, with every ordering `SeqCst`: behaviours that only weak memory has were not explored"
                .to_owned()
        }
        (MemoryNote::RanUnderSc, _) => {
            "ran under SC: behaviours that only weak memory has were not explored".to_owned()
        }
        (MemoryNote::NeedsWeakMemory, Some((number, step, newest))) => format!(
            "needs weak memory (a memory-ordering bug): step {number}, `{}`, reads a stale value (step {newest} is newer); \
             every interleaving (SC) of these steps passes",
            names.call(step)
        ),
        (MemoryNote::NeedsWeakMemory, None) => {
            "needs weak memory (a memory-ordering bug): every interleaving (SC) of these steps passes".to_owned()
        }
    }
}

fn help(failure: &Failure, style: &Style) -> Option<String> {
    match failure {
        Failure::Nondeterminism { .. } => Some(
            "usual causes: the clock, random numbers, the order of a HashMap, a static that keeps its value, a real thread or socket"
                .to_owned(),
        ),
        Failure::Other { help, .. } => help.as_deref().map(|text| style.user(text)),
        _ => None,
    }
}
