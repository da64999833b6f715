//! The pauses of services and libraries with their own retry code:
//!
//! - <https://github.com/restatedev/restate>, `crates/types/src/retries.rs`
//! - <https://github.com/linkerd/linkerd2-proxy>, `linkerd/exp-backoff`
//! - <https://github.com/quickwit-oss/quickwit>, `quickwit-common/src/retry.rs`: `standard`, `aggressive`
//! - <https://github.com/neondatabase/neon>, `libs/utils/src/backoff.rs`
//! - <https://github.com/vectordotdev/vector>, `src/sinks/util/retries.rs`
//! - <https://github.com/google-gemini/gemini-cli>, `packages/core/src/utils/retry.ts`
//! - <https://github.com/openai/openai-python>, `src/openai/_base_client.py`: 0.5 s, doubled, at most 8 s; a quarter of
//!   it is random. Here ± 12.5 % about the middle of that.
//! - <https://github.com/block/goose>, `crates/goose/src/providers/retry.rs`
//! - <https://github.com/alloy-rs/alloy>, `crates/transport/src/layers/retry.rs`
//! - <https://github.com/bosun-ai/swiftide>, `swiftide-core`: it uses the crate `backoff`, which stops if the next
//!   delay would exceed the total time.

use support::prelude::*;

use crate::{Server, millis, secs};

fn policy(text: &str) -> Policy {
    text.parse().expect("a policy")
}

/// Retries at once, and then after 1.1ⁿ seconds, at most 3 s.
fn neon(retry: u32) -> Duration {
    match retry {
        1 => Duration::ZERO,
        _ => Duration::from_secs_f64(1.1_f64.powi(retry.cast_signed() - 1)).min(secs(3)),
    }
}

#[tokio::test(start_paused = true)]
async fn pauses_are_within_those_of_the_service() {
    let delays: Vec<_> = (1..=14).map(neon).collect();
    let neon = Policy::new().max(14).backoff(Backoff::list(&delays));
    for (service, policy, pauses) in rows! {
        "restate", policy("max=3, base=50ms, jitter=+0.3"), vec![(50, 65), (100, 130), (200, 260)];
        "linkerd2-proxy", policy("max=4, base=1s, cap=5s, jitter=+0.5"),
            vec![(1_000, 1_500), (2_000, 3_000), (4_000, 5_000), (5_000, 5_000)];
        "quickwit", policy("max=2, base=1s, cap=20s, jitter=equal"),
            vec![(500, 1_000), (1_000, 2_000)];
        "quickwit, aggressive", policy("max=4, base=250ms, cap=20s, jitter=equal"),
            vec![(125, 250), (250, 500), (500, 1_000), (1_000, 2_000)];
        "vector", policy("max=7, backoff=[1s,2s,3s,5s,8s,10s], jitter=none"),
            [1, 2, 3, 5, 8, 10, 10].map(|secs| (1_000 * secs, 1_000 * secs)).into();
        "gemini-cli", policy("max=9, base=5s, cap=30s, jitter=0.3"),
            [vec![(3_500, 6_500), (7_000, 13_000), (14_000, 26_000)], vec![(21_000, 39_000); 6]]
                .concat();
        "openai-python", policy("max=5, base=437500us, cap=8s, jitter=0.142857"),
            vec![(375, 500), (750, 1_000), (1_500, 2_000), (3_000, 4_000), (6_000, 8_000)];
        "goose", policy("max=3, base=1s, cap=30s, jitter=0.2"),
            vec![(800, 1_200), (1_600, 2_400), (3_200, 4_800)];
        "alloy", policy("max=3, backoff=fixed, base=800ms, jitter=none"), vec![(800, 800); 3];
        "swiftide", policy("max=4, base=1s, cap=60s, jitter=0.5"),
            vec![(500, 1_500), (1_000, 3_000), (2_000, 6_000), (4_000, 12_000)];
        "swiftide, for 60 s in all", policy("max=99, base=1s, cap=60s, deadline=60s, jitter=none"),
            [1, 2, 4, 8, 16].map(|secs| (1_000 * secs, 1_000 * secs)).into();
        "neon", neon.jitter(Jitter::None),
            [0, 1_100, 1_210, 1_331, 1_464, 1_610, 1_771, 1_948, 2_143, 2_357, 2_593, 2_853, 3_000,
                3_000].map(|millis| (millis, millis + 1)).into();
    } {
        for seed in 0..20 {
            let _seeded = testing::seed(seed);
            let mut server = Server::failing(vec!["down"; 20]);
            let call = retrying!(policy = policy, on = |_| true, async { server.answer() });
            assert_eq!(call.await, Err("down"));
            let waits = server.waits();
            assert_eq!(waits.len(), pauses.len(), "{service}");
            for (wait, (least, most)) in waits.iter().zip(&pauses) {
                // The timer of tokio has a granularity of 1 ms.
                let range = millis(*least)..=millis(*most + 1);
                assert!(
                    range.contains(wait),
                    "{service}: {wait:?} is not in {range:?}"
                );
            }
        }
    }
}
