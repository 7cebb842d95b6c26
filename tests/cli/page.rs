//! The HTML page of a replay file.

use std::path::{Path, PathBuf};
use std::process::Command;

use data_encoding::BASE64;
use sha2::{Digest, Sha256};

use crate::commands::recorded;
use crate::fixture::{Directory, alone, builds, interleave, package, run};

fn page(file: &Path, to: &Path) -> String {
    run(interleave(package(), &["report"]).arg(file).arg("--html").arg(to)).with(0, &[]);
    std::fs::read_to_string(to).expect("it was written")
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    text.split(start).nth(1).and_then(|rest| rest.split(end).next()).unwrap_or_else(|| panic!("no {start}"))
}

#[test]
fn the_page_needs_nothing_else_and_allows_nothing_else() {
    let _alone = alone();
    let scratch = Directory::new("page");
    let html = page(&recorded(), &scratch.0.join("page.html"));
    let policy = between(&html, "Content-Security-Policy\" content=\"", "\">");
    let hash = |text: &str| format!("'sha256-{}'", BASE64.encode(&Sha256::digest(text.as_bytes())));
    let (style, script) = (between(&html, "<style>", "</style>"), between(&html, "<script>", "</script>"));
    let expected = format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'",
        hash(script),
        hash(style)
    );
    assert_eq!(policy, expected);
    for word in ["http:", "https:", "src=", "@import", "url(http", " style=\"", " onclick"] {
        assert!(!html.contains(word), "{word} is in the page");
    }
    // spawn, 2 loads, 2 stores, join, load; and the failure.
    assert_eq!(html.matches("<div class=\"row").count(), 8);
    assert_eq!(html.matches("<circle").count(), 7);
    // The spawn before what the thread does, and what it does before the join.
    assert_eq!(html.matches("class=\"arrow a-sw\"").count(), 2);
    assert_eq!(html.matches("class=\"arrow a-preempt\"").count(), 1);
    // The last load reads what one of the stores wrote, its own thread's or the other's.
    assert!(html.matches("class=\"arrow a-rf\"").count() <= 1);
}

#[test]
fn text_from_the_user_is_escaped() {
    let _alone = alone();
    let scratch = Directory::new("hostile");
    let arguments = ["test", "has_hostile_names", "--no-nextest", "--", "--ignored"];
    let came = run(&mut interleave(package(), &arguments)).with(1, &[]);
    assert!(!came.text.contains('\u{1b}'), "no escape code of the user's reaches the terminal: {:?}", came.text);
    let file = builds().join("cfg-interleave/interleave/counter--has_hostile_names.il");
    let path = scratch.0.join("page.html");
    let html = page(&file, &path);
    assert_eq!(html.matches("<script").count(), 2, "the data and the script");
    for word in ["<img", "<b>red", "\u{1b}"] {
        assert!(!html.contains(word), "{word:?} is in the page");
    }
    assert!(html.contains("class=\"arrow a-lock\""), "the lock is handed over");
    if let Some(browser) = Browser::find() {
        let dom = browser.dom(&path, "step-2");
        assert!(dom.contains("<title>has_hostile_names: panic</title>"), "nothing of it ran");
        assert!(dom.contains("</script>") && !dom.contains("<img"));
    }
}

/// A Chromium, if there is one.
struct Browser(PathBuf);

impl Browser {
    fn find() -> Option<Browser> {
        let path = std::env::var_os("PATH")?;
        let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
        let found = std::env::split_paths(&path).flat_map(|directory| names.map(|name| directory.join(name)));
        let found = found.into_iter().find(|path| path.is_file());
        if found.is_none() {
            eprintln!("skipped: no Chromium on the PATH, so the page is not looked at in a browser");
        }
        found.map(Browser)
    }

