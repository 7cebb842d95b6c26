//! Cargo: which packages and targets there are, and its command lines.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use serde::Deserialize;

use super::flags::{self, Flags};

/// What to build and to run, as for `cargo test`.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Selection")]
pub(super) struct Selection {
    /// Only this package (may be repeated)
    #[arg(short, long, value_name = "PACKAGE")]
    package: Vec<String>,
    /// All packages of the workspace
    #[arg(long)]
    workspace: bool,
    /// Only the library's tests
    #[arg(long)]
    lib: bool,
    /// Only this test binary (may be repeated)
    #[arg(long, value_name = "NAME")]
    test: Vec<String>,
    /// Only this binary's tests (may be repeated)
    #[arg(long, value_name = "NAME")]
    bin: Vec<String>,
    /// Only this example's tests (may be repeated)
    #[arg(long, value_name = "NAME")]
    example: Vec<String>,
    /// Features to activate
    #[arg(short = 'F', long, value_name = "FEATURES")]
    features: Vec<String>,
    /// All features
    #[arg(long)]
    all_features: bool,
    /// Without the default features
    #[arg(long)]
    no_default_features: bool,
    /// Optimised
    #[arg(short, long)]
    release: bool,
    /// With this profile
    #[arg(long, value_name = "PROFILE")]
    profile: Option<String>,
    /// Where to build [default: `cfg-interleave` in cargo's target directory]
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) target_dir: Option<PathBuf>,
    /// The manifest of the package or workspace
    #[arg(long, value_name = "PATH")]
    pub(super) manifest_path: Option<PathBuf>,
    /// Without the network
    #[arg(long)]
    offline: bool,
    /// Cargo.lock must not change
    #[arg(long)]
    locked: bool,
    /// Without `--cfg interleave`: enough for models whose code imports the types from `interleave` itself
    #[arg(long)]
    pub(super) no_cfg: bool,
}

impl Selection {
    /// Whether it names kinds of targets; doctests are none of these.
    pub(super) fn names_targets(&self) -> bool {
        self.lib || !(self.test.is_empty() && self.bin.is_empty() && self.example.is_empty())
    }

    /// That packages are chosen, and how they are built.
    pub(super) fn build_arguments(&self) -> Vec<OsString> {
        let mut all: Vec<OsString> = Vec::new();
        let mut each = |name: &str, values: &[String]| {
            for value in values {
                all.extend([name.into(), value.into()]);
            }
        };
        each("--package", &self.package);
        each("--features", &self.features);
        each("--profile", self.profile.as_slice());
        for (given, name) in [
            (self.workspace, "--workspace"),
            (self.all_features, "--all-features"),
            (self.no_default_features, "--no-default-features"),
            (self.release, "--release"),
            (self.offline, "--offline"),
            (self.locked, "--locked"),
        ] {
            if given {
                all.push(name.into());
            }
        }
        if let Some(path) = &self.manifest_path {
            all.extend(["--manifest-path".into(), path.into()]);
        }
        all
    }

    /// Which targets.
    pub(super) fn target_arguments(&self) -> Vec<OsString> {
        let mut all: Vec<OsString> = Vec::new();
        if self.lib {
            all.push("--lib".into());
        }
        for (name, values) in [("--test", &self.test), ("--bin", &self.bin), ("--example", &self.example)] {
            all.extend(values.iter().flat_map(|value| [OsString::from(name), value.into()]));
        }
        all
    }
}

/// A workspace, from `cargo metadata`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Workspace {
    pub(super) packages: Vec<Package>,
    workspace_root: PathBuf,
    target_directory: PathBuf,
}

/// A package of it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) manifest_path: PathBuf,
    targets: Vec<Target>,
}

impl Package {
    /// Its directory.
    pub(super) fn directory(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(Path::new("."))
    }

