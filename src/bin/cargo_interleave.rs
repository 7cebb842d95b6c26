//! `cargo interleave`: runs models, replays and shows what they found. See `docs/cli.md`.

fn main() -> std::process::ExitCode {
    interleave::cli::main()
}
