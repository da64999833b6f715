use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use crate::plan::{Dependencies, Plan};

/// The type of subtasks in a plan from `Plan::new`: `Send`, with futures that are `Send`.
pub type Sendable<'a, T, E> =
    dyn Fn(Vec<Arc<T>>) -> Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'a>> + Send + 'a;

/// The type of subtasks in a plan from [`Plan::local`].
pub type Local<'a, T, E> =
    dyn Fn(Vec<Arc<T>>) -> Pin<Box<dyn Future<Output = Result<T, E>> + 'a>> + 'a;

/// A named piece of work with its dependencies. A validator returns subtasks in
/// [`Validity::Missing`](crate::plan::Validity::Missing).
///
/// ```
/// use retry_work::Plan;
/// use retry_work::plan::Subtask;
///
/// let subtask = Subtask::new("label", ["extract"], async |[text]| {
///     Ok::<_, String>(format!("label of {text}"))
/// });
/// let mut plan = Plan::new();
/// plan.add("extract", [], async |[]| Ok(String::from("text")));
/// plan.push(subtask);
/// ```
/// If the compiler needs the types of the closure's arguments, write the output type: `Subtask::<String, _>::new(…)`.
pub struct Subtask<'a, T, E, F: ?Sized = Sendable<'a, T, E>> {
    pub(crate) name: Arc<str>,
    pub(crate) needs: Vec<Arc<str>>,
    pub(crate) run: Box<F>,
    lifetime: PhantomData<&'a ()>,
    types: PhantomData<fn() -> (T, E)>,
}

impl<'a, T, E> Subtask<'a, T, E> {
    /// Creates a subtask for a plan from `Plan::new`, with its name, the names of the subtasks it depends on, and a
    /// closure that gets their outputs in the same order, each in an `Arc`.
    ///
    /// The closure is called for every execution. Its future may borrow anything that outlives the plan, but nothing
    /// that the closure owns: see [`Plan::add`](Plan#method.add).
    pub fn new<D, C, R>(name: impl Into<Arc<str>>, after: D, run: C) -> Self
    where
        D: Dependencies<T>,
        C: Fn(D::Outputs) -> R + Send + 'a,
        R: Future<Output = Result<T, E>> + Send + 'a,
    {
        let run = move |outputs| Box::pin(run(D::outputs(outputs))) as _;
        Self::of(name.into(), after.into_names(), Box::new(run))
    }
}

impl<'a, T: 'a, E: 'a> Subtask<'a, T, E, Local<'a, T, E>> {
    /// Creates a subtask like [`Subtask::new`], but for a plan from [`Plan::local`]. An `async move` closure may also
    /// own the values it uses.
    pub fn local<D, C>(name: impl Into<Arc<str>>, after: D, run: C) -> Self
    where
        D: Dependencies<T>,
        C: AsyncFn(D::Outputs) -> Result<T, E> + 'a,
    {
        let run = Rc::new(run);
        let run = move |outputs| {
            let run = Rc::clone(&run);
            Box::pin(async move { run(D::outputs(outputs)).await }) as _
        };
        Self::of(name.into(), after.into_names(), Box::new(run))
    }
}

impl<'a, T, E> Plan<'a, T, E> {
    /// Adds a subtask with its name, the names of the subtasks it depends on, and a closure that gets their outputs in
    /// the same order, each in an `Arc`.
    ///
    /// You can add its dependencies later. [`check`](Plan::check), and every run before it starts, reports a repeated
    /// name, a dependency that was never added, and a cycle.
    ///
    /// The closure is called for every execution. An `async` closure may borrow anything that outlives the plan. A
    /// `move` closure returns an `async move` block that owns the values it uses: a copy if the type is `Copy`,
    /// otherwise a clone made before the block.
    ///
    /// ```
    /// use retry_work::Plan;
    ///
    /// # struct Client;
    /// # impl Client { async fn get(&self, url: &str) -> Result<String, String> { Ok(url.to_owned()) } }
    /// let client = Client;
    /// let mut plan = Plan::new();
    /// plan.add("start", [], async |[]| client.get("/").await); // borrows `client`
    /// for page in 1..=3 {
    ///     let (client, url) = (&client, format!("/{page}"));
    ///     plan.add(format!("page {page}"), ["start"], move |[start]| async move {
    ///         client.get(&format!("{start}{page}")).await
    ///     });
    ///     plan.add(url.clone(), ["start"], move |[_]| {
    ///         let url = url.clone();
    ///         async move { client.get(&url).await }
    ///     });
    /// }
    /// # plan.check().unwrap();
    /// ```
    pub fn add<D, C, R>(&mut self, name: impl Into<Arc<str>>, after: D, run: C)
    where
        D: Dependencies<T>,
        C: Fn(D::Outputs) -> R + Send + 'a,
        R: Future<Output = Result<T, E>> + Send + 'a,
    {
        self.push(Subtask::new(name, after, run));
    }
}

impl<'a, T: 'a, E: 'a> Plan<'a, T, E, Local<'a, T, E>> {
    /// Adds a subtask, as in a plan from `Plan::new`. An `async move` closure may also own the values it uses.
    pub fn add<D, C>(&mut self, name: impl Into<Arc<str>>, after: D, run: C)
    where
        D: Dependencies<T>,
        C: AsyncFn(D::Outputs) -> Result<T, E> + 'a,
    {
        self.push(Subtask::local(name, after, run));
    }
}

impl<T, E, F: ?Sized> Subtask<'_, T, E, F> {
    fn of(name: Arc<str>, needs: Vec<Arc<str>>, run: Box<F>) -> Self {
        Self {
            name,
            needs,
            run,
            lifetime: PhantomData,
            types: PhantomData,
        }
    }

    /// The subtask's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of the subtasks it depends on.
    pub fn dependencies(&self) -> impl Iterator<Item = &str> {
        self.needs.iter().map(|name| &**name)
    }
}

impl<T, E, F: ?Sized> fmt::Debug for Subtask<'_, T, E, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Subtask({} after {:?})", self.name, self.needs)
    }
}