    /// Whether it has a library that can have doctests.
    fn has_library(&self) -> bool {
        self.targets.iter().any(|target| target.kind.iter().any(|kind| kind == "lib" || kind == "rlib"))
    }
}

#[derive(Clone, Debug, Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// The cargo that runs this, or the one on the path.
pub(super) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

impl Workspace {
    /// Asks cargo.
    pub(super) fn read(selection: &Selection) -> Result<Workspace, String> {
        let mut command = cargo();
        command.args(["metadata", "--no-deps", "--format-version", "1"]);
        if let Some(path) = &selection.manifest_path {
            command.arg("--manifest-path").arg(path);
        }
        let output = command.output().map_err(|error| format!("cargo cannot be run ({error}): is it on the PATH?"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            // The cause comes last, after what cargo was about to do.
            let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            return Err(format!("cargo metadata failed: {}", lines.join(" ").trim_start_matches("error: ")));
        }
        serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata is not understood: {error}"))
    }

    /// The package and the arguments that select the program, as replay files call it.
    pub(super) fn program(&self, program: &str) -> Option<(&Package, Vec<OsString>)> {
        let is = |target: &&Target| target.name.replace('-', "_") == program.replace('-', "_");
        let runs = |target: &&Target| target.kind.iter().any(|kind| kind != "custom-build" && kind != "proc-macro");
        self.packages.iter().find_map(|package| {
            let target = package.targets.iter().filter(runs).find(is)?;
            let mut arguments: Vec<OsString> = vec!["--package".into(), package.name.clone().into()];
            match target.kind.first().map(String::as_str) {
                Some(kind @ ("test" | "bin" | "example" | "bench")) => {
                    arguments.extend([format!("--{kind}").into(), target.name.clone().into()])
                }
                _ => arguments.push("--lib".into()),
            }
            Some((package, arguments))
        })
    }

    /// Whether any of the packages has doctests.
    pub(super) fn has_library(&self) -> bool {
        self.packages.iter().any(Package::has_library)
    }

    /// Where the builds of a bisection go.
    pub(super) fn bisection_directory(&self) -> PathBuf {
        self.target_directory.join("bisect")
    }

    /// Where builds with the flag go: other flags make other builds, and would push each other out of one directory.
    fn target_directory(&self) -> PathBuf {
        self.target_directory.join("cfg-interleave")
    }
}

/// A way to call cargo with the flag, if it is wanted.
pub(super) struct Caller {
    flags: Flags,
    target_directory: Option<PathBuf>,
}

impl Caller {
    /// For this selection in this workspace.
    pub(super) fn new(workspace: &Workspace, selection: &Selection) -> Result<Caller, String> {
        let directory = std::env::current_dir().unwrap_or_else(|_| workspace.workspace_root.clone());
        Caller::below(&directory, workspace, selection)
    }

    /// As [`Caller::new`], for cargo run in `directory`.
    pub(super) fn below(directory: &Path, workspace: &Workspace, selection: &Selection) -> Result<Caller, String> {
        if selection.no_cfg {
            return Ok(Caller { flags: Flags::default(), target_directory: selection.target_dir.clone() });
        }
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
        let files = flags::files(directory, home.as_deref())?;
        let variables: Vec<_> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let target_directory = selection.target_dir.clone().unwrap_or_else(|| workspace.target_directory());
        Ok(Caller { flags: flags::with_cfg(&variables, &files), target_directory: Some(target_directory) })
    }

    /// `cargo SUBCOMMAND...` with the flag.
    pub(super) fn command(&self, subcommand: &[&str]) -> Command {
        let mut command = cargo();
        command.args(subcommand).args(&self.flags.arguments);
        command.envs(self.flags.variables.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = &self.target_directory {
            command.arg("--target-dir").arg(directory);
        }
        command
    }
}

/// Whether nextest is there.
pub(super) fn has_nextest() -> bool {
    cargo().args(["nextest", "--version"]).output().is_ok_and(|output| output.status.success())
}
