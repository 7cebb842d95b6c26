//! `--cfg interleave`, added to whatever compiler flags are in force.
//!
//! Cargo takes flags from the first of these that is there and ignores the others: `CARGO_ENCODED_RUSTFLAGS`, `RUSTFLAGS`,
//! `target.*.rustflags` of the configuration, `build.rustflags` of the configuration (The Cargo Book, "Configuration",
//! `build.rustflags`). So the flag is added to the first that is there; as it is not known which `target.*` apply, to all of
//! these and to `build` as well. The same holds for rustdoc.

use std::path::Path;

/// The flag, as separate arguments.
const FLAG: [&str; 2] = ["--cfg", "interleave"];
/// What separates the flags in the encoded variables.
const UNIT: char = '\u{1f}';

/// What has to be given to cargo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    /// Variables to set.
    pub(super) variables: Vec<(String, String)>,
    /// Arguments, right after the name of the subcommand.
    pub(super) arguments: Vec<String>,
}

/// The flags for the environment `variables`, and configuration files, the one that wins first.
pub(super) fn with_cfg(variables: &[(String, String)], files: &[toml::Table]) -> Flags {
    let mut flags = Flags::default();
    for key in ["rustflags", "rustdocflags"] {
        add(key, variables, files, &mut flags);
    }
    flags
}

fn add(key: &str, variables: &[(String, String)], files: &[toml::Table], flags: &mut Flags) {
    let name = key.to_uppercase();
    let get = |name: &str| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let encoded = format!("CARGO_ENCODED_{name}");
    if let Some(value) = get(&encoded) {
        let all = value.split(UNIT).filter(|flag| !flag.is_empty()).chain(FLAG).collect::<Vec<_>>();
        flags.variables.push((encoded, all.join(&UNIT.to_string())));
        return;
    }
    if let Some(value) = get(&name) {
        flags.variables.push((name, appended(value)));
        return;
    }
    let of_target = |known: &str| known.starts_with("CARGO_TARGET_") && known.ends_with(&format!("_{name}"));
    for (known, value) in variables.iter().filter(|(known, _)| of_target(known)) {
        flags.variables.push((known.clone(), appended(value)));
    }
    let build = format!("CARGO_BUILD_{name}");
    match get(&build) {
        Some(value) => flags.variables.push((build, appended(value))),
        None => flags.arguments.extend(argument(&format!("build.{key}"), configured(files, "build", None, key))),
    }
    let mut targets: Vec<&String> =
        files.iter().filter_map(|file| file.get("target")?.as_table()).flatten().map(|(target, _)| target).collect();
    targets.sort();
    targets.dedup();
    for target in targets {
        let set = configured(files, "target", Some(target), key);
        if set.is_some() {
            let quoted = toml::Value::String(target.clone());
            flags.arguments.extend(argument(&format!("target.{quoted}.{key}"), set));
        }
    }
}

fn appended(value: &str) -> String {
    format!("{value} {}", FLAG.join(" ")).trim_start().to_owned()
}

/// The value that the first file has which has one.
fn configured<'a>(files: &'a [toml::Table], table: &str, inner: Option<&str>, key: &str) -> Option<&'a toml::Value> {
    files.iter().find_map(|file| {
        let table = file.get(table)?;
        inner.map_or(Some(table), |inner| table.get(inner))?.get(key)
    })
}

/// `--config` that adds the flag: cargo joins lists, and replaces texts.
fn argument(path: &str, set: Option<&toml::Value>) -> [String; 2] {
    let value = match set.and_then(toml::Value::as_str) {
        Some(text) => toml::Value::String(appended(text)),
        None => toml::Value::Array(FLAG.map(|flag| toml::Value::String(flag.to_owned())).to_vec()),
    };
    ["--config".to_owned(), format!("{path}={value}")]
}

