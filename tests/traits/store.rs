//! A store of objects, whose lists are `'static` streams.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::TryStreamExt;
use futures_util::stream::{self, BoxStream, StreamExt};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore as Original, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload,
    PutResult, RenameOptions, Result,
};
use retry_runtime::retry;

use crate::Attempts;

#[retry(wrapper = RetryStore, of = Original, max = 3, backoff = "none", on = |_| true)]
#[async_trait]
trait ObjectStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        opts: PutOptions,
    ) -> Result<PutResult>;
    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>>;
    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult>;
    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>>;
    /// It takes a stream, which can be read only once.
    #[retry(skip)]
    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>>;
    #[retry(stream = "buffer")]
    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>>;
    #[retry(stream = "buffer")]
    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>>;
    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult>;
    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()>;
    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()>;
}

impl<C: fmt::Display> fmt::Display for RetryStore<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "retrying {}", self.inner())
    }
}

/// A store that fails a number of times before it returns data from memory.
#[derive(Clone, Debug, Default)]
struct Flaky(Attempts, Arc<InMemory>);

impl Flaky {
    fn answers(&self) -> Result<()> {
        let (store, source) = ("flaky", "busy".into());
        self.0.make((), Error::Generic { store, source })
    }
}

impl fmt::Display for Flaky {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("flaky")
    }
}

#[async_trait]
impl Original for Flaky {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        opts: PutOptions,
    ) -> Result<PutResult> {
        self.answers()?;
        self.1.put_opts(location, payload, opts).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.1.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.answers()?;
        self.1.get_opts(location, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.1.delete_stream(locations)
    }

    /// The list breaks after its first item.
    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let listed = self.1.list(prefix);
        match self.answers() {
            Ok(()) => listed,
            Err(error) => listed.take(1).chain(stream::iter([Err(error)])).boxed(),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.1.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.1.copy_opts(from, to, options).await
    }
}

#[tokio::test]
async fn objects_and_their_lists() {
    let attempts = Attempts::default();
    let client = Flaky(attempts.clone(), Arc::default());
    let store: Arc<dyn Original> = Arc::new(RetryStore::new(client));
    for name in ["a", "b"] {
        let payload = PutPayload::from("hello");
        store.put(&Path::from(name), payload).await.unwrap();
        assert_eq!(attempts.made(), 3);
    }
    let object = store.get(&Path::from("a")).await.unwrap();
    assert_eq!(object.bytes().await.unwrap(), "hello");
    assert_eq!(attempts.made(), 3);

    let list = store.list(None);
    let after = store.list_with_offset(None, &Path::from("a"));
    assert_eq!(store.to_string(), "retrying flaky");
    drop(store);
    let listed: Vec<_> = list.try_collect().await.unwrap();
    assert_eq!((listed.len(), attempts.made()), (2, 3));
    let listed: Vec<_> = after.try_collect().await.unwrap();
    assert_eq!((listed.len(), attempts.made()), (1, 3));
}
