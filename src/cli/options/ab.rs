//! Turns the options of `ab` into the header of a comparison: the cases of each side.

use std::time::Duration;

use clap::FromArgMatches;

use super::Request;
use crate::cli::peer::Peer;
use crate::cli::{AbArgs, Cli, RunArgs, help};
use crate::error::UsageError;
use crate::experiment::ab::header::{AbHeader, Looks, Setup};
use crate::experiment::ab::{Pair, Side, pairs};
use crate::results::log::Run;
use crate::term::words::words_as_text;

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
pub fn header(args: &AbArgs, peer: Option<&Peer>, started_at: &str) -> anyhow::Result<AbHeader> {
    let a = request(args, Side::A, peer)?;
    let b = request(args, Side::B, peer)?;
    let environment = a.environment();
    let header = AbHeader {
        run: Run::new(started_at, words_as_text()),
        rounds: args.rounds.rounds,
        until: args.rounds.decide.then(|| Looks {
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

fn check(header: &AbHeader) -> Result<(), UsageError> {
    let refused = |problem: String| UsageError::flag("ab", "", problem);
    let parts = |side: &Setup| {
        let measured = format!("{:?} {:?}", side.settings, side.plan);
        (side.program.clone(), side.before.clone(), measured)
    };
    let (a, b) = (&header.a, &header.b);
    if a.options != b.options && parts(a) == parts(b) {
        let (a, b) = (a.options.join(" "), b.options.join(" "));
        return Err(refused(format!(
            "--a \"{a}\" and --b \"{b}\" measure the same in these cases: choose engines or a workload on which they \
             have an effect, or leave both out"
        )));
    }
    let pairs = pairs(header).map_err(refused)?;
    let reasons: Vec<&str> = pairs.iter().filter_map(Pair::refusal).collect();
    match reasons.first() {
        Some(reason) if reasons.len() == pairs.len() => {
            Err(refused(format!("nothing can run: {reason}")))
        }
        _ => Ok(()),
    }
}

fn own(args: &AbArgs, side: Side) -> Vec<String> {
    let text = [&args.sides.a, &args.sides.b][side as usize];
    let words = text.iter().flat_map(|text| text.split_whitespace());
    words.map(str::to_owned).collect()
}

/// Checks the words of both sides. Afterwards this process knows the programs that they name as engines.
///
/// # Errors
/// Fails if an option is wrong.
pub fn check_sides(args: &AbArgs) -> anyhow::Result<()> {
    parse(args, Side::A)?;
    parse(args, Side::B)?;
    Ok(())
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
    Ok(Request::new(&run, peer)?)
}

/// Parses the words of a side. Refuses options that belong to `ab` itself or have no meaning for a side.
fn parse(args: &AbArgs, side: Side) -> anyhow::Result<RunArgs> {
    const OF_AB: &str = "--on --rsh --agent --deploy --binary --drop-reasons --rounds --seed --until --output \
        --quiet --format --decimal-comma";
    const OF_SWEEPS: &str = "--samples --baseline --against --suite --verify --heat --no-reference";
    let mut words = vec!["udpbench".to_owned()];
    words.extend(args.sides.both.iter().cloned());
    words.extend(own(args, side));
    let words: Vec<_> = words.into_iter().map(Into::into).collect();
    let typed = Cli::matches(&words)?;
    let cli = Cli::from_arg_matches(&typed)?;
    if cli.command.is_some() {
        let fix = "a side has the options of a sweep, and no command";
        return Err(UsageError::flag("ab", &side, fix).into());
    }
    let fix = "is an option of ab itself: write it before --";
    help::refuse(&typed, OF_AB, fix)?;
    help::refuse(&typed, OF_SWEEPS, "has no meaning here: leave it out")?;
    Ok(cli.run)
}

fn setup(args: &AbArgs, side: Side, request: Request) -> Result<Setup, UsageError> {
    let program = [&args.sides.program_a, &args.sides.program_b][side as usize];
    let before = [&args.sides.before_a, &args.sides.before_b][side as usize];
    // Absolute, so that the comparison can be resumed from another directory.
    let program = program.as_deref().map(|path| match args.remote.on {
        None => path.canonicalize().map_err(|error| {
            let problem = format!("cannot find the program of {side}: {error}");
            UsageError::flag("ab", &path.display(), problem)
        }),
        Some(_) => Ok(path.to_owned()),
    });
    let program = program.transpose()?;
    Ok(Setup {
        program: program.map(|path| path.to_string_lossy().into_owned()),
        version: String::new(),
        options: own(args, side),
        before: before.clone(),
        settings: request.schedule.settings,
        plan: request.plan,
    })
}
