//! Files and secrets.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use retry_runtime::retry;
use vfs::{SeekAndRead, SeekAndWrite, VfsError, VfsMetadata, VfsResult};

use crate::Attempts;

mod vfs_file_system {
    use super::*;

    #[retry(wrapper = RetryFiles, of = vfs::FileSystem, max = 3, backoff = "none", on = |_| true)]
    trait FileSystem {
        fn read_dir(&self, path: &str) -> VfsResult<Box<dyn Iterator<Item = String> + Send>>;
        fn create_dir(&self, path: &str) -> VfsResult<()>;
        fn open_file(&self, path: &str) -> VfsResult<Box<dyn SeekAndRead + Send>>;
        fn create_file(&self, path: &str) -> VfsResult<Box<dyn SeekAndWrite + Send>>;
        fn append_file(&self, path: &str) -> VfsResult<Box<dyn SeekAndWrite + Send>>;
        fn metadata(&self, path: &str) -> VfsResult<VfsMetadata>;
        fn set_creation_time(&self, path: &str, time: SystemTime) -> VfsResult<()>;
        fn set_modification_time(&self, path: &str, time: SystemTime) -> VfsResult<()>;
        fn set_access_time(&self, path: &str, time: SystemTime) -> VfsResult<()>;
        fn exists(&self, path: &str) -> VfsResult<bool>;
        fn remove_file(&self, path: &str) -> VfsResult<()>;
        fn remove_dir(&self, path: &str) -> VfsResult<()>;
        fn copy_file(&self, src: &str, dest: &str) -> VfsResult<()>;
        fn move_file(&self, src: &str, dest: &str) -> VfsResult<()>;
        fn move_dir(&self, src: &str, dest: &str) -> VfsResult<()>;
    }

    /// A file system that fails a number of times before it succeeds.
    #[derive(Debug, Default)]
    struct Share(Attempts, vfs::MemoryFS);

    impl Share {
        fn answers(&self) -> VfsResult<()> {
            let busy = std::io::Error::from(std::io::ErrorKind::TimedOut);
            self.0.make((), VfsError::from(busy))
        }
    }

    impl vfs::FileSystem for Share {
        fn read_dir(&self, path: &str) -> VfsResult<Box<dyn Iterator<Item = String> + Send>> {
            self.answers()?;
            self.1.read_dir(path)
        }

        fn create_dir(&self, path: &str) -> VfsResult<()> {
            self.answers()?;
            self.1.create_dir(path)
        }

        fn open_file(&self, path: &str) -> VfsResult<Box<dyn SeekAndRead + Send>> {
            self.1.open_file(path)
        }

        fn create_file(&self, path: &str) -> VfsResult<Box<dyn SeekAndWrite + Send>> {
            self.1.create_file(path)
        }

        fn append_file(&self, path: &str) -> VfsResult<Box<dyn SeekAndWrite + Send>> {
            self.1.append_file(path)
        }

        fn metadata(&self, path: &str) -> VfsResult<VfsMetadata> {
            self.1.metadata(path)
        }

        fn exists(&self, path: &str) -> VfsResult<bool> {
            self.1.exists(path)
        }

        fn remove_file(&self, path: &str) -> VfsResult<()> {
            self.1.remove_file(path)
        }

        fn remove_dir(&self, path: &str) -> VfsResult<()> {
            self.1.remove_dir(path)
        }
    }

    #[test]
    fn files() {
        let attempts = Attempts::default();
        let share = Share(attempts.clone(), vfs::MemoryFS::new());
        let root = vfs::VfsPath::new(RetryFiles::new(share));
        root.join("folder").unwrap().create_dir().unwrap();
        assert_eq!(attempts.made(), 3);
        assert_eq!(root.read_dir().unwrap().count(), 1);
        assert_eq!(attempts.made(), 3);
    }
}

mod keyring {
    use keyring_core::api::{Credential, CredentialApi as Original};
    use keyring_core::{Error, Result};

    use super::*;

    #[retry(wrapper = RetrySecret, of = Original, max = 3, backoff = "none", on = is_locked)]
    trait CredentialApi {
        fn set_password(&self, password: &str) -> Result<()>;
        fn set_secret(&self, secret: &[u8]) -> Result<()>;
        fn get_password(&self) -> Result<String>;
        fn get_secret(&self) -> Result<Vec<u8>>;
        fn get_attributes(&self) -> Result<HashMap<String, String>>;
        fn update_attributes(&self, attributes: &HashMap<&str, &str>) -> Result<()>;
        fn delete_credential(&self) -> Result<()>;
        fn get_credential(&self) -> Result<Option<Arc<Credential>>>;
        fn get_specifiers(&self) -> Option<(String, String)>;
        fn as_any(&self) -> &dyn Any;
        #[retry(skip)]
        fn debug_fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
    }

    fn is_locked(error: &Error) -> bool {
        matches!(error, Error::NoStorageAccess(_))
    }

    #[derive(Debug)]
    struct Secret(Attempts);

    impl Original for Secret {
        fn set_secret(&self, _: &[u8]) -> Result<()> {
            self.0.make((), Error::NoEntry)
        }

        fn get_secret(&self) -> Result<Vec<u8>> {
            self.0
                .make(b"secret".to_vec(), Error::NoStorageAccess("locked".into()))
        }

        fn delete_credential(&self) -> Result<()> {
            Ok(())
        }

        fn get_credential(&self) -> Result<Option<Arc<Credential>>> {
            Ok(None)
        }

        fn get_specifiers(&self) -> Option<(String, String)> {
            None
        }

        fn as_any(&self) -> &dyn Any {
            self
        }
    }

    #[test]
    fn a_secret() {
        let attempts = Attempts::default();
        let secret: Arc<Credential> = Arc::new(RetrySecret::new(Secret(attempts.clone())));
        assert_eq!(secret.get_password().unwrap(), "secret");
        assert_eq!(attempts.made(), 3);
        secret.set_password("other").unwrap_err();
        assert_eq!(attempts.made(), 1);
        assert!(secret.as_any().is::<Secret>());
    }
}
