//! Turns the options of `ab` into the header of a comparison: the cases of each side.

use std::path::Path;
use std::time::Duration;

use clap::{ArgMatches, FromArgMatches};

use super::Request;
use crate::cli::peer::Peer;
use crate::cli::{self, AbArgs, Cli, RunArgs, help};
use crate::error::UsageError;
use crate::experiment::ab::header::{Header, Setup, Until};
use crate::experiment::ab::{Pair, Side, pairs};
use crate::results::log::Run;

/// Default window, about that of a sweep. As in a sweep, the board's profile has the warm-up: in the first 40 ms, two
/// engines may differ otherwise than later.
const WINDOW: Duration = Duration::from_millis(50);
/// Number of looks at the data with `--decide`.
const LOOKS: u32 = 5;
const DEFAULT_MAX_TIME: Duration = Duration::from_secs(600);

/// Returns the header of a comparison. The versions of the two programs are still empty.
///
/// # Errors
/// Fails if an option is wrong or impossible here, and names the fix.
pub fn header(args: &AbArgs, peer: Option<&Peer>, started_at: &str) -> anyhow::Result<Header> {
    let a = request(args, Side::A, peer)?;
    let b = request(args, Side::B, peer)?;
    let environment = a.environment();
    let header = Header {
        run: Run::new(started_at, cli::words_as_text()),
        rounds: args.rounds.rounds,
        until: args.rounds.decide.then(|| Until {
            looks: LOOKS,
            max_time: args.rounds.max_time.unwrap_or(DEFAULT_MAX_TIME),
        }),
        seed: a.schedule.seed,
        environment,
        tunings: None,
        wire: None,
        a: setup(args, Side::A, a)?,
        b: setup(args, Side::B, b)?,
    };
    check(&header)?;
    Ok(header)
}

fn check(header: &Header) -> Result<(), UsageError> {
    let refused = |problem: String| UsageError::flag("ab", "", problem);
    if let Some(problem) = measure_the_same(&header.a, &header.b) {
        return Err(refused(problem));
    }
    let pairs = pairs(header).map_err(refused)?;
    match pairs.iter().find_map(Pair::refusal) {
        Some(reason) if pairs.iter().all(|pair| pair.refusal().is_some()) => {
            Err(refused(format!("nothing can run: {reason}")))
        }
        _ => Ok(()),
    }
}

/// Returns the reason why a comparison is refused whose sides have other options, and measure the same.
fn measure_the_same(a: &Setup, b: &Setup) -> Option<String> {
    let parts = |side: &Setup| {
        let measured = format!("{:?} {:?}", side.settings, side.plan);
        (side.program.clone(), side.before.clone(), measured)
    };
    (a.options != b.options && parts(a) == parts(b)).then(|| {
        let (a, b) = (a.options.join(" "), b.options.join(" "));
        format!(
            "--a \"{a}\" and --b \"{b}\" measure the same in these cases: choose engines or a workload on which they \
             have an effect, or leave both out"
        )
    })
}

fn own(args: &AbArgs, side: Side) -> Vec<String> {
    let text = match side {
        Side::A => &args.sides.a,
        Side::B => &args.sides.b,
    };
    let words = text.iter().flat_map(|text| text.split_whitespace());
    words.map(str::to_owned).collect()
}

/// Checks the words of both sides. Afterwards this process knows the programs that they name as engines.
///
/// # Errors
/// Fails if an option is wrong.
pub fn check_sides(args: &AbArgs) -> anyhow::Result<()> {
    [Side::A, Side::B]
        .into_iter()
        .try_for_each(|side| parse(args, side).map(drop))
}

/// Turns a side's options into a request.
fn request(args: &AbArgs, side: Side, peer: Option<&Peer>) -> anyhow::Result<Request> {
    let mut run = parse(args, side)?;
    let measuring = &mut run.measuring;
    measuring.rounds = Some(args.rounds.rounds);
    measuring.seed = Some(args.rounds.seed.unwrap_or_else(|| fastrand::u32(..)));
    let duration = measuring.duration;
    measuring.duration = duration.or(Some(WINDOW * args.rounds.rounds));
    measuring.no_reference = true;
    Ok(Request::between(&run, peer)?)
}

/// Parses the words of a side.
fn parse(args: &AbArgs, side: Side) -> anyhow::Result<RunArgs> {
    let name = std::iter::once("udpbench".to_owned());
    let words = name
        .chain(args.sides.both.iter().cloned())
        .chain(own(args, side));
    let matches = Cli::matches(&words.map(Into::into).collect::<Vec<_>>())?;
    let cli = Cli::from_arg_matches(&matches)?;
    if cli.command.is_some() {
        let fix = "a side has the options of a sweep, and no command";
        return Err(UsageError::flag("ab", &side, fix).into());
    }
    refuse(&matches)?;
    Ok(cli.run)
}

/// Returns an error for options that belong to `ab` itself or have no meaning for a side.
fn refuse(typed: &ArgMatches) -> Result<(), UsageError> {
    const OF_AB: &str = "--on --rsh --agent --deploy --binary --drop-reasons --rounds --seed --until --output \
        --quiet --format --decimal-comma";
    const OF_SWEEPS: &str = "--samples --baseline --against --suite --verify --heat --no-reference";
    help::refuse(
        typed,
        OF_AB,
        "is an option of ab itself: write it before --",
    )?;
    help::refuse(typed, OF_SWEEPS, "has no meaning here: leave it out")
}

fn setup(args: &AbArgs, side: Side, request: Request) -> Result<Setup, UsageError> {
    let (program, before) = match side {
        Side::A => (&args.sides.program_a, &args.sides.before_a),
        Side::B => (&args.sides.program_b, &args.sides.before_b),
    };
    let program = program
        .as_deref()
        .map(|path| match args.remote.on {
            None => found(side, path),
            Some(_) => Ok(path.to_string_lossy().into_owned()),
        })
        .transpose()?;
    Ok(Setup {
        program,
        version: String::new(),
        options: own(args, side),
        before: before.clone(),
        settings: request.schedule.settings,
        plan: request.plan,
    })
}

/// Returns the absolute path of a side's program, so that the comparison can be resumed from another directory.
fn found(side: Side, path: &Path) -> Result<String, UsageError> {
    match path.canonicalize() {
        Ok(path) => Ok(path.to_string_lossy().into_owned()),
        Err(error) => Err(UsageError::flag(
            "ab",
            &path.display(),
            format!("cannot find the program of {side}: {error}"),
        )),
    }
}
