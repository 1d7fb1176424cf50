//! A server with little room, a client that calls it at a steady rate, and a second in which the server is slow.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::http::{Request, StatusCode};
use axum::routing::get;
use http_body_util::Empty;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use seawall::{Spec, Stats};
use seawall_tower::{Engine, Http, PolicyService, SplitMix};
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};
use tower::{Service, ServiceExt};

/// What happens, and when.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// Calls begin this far apart.
    pub(crate) every: Duration,
    /// Jobs the server works on at once; more wait in line.
    pub(crate) workers: usize,
    /// How long a job takes.
    pub(crate) work: Duration,
    /// How long it takes while the server is slow.
    pub(crate) slow_work: Duration,
    /// All is well for so long.
    pub(crate) healthy: Duration,
    /// Then the server is slow for so long.
    pub(crate) slow: Duration,
    /// Then it is as fast as before for so long.
    pub(crate) after: Duration,
}

/// What came of it.
pub(crate) struct Outcome {
    /// Calls answered well, by the second in which they began.
    pub(crate) answered: Vec<u32>,
    /// What the client did.
    pub(crate) stats: Stats,
    /// Jobs the server did.
    pub(crate) jobs: u64,
    /// Those of them that nobody waited for any more.
    pub(crate) for_nobody: u64,
}

#[derive(Default)]
struct Server {
    slow: AtomicBool,
    jobs: AtomicU64,
    for_nobody: AtomicU64,
}

type Job = oneshot::Sender<()>;

/// Runs the plan under a policy, on a port of its own. Ends `healthy + slow + after` and one call later.
pub(crate) async fn run(plan: Plan, spec: &Spec) -> io::Result<Outcome> {
    let server = Arc::new(Server::default());
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let uri = format!("http://{}/", listener.local_addr()?);
    // Dropped with all its tasks when this function ends.
    let mut background = serve(plan, listener, Arc::clone(&server));
    let toggle = Arc::clone(&server);
    background.spawn(async move {
        sleep(plan.healthy).await;
        toggle.slow.store(true, Ordering::Relaxed);
        sleep(plan.slow).await;
        toggle.slow.store(false, Ordering::Relaxed);
    });

    let policy = spec.check().map_err(|problems| {
        let text = problems
            .iter()
            .map(|p| format!("{}: {}", p.field, p.message));
        io::Error::other(text.collect::<Vec<_>>().join("; "))
    })?;
    let engine = Engine::new(policy, SplitMix::seeded(1));
    let http = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
    let service = PolicyService::new(http, engine.clone(), Http);

    let length = plan.healthy + plan.slow + plan.after;
    let mut answered = vec![0; length.as_secs() as usize + 1];
    let began = Instant::now();
    let mut ticks = interval(plan.every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut calls = JoinSet::new();
    while began.elapsed() < length {
        ticks.tick().await;
        // The last tick may come late.
        let second = (began.elapsed().as_secs() as usize).min(answered.len() - 1);
        let request = Request::get(&uri).body(Empty::new());
        let request = request.map_err(io::Error::other)?;
        let mut service = service.clone();
        calls.spawn(async move {
            let response = async { service.ready().await?.call(request).await };
            let ok = response
                .await
                .is_ok_and(|response| response.status() == StatusCode::OK);
            (second, ok)
        });
        while let Some(Ok((second, ok))) = calls.try_join_next() {
            answered[second] += u32::from(ok);
        }
    }
    while let Some(Ok((second, ok))) = calls.join_next().await {
        answered[second] += u32::from(ok);
    }
    Ok(Outcome {
        answered,
        stats: engine.stats(),
        jobs: server.jobs.load(Ordering::Relaxed),
        for_nobody: server.for_nobody.load(Ordering::Relaxed),
    })
}

/// A server that queues what comes, in order, and does not notice when a caller leaves.
fn serve(plan: Plan, listener: TcpListener, server: Arc<Server>) -> JoinSet<()> {
    let mut background = JoinSet::new();
    let (queue, jobs) = mpsc::unbounded_channel::<Job>();
    let jobs = Arc::new(Mutex::new(jobs));
    for _ in 0..plan.workers {
        let (server, jobs) = (Arc::clone(&server), Arc::clone(&jobs));
        background.spawn(async move {
            loop {
                let job = jobs.lock().await.recv().await;
                let Some(job) = job else { return };
                let slow = server.slow.load(Ordering::Relaxed);
                sleep(if slow { plan.slow_work } else { plan.work }).await;
                server.jobs.fetch_add(1, Ordering::Relaxed);
                if job.send(()).is_err() {
                    server.for_nobody.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
    }
    let answer = move || {
        let queue = queue.clone();
        async move {
            let (job, done) = oneshot::channel();
            let taken = queue.send(job).is_ok() && done.await.is_ok();
            Ok::<_, Infallible>(if taken {
                StatusCode::OK
            } else {
                StatusCode::SERVICE_UNAVAILABLE
            })
        }
    };
    let app = Router::new().route("/", get(answer));
    background.spawn(async move {
        // Serves until it is aborted.
        let _ = axum::serve(listener, app).await;
    });
    background
}
