//! Running other programs: said first, then run, and a failure names what failed.

use std::env;
use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use anyhow::{Context, Result, bail};

use crate::workspace;

/// The cargo that runs us, at the root of the workspace.
pub(crate) fn cargo() -> Command {
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(workspace::root());
    command
}

/// The binary of twins, built if need be; its arguments follow.
pub(crate) fn twins() -> Command {
    let mut command = cargo();
    command.args(["run", "--quiet", "--release"]);
    command.args(["--package", "tk-spec", "--bin", "twins", "--"]);
    command
}

/// Runs to the end with our own input and output.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    say(command);
    let status = command
        .status()
        .with_context(|| format!("cannot start `{}`", line_of(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", line_of(command));
    }
    Ok(())
}

/// Runs to the end, passing its output on while `watch` reads every line of it.
///
/// What the program would have written to our standard output and error goes to the same places.
/// It sees pipes instead of a terminal; callers ask it for colours if there is one.
pub(crate) fn run_watched(command: &mut Command, watch: impl FnMut(&str) + Send) -> Result<()> {
    say(command);
    let line = line_of(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{line}`"))?;
    let watch = Mutex::new(watch);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        scope.spawn(|| pass_on(stdout, std::io::stdout(), &watch));
        scope.spawn(|| pass_on(stderr, std::io::stderr(), &watch));
    });
    let status = child
        .wait()
        .with_context(|| format!("cannot wait for `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// Runs to the end and hands each line of its standard output to `read`, showing none of them.
pub(crate) fn read_lines(command: &mut Command, mut read: impl FnMut(&str)) -> Result<()> {
    say(command);
    let line = line_of(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{line}`"))?;
    if let Some(stdout) = child.stdout.take() {
        for text in BufReader::new(stdout).lines() {
            read(&text.with_context(|| format!("cannot read what `{line}` prints"))?);
        }
    }
    let status = child
        .wait()
        .with_context(|| format!("cannot wait for `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// Copies line by line; a line that is not UTF-8 is passed on as well as it can be.
fn pass_on(from: Option<impl Read>, mut to: impl Write, watch: &Mutex<impl FnMut(&str)>) {
    let Some(from) = from else { return };
    let mut from = BufReader::new(from);
    let mut bytes = Vec::new();
    while matches!(from.read_until(b'\n', &mut bytes), Ok(1..)) {
        // Nobody may be reading us any more; the program should still run to its end.
        let _ = to.write_all(&bytes).and_then(|()| to.flush());
        if let Ok(mut watch) = watch.lock() {
            watch(String::from_utf8_lossy(&bytes).trim_end());
        }
        bytes.clear();
    }
}

/// `--color` for programs whose output we watch.
pub(crate) fn colour() -> &'static str {
    if std::io::stderr().is_terminal() {
        "--color=always"
    } else {
        "--color=auto"
    }
}

/// Says what is about to run, so that a reader can run it alone.
pub(crate) fn say(command: &Command) {
    eprintln!("$ {}", line_of(command));
}

/// The command as one would type it: variables, program, arguments.
pub(crate) fn line_of(command: &Command) -> String {
    let mut words = Vec::new();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            words.push(format!(
                "{}={}",
                name.to_string_lossy(),
                quoted(&value.to_string_lossy())
            ));
        }
    }
    let program = command.get_program().to_string_lossy();
    words.push(
        program
            .rsplit(['/', '\\'])
            .next()
            .unwrap_or(&program)
            .to_owned(),
    );
    words.extend(
        command
            .get_args()
            .map(|word| quoted(&word.to_string_lossy())),
    );
    words.join(" ")
}

fn quoted(word: &str) -> String {
    if word.contains(' ') {
        format!("'{word}'")
    } else {
        word.to_owned()
    }
}

/// Whether a program is on the path.
pub(crate) fn exists(program: &str) -> bool {
    let Some(path) = env::var_os("PATH") else {
        return false;
    };
    let name = format!("{program}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&path).any(|directory| directory.join(&name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_said_as_one_would_type_it() {
        let mut command = Command::new("/somewhere/bin/cargo");
        command
            .args(["doc", "--no-deps"])
            .env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(
            line_of(&command),
            "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps"
        );
    }

    #[test]
    fn a_program_that_is_not_there_is_not_found() {
        assert!(!exists("no-program-has-this-name"));
    }

    #[test]
    fn watched_lines_arrive_and_failures_are_named() {
        let mut seen = Vec::new();
        let result = run_watched(cargo().arg("no-such-subcommand"), |line| {
            seen.push(line.to_owned());
        });
        let error = result.expect_err("there is no such subcommand").to_string();
        assert!(error.contains("cargo no-such-subcommand"), "{error}");
        assert!(
            seen.iter().any(|line| line.contains("no-such-subcommand")),
            "{seen:?}"
        );
    }
}
