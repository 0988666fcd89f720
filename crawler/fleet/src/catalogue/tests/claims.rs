//! Time of a claim in a large catalogue.

use std::time::Duration;

use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

use super::*;

const WORKERS: u64 = 20;
const LIMIT: u32 = 50;

/// 100,000 sites on 90,000 hosts, all due. It prints, so run it with `--ignored --nocapture`.
#[tokio::test]
#[ignore = "it measures for a minute"]
async fn claim_of_many() {
    let Some(server) = Server::shared() else {
        return;
    };
    let url = server.url(&server.database().await);
    let catalogue = Catalogue::connect(&url).await.unwrap();
    catalogue.migrate().await.unwrap();
    let began = Instant::now();
    let sites: Vec<_> = (0..100_000)
        .map(|n| site(&format!("s{n}"), &format!("h{}.test", n % 90_000)))
        .collect();
    catalogue.import(&sites, now()).await.unwrap();
    print("import of 100,000 sites", &[began.elapsed()]);
    let client = catalogue.client().await.unwrap();
    let due = "UPDATE site SET next_run = now() - random() * interval '1 h';
        UPDATE host h SET claimable_at = (SELECT min(next_run) FROM site WHERE host = h.name); VACUUM ANALYZE";
    for statement in due.split(';') {
        client.batch_execute(statement).await.unwrap();
    }
    let began = Instant::now();
    catalogue.status().await.unwrap();
    print("status", &[began.elapsed()]);
    for (name, pause, length) in [
        ("20 workers, each every 2 s", 2_000, 30),
        ("20 workers, each every 500 ms", 500, 15),
        ("20 workers, closed loop", 0, 5),
    ] {
        let mut workers = JoinSet::new();
        for number in 0..WORKERS {
            let pause = Duration::from_millis(pause);
            let length = Duration::from_secs(length);
            workers.spawn(claims(url.clone(), number, pause, length));
        }
        let times: Vec<Duration> = workers.join_all().await.concat();
        print(name, &times);
    }
}

/// The times of the claims of a worker that waits for `pause`, a tenth more or less, between two of them.
async fn claims(url: String, number: u64, pause: Duration, length: Duration) -> Vec<Duration> {
    let catalogue = Catalogue::connect(&url).await.unwrap();
    let name = format!("worker{number}");
    let mut times = Vec::new();
    // Not all at once, as the daemons of a fleet do not begin at once.
    sleep(pause.mul_f64(share(number, 0))).await;
    let end = Instant::now() + length;
    for round in 1.. {
        let began = Instant::now();
        if began > end {
            break;
        }
        let leases = catalogue.claim(&name, LIMIT, TTL).await.unwrap();
        // In a closed loop the hosts are gone before the time is.
        if leases.is_empty() {
            break;
        }
        times.push(began.elapsed());
        sleep(pause.mul_f64(0.9 + 0.2 * share(number, round))).await;
    }
    // What each connection prepares once, and its begin, is not a claim.
    times.split_off(1)
}

/// A number from 0 to 1 that looks like a random one.
fn share(number: u64, round: u64) -> f64 {
    let hash = xxhash_rust::xxh3::xxh3_64_with_seed(&round.to_le_bytes(), number);
    f64::from((hash % 1_000) as u16) / 1_000.0
}

#[expect(clippy::print_stdout, reason = "a measurement")]
fn print(name: &str, times: &[Duration]) {
    let mut times = times.to_vec();
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    println!(
        "{name}: {} claims, 50 % {:.1?}, 90 % {:.1?}, 99 % {:.1?}, longest {:.1?}",
        times.len(),
        at(50),
        at(90),
        at(99),
        at(100)
    );
}
