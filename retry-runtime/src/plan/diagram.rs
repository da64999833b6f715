use alloc::sync::Arc;
use core::fmt::{self, Write};

use crate::error_text::shown::shown_name;
use crate::listed::listed;
use crate::plan::Plan;
use crate::plan::graph::Graph;
use crate::plan::node::{Node, State};

/// A plan as a picture: its subtasks, in the colour of what became of them, and what each depends on.
///
/// ```
/// use retry_runtime::Plan;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), retry_runtime::plan::PlanError> {
/// let mut plan = Plan::local();
/// plan.add("search", [], async |[]| Ok("page 7"));
/// plan.add("read", ["search"], async |[_page]| Err("503 overloaded"));
/// plan.add("label", ["read"], async |[_text]| Ok("a label"));
/// plan.run().await?;
/// assert!(plan.diagram().mermaid().to_string().starts_with(
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
/// Put the text into a fenced block named `mermaid` in Markdown. Long names are cut.
#[derive(Clone, Debug)]
pub struct Diagram {
    subtasks: Vec<Drawn>,
    graph: Graph,
}

#[derive(Clone, Debug)]
struct Drawn {
    name: Arc<str>,
    status: Status,
}

/// What became of a subtask.
#[derive(Clone, Copy, Debug)]
enum Status {
    Completed,
    Failed,
    DeadEnd,
    Blocked,
    Pending,
}

listed!(Status:
    Completed = "completed", Failed = "failed", DeadEnd = "dead_end", Blocked = "blocked",
    Pending = "pending"
);

impl Status {
    /// Light enough for black text on it.
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
    /// The plan as a picture, as it is now.
    pub fn diagram(&self) -> Diagram {
        let graph = Graph::new(&self.nodes, &self.by_name);
        let blocked = graph.blocked(&self.nodes);
        let drawn = |(node, blocked): (&Node<'_, T, E, F>, _)| Drawn {
            name: Arc::clone(node.name()),
            status: match &node.state {
                State::Completed(_) => Status::Completed,
                State::Failed { dead_end: true, .. } => Status::DeadEnd,
                State::Failed { .. } => Status::Failed,
                State::Pending if blocked => Status::Blocked,
                State::Pending => Status::Pending,
            },
        };
        Diagram {
            subtasks: self.nodes.iter().zip(blocked).map(drawn).collect(),
            graph,
        }
    }
}

impl Diagram {
    /// The diagram in [Mermaid](https://mermaid.js.org): a `flowchart`.
    pub fn mermaid(&self) -> impl fmt::Display {
        Mermaid(self)
    }

    /// Each dependency: a subtask, and one that depends on it.
    fn edges(&self) -> impl Iterator<Item = (usize, usize)> {
        let subtasks = self.graph.after.iter().enumerate();
        subtasks.flat_map(|(to, after)| after.iter().map(move |from| (*from, to)))
    }
}

struct Mermaid<'a>(&'a Diagram);

impl fmt::Display for Mermaid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(diagram) = self;
        writeln!(f, "flowchart LR")?;
        for (index, subtask) in diagram.subtasks.iter().enumerate() {
            // It refuses a label without a character.
            let name = if subtask.name.is_empty() {
                " "
            } else {
                &subtask.name
            };
            let name = Escaped(name);
            writeln!(f, "    {index}[\"{name}\"]:::{}", subtask.status.name())?;
        }
        for (from, to) in diagram.edges() {
            writeln!(f, "    {from} --> {to}")?;
        }
        for status in Status::ALL {
            let (name, colour) = (status.name(), status.colour());
            writeln!(
                f,
                "    classDef {name} fill:{colour},stroke:#495057,color:#000000"
            )?;
        }
        Ok(())
    }
}

/// A name between quotes, in which some characters have another form.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = shown_name(self.0).to_string();
        name.chars().try_for_each(|char| match escaped(char) {
            Some(escaped) => f.write_str(escaped),
            None => f.write_char(char),
        })
    }
}

/// Mermaid reads what is between quotes as Markdown and HTML.
fn escaped(char: char) -> Option<&'static str> {
    Some(match char {
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
        _ => return None,
    })
}
