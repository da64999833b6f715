//! A plan as a diagram.

use retry_work::Plan;

#[tokio::test]
async fn mermaid_draws_every_subtask_and_dependency() {
    let mut plan = Plan::<u32, &str>::new();
    plan.add("search", [], async |[]| Ok(1));
    plan.add("read", ["search"], async |[_page]| Err("503"));
    plan.add("label", ["read", "search"], async |[_text, _page]| Ok(3));
    plan.add("print", [], async |[]| Err("no paper"));
    plan.run().await.expect("a plan that can run");
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
    let name = "a \"b\" <c> & #d; \\e `f` *g* _h_ $i$\n-->";
    plan.add(name, [], async |[]| Ok(()));
    plan.add("", [], async |[]| Ok(()));
    let mermaid = plan.mermaid();
    let expected = r#"
    0["a #quot;b#quot; #lt;c#gt; #amp; #35;d; #92;e #96;f#96; #42;g#42; #95;h#95; #36;i#36;#92;n--#gt;"]:::pending
    1[" "]:::pending
"#;
    assert!(mermaid.contains(expected), "{mermaid}");
}

/// Chains of any length, and plans that can't run.
#[test]
fn any_plan_can_be_drawn() {
    let mut plan = Plan::<'_, (), ()>::new();
    for (name, after) in [("0", "1"), ("1", "0"), ("2", "none")] {
        plan.add(name, [after], async |[_]| Ok(()));
    }
    let mermaid = plan.mermaid();
    let part = "    1 --> 0\n    0 --> 1\n    classDef";
    assert!(mermaid.contains(part), "{mermaid}");
}
