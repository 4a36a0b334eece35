//! Tests of disturbed windows.

use super::*;

/// Returns a window in which the sender waited for this percentage of the 100 ms, and everything is reduced by it.
fn disturbed(round: u32, lost_pct: u64) -> Sample {
    let mut sample = window(round);
    sample.threads[0].waited_ns = Some(1_000_000 * lost_pct);
    for thread in &mut sample.threads {
        thread.sent_packets -= thread.sent_packets * lost_pct / 100;
        thread.received_packets -= thread.received_packets * lost_pct / 100;
        thread.cpu_ns = thread.cpu_ns.map(|ns| ns - ns * lost_pct / 100);
    }
    sample
}

fn row_of(samples: &[Sample]) -> Row {
    make_row(samples, &six(), Ok(EndedBy::Rounds))
}

#[test]
fn a_disturbed_window_is_counted_and_kept() {
    let mut samples = six();
    samples[2] = disturbed(3, 50);
    let row = row_of(&samples);
    assert_eq!(
        (row.disturbed_windows, row.contaminated_windows),
        (Some(1), Some(1))
    );
    assert_eq!(row.ratio_pairs, Some(6));
    assert_eq!(row.preempted_pct, Some(8.33));
    assert_eq!(
        (row.received_pps_low, row.received_pps),
        (Some(100_000.0), Some(200_000.0))
    );
    // The estimate tolerates one disturbed window.
    assert_eq!(row.warnings, []);
}

#[test]
fn a_loss_of_a_twentieth_disturbs_no_window() {
    let row = row_of(&(1..=6).map(|n| disturbed(n, 5)).collect::<Vec<_>>());
    assert_eq!(
        (row.preempted_pct, row.disturbed_windows),
        (Some(5.0), Some(0))
    );
    assert_eq!(row.warnings, []);
}

#[test]
fn a_row_says_where_so_many_of_its_windows_are_disturbed_that_estimates_do_not_bear_it() {
    let mut samples = six();
    samples[0] = disturbed(1, 6);
    assert_eq!(row_of(&samples).warnings, []);
    for n in 1..=2 {
        samples[n as usize - 1] = disturbed(n, 6);
    }
    let lost = CaseWarning::LostCpuTime.into();
    assert_eq!(row_of(&samples).warnings, [lost]);
}

#[test]
fn a_row_says_where_the_undisturbed_windows_say_something_else() {
    let mut samples = six();
    for n in 1..=5 {
        samples[n as usize - 1] = disturbed(n, 50);
    }
    let row = row_of(&samples);
    assert_eq!(row.received_pps, Some(100_000.0));
    assert_eq!(row.warnings.len(), 2);
    assert_eq!(row.warnings[1], CaseWarning::DisturbedWindowsDiffer.into());
}

#[test]
fn the_references_disturbed_windows_are_in_the_ratios_and_named_where_they_matter() {
    let mut reference = six();
    for n in 1..=5 {
        reference[n as usize - 1] = disturbed(n, 50);
    }
    let row = make_row(&six(), &reference, Ok(EndedBy::Rounds));
    assert_eq!((row.disturbed_windows, row.ratio_pairs), (Some(0), Some(6)));
    assert_eq!(row.ratio_to_std, Some(2.0));
    assert_eq!(row.warnings, [CaseWarning::DisturbedWindowsDiffer.into()]);
}

/// Returns the preempted time, in percent, of six windows with this change.
fn lost(change: impl Fn(&mut Sample)) -> Option<f64> {
    let mut samples = six();
    samples.iter_mut().for_each(change);
    row_of(&samples).preempted_pct
}

#[test]
fn what_the_program_itself_ran_is_no_loss() {
    let waited = |sample: &mut Sample| sample.threads[0].waited_ns = Some(10_000_000);
    assert_eq!(lost(waited), Some(10.0));
    let shared = |sample: &mut Sample| {
        waited(sample);
        sample.other_cpu_ns = Some(3_000_000);
        sample.coordinator_cpu_ns = Some(1_000_000);
    };
    assert_eq!(lost(shared), Some(6.0));
}

#[test]
fn threads_that_share_a_cpu_wait_for_each_other() {
    let shared = |waited_ns, cpu| {
        move |sample: &mut Sample| {
            sample.threads[0].cpu_ns = Some(60_000_000);
            sample.threads[0].waited_ns = Some(waited_ns);
            sample.threads[1].cpu = cpu;
        }
    };
    // The receiver ran for 30 ms.
    assert_eq!(lost(shared(30_000_000, Some(0))), Some(0.0));
    assert_eq!(lost(shared(40_000_000, Some(0))), Some(10.0));
    assert_eq!(lost(shared(40_000_000, None)), Some(10.0), "anywhere");
    assert_eq!(lost(shared(40_000_000, Some(1))), Some(40.0));
}

#[test]
fn workers_may_have_waited_for_each_other() {
    let mut windows: Vec<Sample> = (1..=6).map(window_of_workers).collect();
    for window in &mut windows {
        for thread in &mut window.threads[..2] {
            thread.waited_ns = None;
        }
        window.threads[2].waited_ns = Some(65_000_000);
    }
    // The other worker ran for 60 ms.
    assert_eq!(row_of(&windows).preempted_pct, Some(5.0));
}

#[test]
fn each_switch_to_a_thread_takes_a_while() {
    let woken = |sample: &mut Sample, times, waited_ns| {
        sample.threads[1].voluntary_switches = Some(times);
        sample.threads[1].waited_ns = Some(waited_ns);
    };
    assert_eq!(lost(|sample| woken(sample, 10_000, 20_000_000)), Some(0.0));
    let mut samples = six();
    for sample in &mut samples {
        woken(sample, 10_000, 20_000_000);
    }
    woken(&mut samples[0], 10_000, 80_000_000);
    let row = row_of(&samples);
    assert_eq!(
        (row.preempted_pct, row.disturbed_windows),
        (Some(10.0), Some(1))
    );
    // No switch takes a millisecond.
    assert_eq!(lost(|sample| woken(sample, 10, 10_200_000)), Some(10.0));
}

#[test]
fn what_the_hypervisor_took_counts_but_for_one_tick_of_each_window() {
    let stolen = |ticks: u64| {
        move |sample: &mut Sample| {
            let taken = sample.threads[0].taken.as_mut().expect("it is known");
            taken.steal_ns = ticks * CpuTaken::TICK_NS;
        }
    };
    assert_eq!(lost(stolen(1)), Some(0.0));
    assert_eq!(lost(stolen(3)), Some(20.0));
    let mut samples = six();
    samples.iter_mut().for_each(stolen(3));
    let row = row_of(&samples);
    // The mean over two CPUs.
    assert_eq!((row.steal_pct, row.irq_pct), (Some(15.0), Some(0.0)));
}

#[test]
fn without_waits_a_window_is_judged_by_what_is_left_of_a_busy_senders_cpu() {
    let unknown = |sample: &mut Sample| {
        for thread in &mut sample.threads {
            (thread.waited_ns, thread.taken) = (None, None);
        }
        sample.coordinator_cpu_ns = None;
    };
    let row_with = |cpu_ns| {
        let mut samples = six();
        samples.iter_mut().for_each(unknown);
        samples[0].threads[0].cpu_ns = Some(cpu_ns);
        row_of(&samples)
    };
    let row = row_with(96_000_000);
    assert_eq!(row.disturbed_windows, Some(1));
    // Columns that were not counted are empty.
    assert_eq!((row.preempted_pct, row.steal_pct), (None, None));
    assert_eq!(row_with(97_000_000).disturbed_windows, Some(0));
}
