use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::value::RawValue;

use crate::JournalError;
use crate::journal::line::{Header, Line};

/// How files begin that were written before there were checks.
const UNCHECKED: &str = r#"{"step":""#;

/// The results of steps, in JSON, by their names.
pub(super) type Kept = HashMap<String, Box<RawValue>>;

/// A file that this program has locked, and that has its lines on the disk.
#[derive(Debug)]
pub(super) struct JournalFile {
    file: File,
    /// The time of the last step before it was opened, by the journal's clock.
    pub(super) time: Duration,
    /// Where its lines end.
    end: u64,
    /// The check of the last one.
    check: u32,
    /// Whether the file ends there, too.
    is_whole: bool,
}

impl JournalFile {
    /// Opens it, or makes a new one. Says where it is, and what is kept there.
    pub(super) fn open(path: &Path) -> Result<(Self, Place, Kept), JournalError> {
        let (mut file, mut place) = lock(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        // A line that is not text is none.
        let text =
            str::from_utf8(&bytes).or_else(|error| str::from_utf8(&bytes[..error.valid_up_to()]));
        let text = text.unwrap_or_default();
        let (opened, kept) = if bytes.is_empty() || text.starts_with(UNCHECKED) {
            let replaced = Self::replace(&place.path, text)?;
            place = Place::new(path, &replaced.0.file)?;
            replaced
        } else {
            Self::read(file, text)?
        };
        Ok((opened, place, kept))
    }

    /// Whatever follows the bytes that the header has was being written when the program ended, or the machine. A whole
    /// line there was not yet counted.
    fn read(mut file: File, text: &str) -> Result<(Self, Kept), JournalError> {
        let (on_disk, steps) = Header::read(text)?;
        let lines = steps.split_inclusive('\n');
        let mut kept = Kept::with_capacity(lines.clone().count());
        let mut end = text.len() - steps.len();
        let (mut check, mut number, mut time) = (0, 2, Duration::ZERO);
        for line in lines {
            let Some((step, of_line)) = Line::read(check, line) else {
                break;
            };
            time = step.time();
            let result = kept.entry(step.step.into_owned());
            result.or_insert_with(|| step.result.to_owned());
            check = of_line;
            end += line.len();
            number += 1;
        }
        let end = u64::try_from(end).unwrap_or(u64::MAX);
        if end < on_disk {
            return Err(JournalError::Damaged { line: number });
        }
        file.set_len(end)?;
        write_header(&mut file, end)?;
        file.sync_all()?;
        let file = Self {
            file,
            time,
            end,
            check,
            is_whole: true,
        };
        Ok((file, kept))
    }

    /// Puts a file with checks where there is one without, or an empty one. Written elsewhere first, so that a crash
    /// leaves the one or the other.
    fn replace(path: &Path, unchecked: &str) -> Result<(Self, Kept), JournalError> {
        let (mut check, mut text) = (0, Header::written(0));
        for step in Line::read_unchecked(unchecked)? {
            let written = step.written(check).map_err(JournalError::json(&step.step));
            let (line, of_line) = written?;
            text.push_str(&line);
            check = of_line;
        }
        let mut new = OsString::from(path);
        new.push(".new");
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(true);
        let mut file = options.open(&new)?;
        file.try_lock().map_err(io::Error::from)?;
        file.write_all(text.as_bytes())?;
        let replaced = Self::read(file, &text)?;
        fs::rename(&new, path)?;
        sync_entry(path)?;
        Ok(replaced)
    }

    /// Writes a step, or nothing.
    pub(super) fn append(&mut self, step: &Line<'_>) -> Result<(), JournalError> {
        if !self.is_whole {
            return Err(io::Error::other("the journal could not be written before").into());
        }
        let (line, check) = step
            .written(self.check)
            .map_err(JournalError::json(&step.step))?;
        self.file.seek(SeekFrom::Start(self.end))?;
        let end = self.end.saturating_add(line.len() as u64);
        // The header is on the disk with the next line at the latest. Until then a crash of the machine, but not of the
        // program, leaves a last line that is not counted.
        let written = (self.file.write_all(line.as_bytes()))
            .and_then(|()| self.file.sync_data())
            .and_then(|()| write_header(&mut self.file, end));
        if let Err(error) = written {
            let cut = self.file.set_len(self.end);
            let cut = cut.and_then(|()| write_header(&mut self.file, self.end));
            self.is_whole = cut.is_ok();
            return Err(error.into());
        }
        (self.end, self.check) = (end, check);
        Ok(())
    }
}

/// A child that was forked meanwhile, and has not begun its own program yet, would keep the lock of a file that is only
/// closed.
impl Drop for JournalFile {
    fn drop(&mut self) {
        drop(self.file.unlock());
    }
}

fn write_header(file: &mut File, kept: u64) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(Header::written(kept).as_bytes())
}

/// Where a file is that this program has locked.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    #[cfg(unix)]
    inode: (u64, u64),
}

impl Place {
    fn new(path: &Path, file: &File) -> io::Result<Self> {
        let _ = file;
        Ok(Self {
            // That of the file itself, where this is a link to it.
            path: path.canonicalize()?,
            #[cfg(unix)]
            inode: inode(&file.metadata()?),
        })
    }

    /// Whether another program would find that file there, and its lock.
    #[cfg(unix)]
    pub(super) fn holds(&self) -> bool {
        let there = self.path.metadata();
        there.is_ok_and(|there| inode(&there) == self.inode)
    }

    #[cfg(not(unix))]
    pub(super) fn holds(&self) -> bool {
        true
    }
}

#[cfg(unix)]
fn inode(metadata: &fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

fn lock(path: &Path) -> Result<(File, Place), JournalError> {
    // Before it is opened, because reading a pipe could take forever.
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        let kind = io::ErrorKind::InvalidInput;
        let text = format!("{} is not a regular file", path.display());
        return Err(io::Error::new(kind, text).into());
    }
    // Not to append: Windows does not let such a file be cut.
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false);
    loop {
        let file = options.open(path)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => JournalError::InUse,
            TryLockError::Error(error) => JournalError::Io(error),
        })?;
        // Another program may have replaced it before it was locked.
        match Place::new(path, &file) {
            Ok(place) if place.holds() => return Ok((file, place)),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
}

/// Writes the name of a new file to the disk: on Unix, syncing the file is not enough.
fn sync_entry(path: &Path) -> io::Result<()> {
    if cfg!(unix)
        && let Some(directory) = path.parent()
    {
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}