/// The configuration files for `directory`, the one that wins first.
pub(super) fn files(directory: &Path, home: Option<&Path>) -> Result<Vec<toml::Table>, String> {
    let places = directory.ancestors().map(|above| above.join(".cargo"));
    let mut found = Vec::new();
    for place in places.chain(home.map(Path::to_path_buf)) {
        let names = ["config", "config.toml"].map(|name| place.join(name));
        let Some(path) = names.into_iter().find(|path| path.is_file()) else { continue };
        let text =
            std::fs::read_to_string(&path).map_err(|error| format!("{} cannot be read ({error})", path.display()))?;
        let table: toml::Table = text
            .parse()
            .map_err(|error: toml::de::Error| format!("{} is not TOML: {}", path.display(), error.message()))?;
        if !found.contains(&table) {
            found.push(table);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(variables: &[(&str, &str)], files: &[&str]) -> Flags {
        let variables: Vec<_> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let files: Vec<toml::Table> = files.iter().map(|text| text.parse().expect("it is TOML")).collect();
        let mut flags = with_cfg(&variables, &files);
        // Those for rustdoc are as those for rustc.
        flags.variables.retain(|(name, _)| name.contains("RUSTFLAGS"));
        let keep: Vec<bool> = flags.arguments.iter().map(|argument| !argument.contains("rustdocflags")).collect();
        let rest = flags.arguments.chunks(2).zip(keep.chunks(2)).filter(|(_, keep)| keep[1]);
        flags.arguments = rest.flat_map(|(pair, _)| pair.to_vec()).collect();
        flags
    }

    fn set(name: &str, value: &str) -> Flags {
        Flags { variables: vec![(name.to_owned(), value.to_owned())], arguments: Vec::new() }
    }

    fn arguments(values: &[&str]) -> Flags {
        let pairs = values.iter().flat_map(|value| ["--config".to_owned(), (*value).to_owned()]);
        Flags { variables: Vec::new(), arguments: pairs.collect() }
    }

    #[test]
    fn the_first_source_that_is_there_gets_the_flag() {
        let build = "[build]\nrustflags = [\"-Ca\"]";
        assert_eq!(flags(&[("RUSTFLAGS", "-C x")], &[build]), set("RUSTFLAGS", "-C x --cfg interleave"));
        assert_eq!(flags(&[("RUSTFLAGS", "")], &[build]), set("RUSTFLAGS", "--cfg interleave"));
        assert_eq!(
            flags(&[("RUSTFLAGS", "-C x"), ("CARGO_ENCODED_RUSTFLAGS", "-C\u{1f}a b")], &[]),
            set("CARGO_ENCODED_RUSTFLAGS", "-C\u{1f}a b\u{1f}--cfg\u{1f}interleave")
        );
        assert_eq!(flags(&[], &[]), arguments(&["build.rustflags=[\"--cfg\", \"interleave\"]"]));
        assert_eq!(flags(&[], &[build]), arguments(&["build.rustflags=[\"--cfg\", \"interleave\"]"]));
    }

    #[test]
    fn every_target_of_the_configuration_gets_the_flag() {
        let near = "[target.'cfg(unix)']\nrustflags = \"-Ca\"\n[target.x]\nrunner = \"r\"";
        let far = "[target.'cfg(unix)']\nrustflags = \"-Cb\"\n[target.y]\nrustflags = [\"-Cc\"]";
        let expected = arguments(&[
            "build.rustflags=[\"--cfg\", \"interleave\"]",
            "target.\"cfg(unix)\".rustflags=\"-Ca --cfg interleave\"",
            "target.\"y\".rustflags=[\"--cfg\", \"interleave\"]",
        ]);
        assert_eq!(flags(&[], &[near, far]), expected);
        let both = flags(&[("CARGO_TARGET_X_RUSTFLAGS", "-Cd"), ("CARGO_BUILD_RUSTFLAGS", "-Ce")], &[near]);
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            both.variables,
            [
                variable("CARGO_TARGET_X_RUSTFLAGS", "-Cd --cfg interleave"),
                variable("CARGO_BUILD_RUSTFLAGS", "-Ce --cfg interleave")
            ]
        );
        assert_eq!(both.arguments, arguments(&["target.\"cfg(unix)\".rustflags=\"-Ca --cfg interleave\""]).arguments);
    }

    #[test]
    fn rustdoc_gets_it_too() {
        let flags = with_cfg(&[("RUSTFLAGS".to_owned(), "-Cx".to_owned())], &[]);
        assert_eq!(flags.variables, set("RUSTFLAGS", "-Cx --cfg interleave").variables);
        assert_eq!(flags.arguments, arguments(&["build.rustdocflags=[\"--cfg\", \"interleave\"]"]).arguments);
    }
}
