//! A plan as a diagram.

use retry_work::Plan;

async fn sketched() -> Plan<'static, u32, &'static str> {
    let mut plan = Plan::new();
    plan.add("search", [], async |[]| Ok(1));
    plan.add("read", ["search"], async |[_page]| Err("503"));
    plan.add("label", ["read", "search"], async |[_text, _page]| Ok(3));
    plan.add("print", [], async |[]| Err("no paper"));
    plan.run().await.expect("a plan that can run");
    plan
}

#[tokio::test]
async fn mermaid_draws_every_subtask_and_dependency() {
    let mut plan = sketched().await;
    plan.retry_failed().await.expect("a plan that can run");
    plan.add("mail", ["search"], async |[_page]| Ok(5));
    assert_eq!(
        plan.mermaid(),
        r#"flowchart LR
    0["search"]:::completed
    1["read"]:::dead_end
    2["label"]:::blocked
    3["print"]:::dead_end
    4["mail"]:::pending
    0 --> 1
    1 --> 2
    0 --> 2
    0 --> 4
    classDef completed fill:#b7e4c7,stroke:#495057,color:#000000
    classDef failed fill:#ffd6a5,stroke:#495057,color:#000000
    classDef dead_end fill:#ffadad,stroke:#495057,color:#000000
    classDef blocked fill:#dee2e6,stroke:#495057,color:#000000
    classDef pending fill:#ffffff,stroke:#495057,color:#000000
"#
    );
}

#[test]
fn names_do_not_break_out_of_their_quotes() {
    let mut plan = Plan::<'_, (), ()>::new();
    plan.add(
        "a \"b\" <c> & #d; \\e `f` *g* _h_ $i$\n-->",
        [],
        async |[]| Ok(()),
    );
    plan.add("", [], async |[]| Ok(()));
    let mermaid = plan.mermaid();
    let line = mermaid.lines().nth(1).expect("a subtask");
    assert_eq!(
        line,
        "    0[\"a #quot;b#quot; #lt;c#gt; #amp; #35;d; #92;e #96;f#96; #42;g#42; #95;h#95; #36;i#36;#92;n--#gt;\"]:::pending"
    );
    assert_eq!(mermaid.lines().nth(2), Some("    1[\" \"]:::pending"));
}

/// Chains of any length, and plans that can't run.
#[test]
fn any_plan_can_be_drawn() {
    let mut plan = Plan::<'_, (), ()>::new();
    plan.add("0", ["1"], async |[_]| Ok(()));
    plan.add("1", ["0"], async |[_]| Ok(()));
    plan.add("2", ["none"], async |[_]| Ok(()));
    let mermaid = plan.mermaid();
    let part = "    1 --> 0\n    0 --> 1\n    classDef";
    assert!(mermaid.contains(part), "{mermaid}");
}
