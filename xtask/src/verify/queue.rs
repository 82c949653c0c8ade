//! Runs independent jobs on two threads and keeps their order.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};

/// As many as a small CI machine has cores; each job is a process that uses one.
const AT_A_TIME: usize = 2;

/// The results in the order of the jobs, or the first error among them.
pub(super) fn two_at_a_time<Job: Sync, Done: Send>(
    jobs: &[Job],
    run: impl Fn(&Job) -> Result<Done> + Sync,
) -> Result<Vec<Done>> {
    let next = AtomicUsize::new(0);
    let results: Vec<_> = jobs.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let index = next.fetch_add(1, Ordering::Relaxed)
                    && let (Some(job), Some(slot)) = (jobs.get(index), results.get(index))
                {
                    let result = run(job);
                    if let Ok(mut slot) = slot.lock() {
                        *slot = Some(result);
                    }
                }
            });
        }
    });
    let done = results.into_iter().map(|slot| {
        slot.into_inner()
            .ok()
            .flatten()
            .context("a job ended without a result")?
    });
    done.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_runs_once_and_results_keep_their_order() {
        let jobs: Vec<u32> = (0..50).collect();
        let done = two_at_a_time(&jobs, |job| Ok(job * 2)).expect("no job fails");
        assert_eq!(done, (0..50).map(|job| job * 2).collect::<Vec<_>>());
    }

    #[test]
    fn an_error_of_any_job_is_an_error_of_all() {
        let result = two_at_a_time(&[1, 2, 3], |job| {
            if *job == 2 {
                anyhow::bail!("two")
            } else {
                Ok(())
            }
        });
        assert!(result.is_err());
    }
}
