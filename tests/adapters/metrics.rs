//! The observer `Metrics` with Prometheus' exporter, and the dashboard.

#[allow(dead_code, reason = "its `main`")]
#[path = "../../examples/prometheus.rs"]
mod prometheus;

use std::collections::BTreeSet;

use serde_json::Value;

/// Lines of the text for that metric.
fn samples<'a>(text: &'a str, metric: &str) -> Vec<&'a str> {
    let lines = text.lines();
    lines.filter(|line| line.starts_with(metric)).collect()
}

/// Returns the words in the text with this prefix.
fn names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|char: char| !char.is_ascii_alphanumeric() && char != '_');
    words.filter(|word| word.starts_with("retry_")).collect()
}

fn exprs(dashboard: &Value) -> Vec<&str> {
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels
        .iter()
        .flat_map(|panel| panel["targets"].as_array().expect("targets"));
    targets
        .map(|target| target["expr"].as_str().expect("an expression"))
        .collect()
}

/// One test, as there is one recorder in a process.
#[tokio::test(start_paused = true)]
async fn prometheus_and_the_dashboard_agree() {
    let text = prometheus::text().await.expect("a recorder");
    let mut calls = samples(&text, "retry_calls_total");
    calls.sort_unstable();
    assert_eq!(
        calls,
        [
            r#"retry_calls_total{name="model.complete",outcome="exhausted",retried="true"} 1"#,
            r#"retry_calls_total{name="model.complete",outcome="not retryable",retried="false"} 1"#,
            r#"retry_calls_total{name="model.complete",outcome="rejected",retried="false"} 1"#,
            r#"retry_calls_total{name="model.complete",outcome="succeeded",retried="false"} 1"#,
            r#"retry_calls_total{name="model.complete",outcome="succeeded",retried="true"} 2"#,
            r#"retry_calls_total{name="model.embed",outcome="succeeded",retried="false"} 3"#,
        ]
    );
    let mut attempts = samples(&text, "retry_attempts_total");
    attempts.sort_unstable();
    assert_eq!(
        attempts,
        [
            r#"retry_attempts_total{name="model.complete",kind="stop"} 1"#,
            r#"retry_attempts_total{name="model.complete",kind="succeeded"} 3"#,
            r#"retry_attempts_total{name="model.complete",kind="throttled"} 1"#,
            r#"retry_attempts_total{name="model.complete",kind="transient"} 6"#,
            r#"retry_attempts_total{name="model.embed",kind="succeeded"} 3"#,
        ]
    );
    // Opened by one of the calls that share it, closed by the other.
    assert_eq!(
        samples(&text, "retry_breaker_state"),
        [r#"retry_breaker_state{breaker="model"} 0"#]
    );
    for line in [
        r#"retry_delay_seconds_count{name="model.complete"} 6"#,
        r#"retry_attempts_per_call_sum{name="model.complete"} 11"#,
        // One of the six calls was rejected before its first attempt.
        r#"retry_attempts_per_call_count{name="model.complete"} 5"#,
        r#"retry_breaker_openings_total{name="model.complete"} 1"#,
        r#"retry_wait_seconds_sum{name="model.embed"} 1"#,
        r#"retry_wait_seconds_count{name="model.embed"} 1"#,
        r#"retry_attempt_duration_seconds_count{name="model.embed",kind="succeeded"} 3"#,
        r#"retry_attempt_duration_seconds_count{name="model.complete",kind="transient"} 6"#,
        r#"retry_call_duration_seconds_count{name="model.complete",outcome="succeeded"} 3"#,
        r#"retry_limiter_running{limiter="embeddings"} 0"#,
        r#"retry_limiter_waiting{limiter="embeddings"} 0"#,
        r#"retry_limiter_limit{limiter="embeddings"} 1"#,
        r#"retry_limiter_waiting{limiter="completions"} 0"#,
        r#"retry_limiter_rate{limiter="completions"} 10"#,
        "# TYPE retry_calls_total counter",
        "# TYPE retry_delay_seconds histogram",
        "# TYPE retry_budget_available gauge",
    ] {
        assert!(text.lines().any(|at| at == line), "{line}:\n{text}");
    }
    assert!(text.contains("# HELP retry_budget_available "), "{text}");
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/observing.md");
    let page = std::fs::read_to_string(page).expect("a page");
    let shown = page.lines().filter(|line| line.starts_with("retry_"));
    // The buckets of the delays are random.
    let shown: Vec<_> = shown.filter(|line| !line.contains("_bucket{")).collect();
    assert!(shown.len() > 4, "{shown:?}");
    for line in shown {
        assert!(text.lines().any(|at| at == line), "{line}:\n{text}");
    }

    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/grafana.json");
    let dashboard = std::fs::read_to_string(file).expect("a dashboard");
    let dashboard: Value = serde_json::from_str(&dashboard).expect("JSON");
    let exprs = exprs(&dashboard);
    let shown: BTreeSet<_> = exprs.iter().flat_map(|expr| names(expr)).collect();
    let measured: BTreeSet<_> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(names)
        .collect();
    assert!(shown.is_subset(&measured), "{shown:?}\n{measured:?}");
    let families = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    for family in families.filter_map(|line| line.split(' ').next()) {
        assert!(
            exprs.iter().any(|expr| expr.contains(family)),
            "{family} is not shown"
        );
    }
}
