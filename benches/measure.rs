//! How all benches measure: criterion, set up alike, and percentiles of a plain loop, since criterion
//! reports means and medians, and a turn is as slow as its slowest part.

use std::time::{Duration, Instant};

use criterion::Criterion;

/// Criterion with so many samples, taken in about two seconds, and the options of the command line.
pub(crate) fn criterion(samples: usize) -> Criterion {
    Criterion::default()
        .sample_size(samples)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args()
}

/// Times `run` once for each input and prints the spread of all the times in one line.
pub(crate) fn print<T>(name: &str, inputs: impl IntoIterator<Item = T>, mut run: impl FnMut(T)) {
    let times = inputs.into_iter().map(|input| {
        let started = Instant::now();
        run(input);
        started.elapsed()
    });
    print_times(name, times.collect());
}

/// As [`print`], but goes through all inputs three times and counts the median of each: what the
/// machine does beside falls on one round, what an input costs on all of them.
pub(crate) fn print_rounds<T>(name: &str, inputs: &[T], mut run: impl FnMut(&T)) {
    let mut times = vec![[Duration::ZERO; 3]; inputs.len()];
    for round in 0..3 {
        for (input, times) in inputs.iter().zip(&mut times) {
            let started = Instant::now();
            run(input);
            times[round] = started.elapsed();
        }
    }
    let median = |mut times: [Duration; 3]| {
        times.sort_unstable();
        times[1]
    };
    print_times(name, times.into_iter().map(median).collect());
}

/// Prints the spread of times that were taken elsewhere.
pub(crate) fn print_times(name: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let Some(last) = times.len().checked_sub(1) else { return };
    let at = |share: f64| times[(last as f64 * share).round() as usize];
    println!(
        "{name:<32} n {:<6} median {:>10.1?}  p90 {:>10.1?}  p99 {:>10.1?}  max {:>10.1?}",
        times.len(),
        at(0.5),
        at(0.9),
        at(0.99),
        at(1.0),
    );
}
