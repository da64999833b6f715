//! Damage to a journal on disk.

use std::fs;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use retry_durable::{Engine, Journal, JournalError};

use crate::run::Run;

const STEPS: u64 = 12;

fn result(name: u64) -> String {
    // One line is longer than two pages.
    let length = if name == 7 { 9000 } else { 5 * name };
    format!(
        "charged {name}00{}",
        ".".repeat(usize::try_from(length).unwrap())
    )
}

/// Runs all steps that are not stored, and returns their number.
async fn run_all(journal: &Journal) -> u32 {
    let ran = AtomicU32::new(0);
    for name in 0..STEPS {
        let step = async {
            ran.fetch_add(1, SeqCst);
            result(name)
        };
        let kept = journal.step(&format!("charge {name}"), step).await;
        assert_eq!(kept.unwrap(), result(name));
    }
    ran.load(SeqCst)
}

/// Pseudo-random numbers that are the same each time (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(end).unwrap()).unwrap()
    }
}

/// Returns the range of a random line, including its line break.
fn line(text: &[u8], numbers: &mut Numbers) -> Range<usize> {
    let ends: Vec<_> = (0..text.len()).filter(|at| text[*at] == b'\n').collect();
    let number = numbers.below(ends.len());
    let begin = number.checked_sub(1).map_or(0, |before| ends[before] + 1);
    begin..ends[number] + 1
}

type Mutation = fn(&mut Vec<u8>, &mut Numbers);

/// Kinds of damage to lines on disk.
const MUTATIONS: [Mutation; 10] = [
    |text, numbers| {
        let at = numbers.below(text.len());
        text[at] ^= 1 << numbers.below(8);
    },
    |text, numbers| {
        let at = numbers.below(text.len());
        text[at] = u8::try_from(numbers.below(256)).unwrap();
    },
    // A digit or letter is changed.
    |text, numbers| {
        let at = (0..).map(|_| numbers.below(text.len()));
        let at = at.into_iter().find(|at| text[*at].is_ascii_alphanumeric());
        text[at.unwrap()] = b'a' + u8::try_from(numbers.below(26)).unwrap();
    },
    |text, numbers| drop(text.drain(line(text, numbers))),
    // A line is repeated, here or elsewhere.
    |text, numbers| {
        let (from, to) = (line(text, numbers), line(text, numbers));
        let copy = text[from].to_vec();
        text.splice(to.end..to.end, copy);
    },
    // A line overwrites another.
    |text, numbers| {
        let (from, to) = (line(text, numbers), line(text, numbers));
        let copy = text[from].to_vec();
        text.splice(to, copy);
    },
    // Two lines are swapped.
    |text, numbers| {
        let (one, other) = (line(text, numbers), line(text, numbers));
        if one.end <= other.start {
            let swapped = [
                &text[other.clone()],
                &text[one.end..other.start],
                &text[one.clone()],
            ];
            let swapped = swapped.concat();
            text.splice(one.start..other.end, swapped);
        }
    },
    // The end is zeros or missing, in part or all except a byte.
    |text, numbers| {
        let at = 1 + numbers.below(text.len() - 1);
        text[at..].fill(0);
    },
    |text, numbers| text.truncate(1 + numbers.below(text.len() - 1)),
    // A sector is zeros.
    |text, numbers| {
        let at = numbers.below(text.len()) / 512 * 512;
        let end = text.len().min(at + 512);
        text[at..end].fill(0);
    },
];

#[tokio::test]
async fn ten_thousand_mutations_are_noticed_or_harmless() {
    let run = Run::new();
    assert_eq!(run_all(&run.open()).await, u32::try_from(STEPS).unwrap());
    let whole = fs::read(&run.path).unwrap();
    let mut numbers = Numbers(0x00C0_FFEE);
    let mut noticed = [0; MUTATIONS.len()];
    for number in 0..10_000 {
        let kind = number % MUTATIONS.len();
        let mut text = whole.clone();
        MUTATIONS[kind](&mut text, &mut numbers);
        // Create a new file, because some file systems write a shorter one to disk at once.
        fs::remove_file(&run.path).unwrap();
        fs::write(&run.path, &text).unwrap();
        match Journal::open(&run.path) {
            Ok(journal) => assert_eq!(run_all(&journal).await, 0, "{number}"),
            Err(JournalError::Damaged { .. }) => {
                noticed[kind] += 1;
                assert!(fs::read(&run.path).unwrap() == text, "{number} was changed");
            }
            Err(other) => panic!("{number}: {other}"),
        }
    }
    // All except mutations that didn't change the text, and lines repeated at the end.
    assert!(noticed.iter().all(|noticed| *noticed > 400), "{noticed:?}");
}

/// The program was killed during a write, or the machine stopped: some pages are written, some are zeros, others are
/// missing.
#[tokio::test]
async fn a_partial_last_line_is_not_a_step() {
    let run = Run::new();
    let (short, long) = (String::from("one"), "2".repeat(20_000));
    let step = async |value: &String| {
        let journal = run.open();
        let one = journal.step("one", async { short.clone() }).await;
        let two = journal.step("two", async { value.clone() }).await;
        (one.unwrap(), two.unwrap())
    };
    run.open()
        .step("one", async { short.clone() })
        .await
        .unwrap();
    let before = fs::read(&run.path).unwrap();
    let length = u64::try_from(before.len()).unwrap();
    step(&long).await;
    let mut whole = fs::read(&run.path).unwrap();
    // The header is written last, so it isn't on disk, either.
    whole[..before.len()].copy_from_slice(&before);
    let cuts = (0..40).chain((40..whole.len() - before.len()).step_by(997));
    for torn in cuts {
        for page in [None, Some(0), Some(2)] {
            let mut text = whole[..before.len() + torn].to_vec();
            if let Some(page) = page {
                let zeros = (before.len()..text.len()).filter(|at| at / 4096 == page);
                zeros.for_each(|at| text[at] = 0);
            }
            fs::write(&run.path, text).unwrap();
            drop(run.open());
            assert_eq!(fs::metadata(&run.path).unwrap().len(), length);
            for again in ["20", "0"] {
                let expected = (short.clone(), String::from("20"));
                assert_eq!(step(&again.to_owned()).await, expected, "{torn} {page:?}");
            }
        }
    }
    fs::write(&run.path, whole).unwrap();
    assert_eq!(step(&short).await, (short.clone(), long.clone()));
}
