use crate::plan::Plan;
use crate::plan::graph::Graph;
use crate::plan::status::Status;
use crate::plan::summary::shown_name;

impl Status {
    /// A fill color that is light enough for black text.
    const fn colour(self) -> &'static str {
        match self {
            Self::Completed => "#b7e4c7",
            Self::Failed => "#ffd6a5",
            Self::DeadEnd => "#ffadad",
            Self::Blocked => "#dee2e6",
            Self::Pending => "#ffffff",
        }
    }
}

impl<T, E, F: ?Sized> Plan<'_, T, E, F> {
    /// Draws the plan as a [Mermaid](https://mermaid.js.org) flowchart of its subtasks and their dependencies, colored
    /// by current status.
    ///
    /// ```
    /// use retry_work::Plan;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), retry_work::plan::PlanError> {
    /// let mut plan = Plan::local();
    /// plan.add("search", [], async |[]| Ok("page 7"));
    /// plan.add("read", ["search"], async |[_page]| Err("503 overloaded"));
    /// plan.add("label", ["read"], async |[_text]| Ok("a label"));
    /// plan.run().await?;
    /// assert!(plan.mermaid().starts_with(
    /// r#"flowchart LR
    ///     0["search"]:::completed
    ///     1["read"]:::failed
    ///     2["label"]:::blocked
    ///     0 --> 1
    ///     1 --> 2
    /// "#));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// In Markdown, put the text into a fenced block with the language `mermaid`. Long names are cut.
    pub fn mermaid(&self) -> String {
        let graph = Graph::new(&self.nodes, &self.by_name);
        let mut lines = vec![String::from("flowchart LR")];
        for (index, (node, status)) in self.statuses(&graph).enumerate() {
            let (name, status) = (label(node.name()), status.name());
            lines.push(format!("    {index}[\"{name}\"]:::{status}"));
        }
        for (to, needs) in graph.needs.iter().enumerate() {
            lines.extend(needs.iter().map(|from| format!("    {from} --> {to}")));
        }
        for status in Status::ALL {
            let (name, colour) = (status.name(), status.colour());
            lines.push(format!(
                "    classDef {name} fill:{colour},stroke:#495057,color:#000000"
            ));
        }
        lines.join("\n") + "\n"
    }
}

/// A name as a label, escaped, because Mermaid interprets labels as Markdown and HTML.
fn label(name: &str) -> String {
    if name.is_empty() {
        // Mermaid rejects an empty label.
        return String::from(" ");
    }
    let (mut label, mut buffer) = (String::new(), [0; 4]);
    for char in shown_name(name).to_string().chars() {
        label += match char {
            '"' => "#quot;",
            '#' => "#35;",
            '&' => "#amp;",
            '<' => "#lt;",
            '>' => "#gt;",
            '`' => "#96;",
            '\\' => "#92;",
            '*' => "#42;",
            '_' => "#95;",
            '$' => "#36;",
            _ => char.encode_utf8(&mut buffer),
        };
    }
    label
}
