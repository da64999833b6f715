use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::value::RawValue;

use crate::JournalError;
use crate::journal::line::{Header, Line, add_checksum};

/// The start of files in the old format, without checksums.
const UNCHECKED_START: &str = r#"{"step":""#;

/// A file is rewritten when it is opened if more than this number of its lines, and more than half of all lines, are
/// from attempts that are no longer needed.
const MAX_FORGOTTEN: usize = 1000;

/// The maximum number of times that the file is opened, if another program replaces it before it is locked. Each
/// program replaces it only once, but on a file system whose inode numbers change with each query, the loop would
/// never end.
const MAX_OPENINGS: usize = 10;

/// The steps in a file that the program needs after a restart.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// The results of steps, in JSON, by name.
    pub(super) results: HashMap<String, Box<RawValue>>,
    /// The number of the first attempt that each call still needs, if it is not 1.
    pub(super) first_attempts: HashMap<String, u32>,
    forgotten: usize,
}

impl Steps {
    fn insert(&mut self, line: Line<'_>) {
        if let Some(number) = line.attempt {
            self.forget_before(&line.step, number);
        }
        let result = self.results.entry(line.step.into_owned());
        result.or_insert_with(|| line.result.to_owned());
    }

    /// Removes the attempts before the previous one, because an attempt needs only the previous attempt's failure.
    fn forget_before(&mut self, attempt: &str, number: u32) {
        let call = attempt.strip_suffix(&format!(": attempt {number}"));
        let (Some(call), Some(old @ 1..)) = (call, number.checked_sub(2)) else {
            return;
        };
        for step in [
            format!("{call}: attempt {old}"),
            format!("{call}: pause {old}"),
            format!("{call}: pause {old}: over"),
        ] {
            self.forgotten += usize::from(self.results.remove(&step).is_some());
        }
        self.first_attempts.insert(call.to_owned(), number - 1);
    }

    fn is_sparse(&self) -> bool {
        self.forgotten > MAX_FORGOTTEN.max(self.results.len())
    }
}

/// A file that is locked by this program, with all its lines on disk.
#[derive(Debug)]
pub(super) struct JournalFile {
    file: File,
    /// The time of the last step before the file was opened, by the journal's clock.
    pub(super) time: Duration,
    /// The offset of the end of the last line.
    end: u64,
    /// The checksum of the last line.
    check: u32,
    /// True if the file ends at `end`.
    is_whole: bool,
}

type Opened = (JournalFile, Location, Steps);

impl JournalFile {
    /// Opens a file, or creates it. Also returns its location and its contents.
    pub(super) fn open(path: &Path) -> Result<Opened, JournalError> {
        let (mut file, location) = open_locked(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        // The text ends at the first bytes that aren't UTF-8.
        let text =
            str::from_utf8(&bytes).or_else(|error| str::from_utf8(&bytes[..error.valid_up_to()]));
        let text = text.unwrap_or_default();
        let is_new = bytes.is_empty();
        if is_new || text.starts_with(UNCHECKED_START) {
            return match Self::replace(&file, &location, Line::read_unchecked(text)?) {
                Err(_) if is_new && location.check().is_ok() => Self::init(file, location),
                replaced => replaced,
            };
        }
        let (opened, kept, steps) = Self::read(file, text)?;
        if kept.is_sparse() {
            let mut lines = Line::read_unchecked(steps)?;
            lines.retain(|line| kept.results.contains_key(&*line.step));
            match Self::replace(&opened.file, &location, lines) {
                // The old, longer file also contains everything that is needed.
                Err(_) if location.check().is_ok() => {}
                replaced => return replaced,
            }
        }
        Ok((opened, location, kept))
    }

    /// Reads the lines of a file. Any bytes after the length in the header were being written when the program or the
    /// machine stopped. A whole line among these bytes is kept, because only the header was not updated. Also returns
    /// the lines of the steps.
    fn read(mut file: File, text: &str) -> Result<(Self, Steps, &str), JournalError> {
        let (on_disk, steps) = Header::read(text)?;
        let lines = steps.split_inclusive('\n');
        let mut kept = Steps::default();
        kept.results.reserve(lines.clone().count());
        let mut length = 0;
        let (mut check, mut number, mut time) = (0, 2, Duration::ZERO);
        for line in lines {
            let Some((step, of_line)) = Line::read(check, line) else {
                break;
            };
            time = time.max(step.time());
            kept.insert(step);
            check = of_line;
            length += line.len();
            number += 1;
        }
        let end = (text.len() - steps.len() + length) as u64;
        if end < on_disk {
            return Err(JournalError::Damaged { line: number });
        }
        file.set_len(end)?;
        // The header must not count bytes before they are on disk.
        file.sync_all()?;
        write_header(&mut file, end)?;
        let file = Self {
            file,
            time,
            end,
            check,
            is_whole: true,
        };
        Ok((file, kept, &steps[..length]))
    }

    /// Replaces the file with one that contains these lines. The new file is written under another name first, so that
    /// a crash leaves either the old or the new file.
    fn replace(
        old: &File,
        location: &Location,
        steps: Vec<Line<'_>>,
    ) -> Result<Opened, JournalError> {
        let text = file_text(steps)?;
        // A random name, because the journal's name with a suffix could be another journal's name.
        let number = RandomState::new().build_hasher().finish();
        let new = location
            .path
            .with_file_name(format!(".journal-{number:016x}"));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        // Private until the permissions of the old file are copied.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&new)?;
        let replaced = Self::write_like(old, file, &text).and_then(|opened| {
            // Open the directory first: if that fails, the old file is still in place.
            let directory = open_directory(&location.path)?;
            fs::rename(&new, &location.path)?;
            Ok((opened, directory))
        });
        if replaced.is_err() {
            drop(fs::remove_file(&new));
        }
        let ((opened, kept), directory) = replaced?;
        directory.iter().try_for_each(File::sync_all)?;
        let location = Location::new(&location.path, &opened.file)?;
        Ok((opened, location, kept))
    }

    /// Writes the text to an empty file, with the same owner and permissions as the old file.
    fn write_like(old: &File, mut file: File, text: &str) -> Result<(Self, Steps), JournalError> {
        file.try_lock().map_err(io::Error::from)?;
        let old = old.metadata()?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, fchown};
            fchown(&file, Some(old.uid()), Some(old.gid()))?;
        }
        file.set_permissions(old.permissions())?;
        file.write_all(text.as_bytes())?;
        let (opened, kept, _) = Self::read(file, text)?;
        Ok((opened, kept))
    }

    /// Starts a journal in the empty file itself, if it can't be replaced, for example because the file is a mount
    /// point.
    fn init(mut file: File, location: Location) -> Result<Opened, JournalError> {
        let text = file_text(Vec::new())?;
        let written = (file.write_all(text.as_bytes())).and_then(|()| file.sync_all());
        if let Err(error) = written {
            // A partial header is not a valid journal.
            file.set_len(0)?;
            return Err(error.into());
        }
        open_directory(&location.path)?
            .iter()
            .try_for_each(File::sync_all)?;
        let (opened, kept, _) = Self::read(file, &text)?;
        Ok((opened, location, kept))
    }

    /// Writes a line with this JSON. If that fails, removes any partial line.
    pub(super) fn append(&mut self, json: &str) -> io::Result<()> {
        if !self.is_whole {
            return Err(io::Error::other(
                "an earlier write to the journal failed: open it again",
            ));
        }
        let (line, check) = add_checksum(self.check, json);
        self.file.seek(SeekFrom::Start(self.end))?;
        let end = self.end + line.len() as u64;
        // The new header reaches the disk with the next line at the latest. If the machine crashes before that, the
        // header doesn't count the last line. A crash of the program alone has no such effect.
        let written = (self.file.write_all(line.as_bytes()))
            .and_then(|()| self.file.sync_data())
            .and_then(|()| write_header(&mut self.file, end));
        if let Err(error) = written {
            let cut = self.file.set_len(self.end);
            let cut = cut.and_then(|()| write_header(&mut self.file, self.end));
            self.is_whole = cut.is_ok();
            return Err(error);
        }
        (self.end, self.check) = (end, check);
        Ok(())
    }
}

