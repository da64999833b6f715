use std::sync::Arc;

/// The names of the subtasks that a subtask depends on: an array, or a `Vec` if their number is known only at run time.
///
/// The subtask gets an array or a `Vec` of the outputs, in the order of the names:
///
/// ```
/// use retry_work::Plan;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), retry_work::plan::PlanError> {
/// let mut plan = Plan::<u32, String>::new();
/// let pages: Vec<String> = (1..=3).map(|page| format!("page {page}")).collect();
/// for (number, page) in (1..).zip(&pages) {
///     plan.add(page.as_str(), [], move |[]| async move { Ok(number) });
/// }
/// plan.add("sum", pages, async |numbers| {
///     Ok(numbers.iter().map(|number| **number).sum())
/// });
/// plan.add("difference", ["sum", "page 1"], async |[sum, first]| Ok(*sum - *first));
/// plan.run().await?;
/// assert_eq!(plan.output("difference"), Some(&5));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of dependencies",
    label = "neither an array of `&str` nor a `Vec` of names",
    note = "pass an array, as in `[\"search\", \"extract\"]` or `[]`, or a `Vec` of `String` or `&str`"
)]
pub trait Dependencies<T> {
    /// The type of the outputs that the subtask gets.
    type Outputs;

    /// The names.
    fn into_names(self) -> Vec<Arc<str>>;

    /// Converts the outputs, in the order of the names, to the type that the subtask gets.
    fn outputs(outputs: Vec<Arc<T>>) -> Self::Outputs;
}

impl<T, const N: usize> Dependencies<T> for [&str; N] {
    type Outputs = [Arc<T>; N];

    fn into_names(self) -> Vec<Arc<str>> {
        self.into_iter().map(Arc::from).collect()
    }

    fn outputs(outputs: Vec<Arc<T>>) -> [Arc<T>; N] {
        let outputs = outputs.try_into();
        outputs.unwrap_or_else(|_| unreachable!("as many outputs as names"))
    }
}

impl<T, S: AsRef<str>> Dependencies<T> for Vec<S> {
    type Outputs = Vec<Arc<T>>;

    fn into_names(self) -> Vec<Arc<str>> {
        self.iter().map(|name| Arc::from(name.as_ref())).collect()
    }

    fn outputs(outputs: Vec<Arc<T>>) -> Vec<Arc<T>> {
        outputs
    }
}