    fn run(&self, arguments: &[&str]) -> String {
        let profile = Directory::new(&format!("browser-{}", arguments.len()));
        let mut command = Command::new(&self.0);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"]);
        command
            .arg(format!("--user-data-dir={}", profile.0.display()))
            .args(["--window-size=1500,900"])
            .args(arguments);
        let output = command.output().expect("the browser can be run");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// What the page has become after it was opened at `hash`.
    fn dom(&self, page: &Path, hash: &str) -> String {
        self.run(&["--virtual-time-budget=5000", "--dump-dom", &format!("file://{}#{hash}", page.display())])
    }

    /// As [`Browser::act`] for a page opened at `hash`, before the browser goes on: in real time.
    fn at_once(&self, page: &Path, hash: &str, script: &str) -> String {
        let harness = page.with_file_name("harness.html");
        let text = format!(
            "<pre id=r></pre><iframe id=f width=1500 height=900></iframe><script>\nconst f = document.getElementById('f');\n\
             f.onload = () => {{\n  let said;\n  try {{ said = ({script})(f.contentDocument, f.contentWindow); }} catch (e) {{ \
             said = 'error: ' + e; }}\n  document.getElementById('r').textContent = 'said:' + said + ':end';\n}};\nf.src = \
             '{}#{hash}';\n</script>",
            page.file_name().expect("a file").to_string_lossy()
        );
        std::fs::write(&harness, text).expect("the directory can be written");
        let dom = self.run(&["--dump-dom", &format!("file://{}", harness.display())]);
        between(&dom, "<pre id=\"r\">said:", ":end").to_owned()
    }

    /// Opens the page in a frame and runs `script` there, a function of the document and window that returns a text.
    fn act(&self, page: &Path, script: &str) -> String {
        let harness = page.with_file_name("harness.html");
        let text = format!(
            "<iframe id=f src=\"{}\" width=1500 height=900></iframe><pre id=r></pre><script>\nconst f = \
             document.getElementById('f');\nf.onload = async () => {{\n  let said;\n  try {{ said = await ({script})(f.contentDocument, \
             f.contentWindow); }} catch (e) {{ said = 'error: ' + e; }}\n  document.getElementById('r').textContent = 'said:' + \
             said + ':end';\n}};\n</script>",
            page.file_name().expect("a file").to_string_lossy()
        );
        std::fs::write(&harness, text).expect("the directory can be written");
        let dom = self.run(&["--virtual-time-budget=20000", "--dump-dom", &format!("file://{}", harness.display())]);
        between(&dom, "said:", ":end").to_owned()
    }
}

#[test]
fn clicks_show_the_step_and_colour_the_others() {
    let _alone = alone();
    let scratch = Directory::new("clicks");
    let path = scratch.0.join("page.html");
    page(&recorded(), &path);
    let Some(browser) = Browser::find() else { return };
    // A link to a step opens it.
    let dom = browser.dom(&path, "step-7");
    assert!(dom.contains("Step 7: n.load(SeqCst)"), "the link opens the step");
    let details = between(&dom, "id=\"details\"", "</aside>");
    assert!(details.contains("an update is lost"), "the source is shown: {details}");
    let script = "async (d, w) => {
        d.querySelector('#step-3 .effect').click();
        await new Promise(r => setTimeout(r, 200));
        const of = n => ['sel', 'before', 'after', 'conc'].filter(c => d.getElementById('step-' + n).classList.contains(c));
        const kinds = [1, 2, 3, 4, 5, 6, 7].map(n => of(n).join('+'));
        d.querySelector('nav input[value=sw]').click();
        const shown = w.getComputedStyle(d.querySelector('.a-sw')).display;
        return [w.location.hash, d.querySelector('#details h2').textContent, kinds.join(' '), shown].join(' | ');
    }";
    // Main spawns and loads; the thread loads and stores; main stores, joins and loads.
    let said = browser.act(&path, script);
    let parts: Vec<&str> = said.split(" | ").collect();
    assert_eq!(parts[0], "#step-3", "{said}");
    assert!(parts[1].starts_with("Step 3: n"), "{said}");
    assert_eq!(parts[2], "before conc sel after conc after after", "{said}");
    assert_eq!(parts[3], "none", "the arrows are switched off: {said}");
}

#[test]
fn three_thousand_steps_are_smooth() {
    let _alone = alone();
    let scratch = Directory::new("many");
    let arguments = ["test", "has_many_steps", "--no-nextest", "--", "--ignored"];
    run(&mut interleave(package(), &arguments)).with(1, &["after many steps"]);
    let path = scratch.0.join("page.html");
    let html = page(&builds().join("cfg-interleave/interleave/counter--has_many_steps.il"), &path);
    let rows = html.matches("<div class=\"row").count();
    assert!(rows > 3_000, "{rows}");
    assert!(html.len() < 4 << 20, "{} bytes", html.len());
    let Some(browser) = Browser::find() else { return };
    // Milliseconds from a click to the new layout, of five clicks the middle one. A click on a step that is selected already
    // does all that the first click does, at once.
    let script = "(d, w) => {
        const row = d.getElementById('step-1500');
        const times = [1, 2, 3, 4, 5].map(() => {
            const start = performance.now();
            row.click();
            d.body.getBoundingClientRect();
            row.getBoundingClientRect();
            return performance.now() - start;
        });
        const shown = d.querySelectorAll('.row.before, .row.after, .row.conc, .row.sel').length;
        return times.sort((a, b) => a - b)[2].toFixed(1) + ' ' + shown;
    }";
    let said = browser.at_once(&path, "step-1500", script);
    let (time, shown) = said.split_once(' ').unwrap_or_else(|| panic!("{said}"));
    assert_eq!(shown.parse(), Ok(rows - 1), "every step has a colour");
    eprintln!("a click in {rows} rows takes {time} ms");
    assert!(time.parse::<f64>().is_ok_and(|time| time < 200.0), "{said}");
}
