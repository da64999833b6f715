//! A plan as a picture.

use retry_runtime::Plan;

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
        plan.diagram().mermaid().to_string(),
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

#[tokio::test]
async fn graphviz_draws_the_same() {
    assert_eq!(
        sketched().await.diagram().graphviz().to_string(),
        r##"digraph {
    rankdir=LR
    node [shape=box, style=filled]
    0 [label="search", fillcolor="#b7e4c7", tooltip="completed"]
    1 [label="read", fillcolor="#ffd6a5", tooltip="failed"]
    2 [label="label", fillcolor="#dee2e6", tooltip="blocked"]
    3 [label="print", fillcolor="#ffd6a5", tooltip="failed"]
    0 -> 1
    1 -> 2
    0 -> 2
}
"##
    );
}

/// Each below the one before, in the column after what it depends on.
#[tokio::test]
async fn svg_draws_the_same_without_a_program() {
    assert_eq!(
        sketched().await.diagram().svg().to_string(),
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 419 240" width="419" height="240" font-family="sans-serif" font-size="14" text-anchor="middle" fill="#000000">
<path d="M113 30H125V86H157" fill="none" stroke="#868e96" stroke-width="2"/><path d="M157 86l-8-4v8z" fill="#868e96"/>
<path d="M262 86H279V142H306" fill="none" stroke="#868e96" stroke-width="2"/><path d="M306 142l-8-4v8z" fill="#868e96"/>
<path d="M113 30H274V142H306" fill="none" stroke="#868e96" stroke-width="2"/><path d="M306 142l-8-4v8z" fill="#868e96"/>
<rect x="8" y="8" width="105" height="44" rx="6" fill="#b7e4c7" stroke="#495057"/>
<text x="60" y="26">search</text><text x="60" y="43" font-size="12">completed</text>
<rect x="157" y="64" width="105" height="44" rx="6" fill="#ffd6a5" stroke="#495057"/>
<text x="209" y="82">read</text><text x="209" y="99" font-size="12">failed</text>
<rect x="306" y="120" width="105" height="44" rx="6" fill="#dee2e6" stroke="#495057"/>
<text x="358" y="138">label</text><text x="358" y="155" font-size="12">blocked</text>
<rect x="8" y="176" width="105" height="44" rx="6" fill="#ffd6a5" stroke="#495057"/>
<text x="60" y="194">print</text><text x="60" y="211" font-size="12">failed</text>
</svg>
"##
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
    let diagram = plan.diagram();
    let mermaid = diagram.mermaid().to_string();
    let line = mermaid.lines().nth(1).expect("a subtask");
    assert_eq!(
        line,
        "    0[\"a #quot;b#quot; #lt;c#gt; #amp; #35;d; #92;e #96;f#96; #42;g#42; #95;h#95; #36;i#36;#92;n--#gt;\"]:::pending"
    );
    assert_eq!(mermaid.lines().nth(2), Some("    1[\" \"]:::pending"));
    let graphviz = diagram.graphviz().to_string();
    let line = graphviz.lines().nth(3).expect("a subtask");
    assert!(
        line.starts_with(r#"    0 [label="a \"b\" <c> & #d; \\e `f` *g* _h_ $i$\\n-->", "#),
        "{line}"
    );
    let svg = diagram.svg().to_string();
    assert!(
        svg.contains(r#">a "b" &lt;c&gt; &amp; #d; \e `f` *g* _h_ $i$\n--&gt;</text>"#),
        "{svg}"
    );
}

/// However long a chain is, and also where a plan can't run.
#[test]
fn any_plan_can_be_drawn() {
    let mut plan = Plan::<'_, (), ()>::new();
    plan.add("0", ["1"], async |[_]| Ok(()));
    plan.add("1", ["0"], async |[_]| Ok(()));
    plan.add("2", ["none"], async |[_]| Ok(()));
    let mermaid = plan.diagram().mermaid().to_string();
    assert!(
        mermaid.contains("    1 --> 0\n    0 --> 1\n    classDef"),
        "{mermaid}"
    );
    assert_eq!(plan.diagram().svg().to_string().matches("<rect").count(), 3);
}

/// Neither as it is nor escaped is a noncharacter allowed in XML.
#[test]
fn svg_is_xml_whatever_the_names_are() {
    let mut plan = Plan::<'_, (), ()>::new();
    plan.add("a\u{FFFE}b\u{FFFF}c\u{FFFD}\u{10FFFF}", [], async |[]| {
        Ok(())
    });
    let svg = plan.diagram().svg().to_string();
    assert!(svg.contains(">a\u{FFFD}b\u{FFFD}c\u{FFFD}"), "{svg}");
}