/// Unlocks the file. Closing it is not enough: a forked child that has not called `exec` yet would keep the lock.
impl Drop for JournalFile {
    fn drop(&mut self) {
        drop(self.file.unlock());
    }
}

/// Returns the text of a file with these lines.
fn file_text(steps: Vec<Line<'_>>) -> Result<String, JournalError> {
    let (mut check, mut lines) = (0, String::new());
    for step in steps {
        let (line, of_line) = add_checksum(check, &step.json()?);
        lines.push_str(&line);
        check = of_line;
    }
    let length = Header::line(0).len() + lines.len();
    Ok(Header::line(length as u64) + &lines)
}

fn write_header(file: &mut File, kept: u64) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(Header::line(kept).as_bytes())
}

/// The path of a file that this program has locked.
#[derive(Debug)]
pub(super) struct Location {
    path: PathBuf,
    #[cfg(unix)]
    inode: (u64, u64),
}

impl Location {
    fn new(path: &Path, file: &File) -> io::Result<Self> {
        let _ = file;
        Ok(Self {
            // The path of the file itself, if `path` is a link.
            path: path.canonicalize()?,
            #[cfg(unix)]
            inode: inode(&file.metadata()?),
        })
    }

    /// Returns an error if this path no longer leads to the locked file, so that another program would not find the
    /// lock.
    pub(super) fn check(&self) -> Result<(), JournalError> {
        #[cfg(unix)]
        if !(self.path.metadata()).is_ok_and(|there| inode(&there) == self.inode) {
            return Err(JournalError::Replaced);
        }
        Ok(())
    }
}

#[cfg(unix)]
fn inode(metadata: &fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

fn open_locked(path: &Path) -> Result<(File, Location), JournalError> {
    // Check before opening, because opening a pipe could block forever.
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        let kind = io::ErrorKind::InvalidInput;
        let text = format!("{} is not a regular file", path.display());
        return Err(io::Error::new(kind, text).into());
    }
    // Don't open the file in append mode: on Windows, it couldn't be truncated.
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false);
    // A new file is readable only by its owner, because results and errors may be confidential.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    for _ in 0..MAX_OPENINGS {
        let file = options.open(path)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => JournalError::InUse,
            TryLockError::Error(error) => JournalError::Io(error),
        })?;
        // Another program may have replaced or removed the file before it was locked.
        match Location::new(path, &file) {
            Ok(location) if location.check().is_ok() => return Ok((file, location)),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Err(JournalError::Replaced)
}

/// Opens the file's directory, to sync it: on Unix, syncing a file does not write its name to disk.
fn open_directory(path: &Path) -> io::Result<Option<File>> {
    let directory = path.parent().filter(|_| cfg!(unix));
    directory.map(File::open).transpose()
}
