//! Writing down single jobs, for those who asked for a log.

use seawall::Time;

use super::job::NOWHERE;
use super::{TaskId, World};
use crate::metrics::{JobEnd, JobRecord};

impl World {
    /// Writes down how a job ended.
    #[cold]
    pub(super) fn log_job(&mut self, id: TaskId, end: JobEnd) {
        let job = self.tasks[id].job().expect("the task is a job");
        if let Some(log) = &mut self.recorder.log {
            log.jobs.push(JobRecord {
                job: id.bits(),
                service: job.service,
                replica: match job.replica {
                    NOWHERE => 0,
                    replica => replica,
                },
                edge: self.sites[job.site as usize].edge,
                attempt: job.attempt,
                arrived: job.arrived,
                started: (job.started != Time::MAX).then_some(job.started),
                left: self.now,
                end,
                late: job.orphan,
            });
        }
    }
}
