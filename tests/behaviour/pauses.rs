//! `Policy::pauses`, for loops that count by themselves.

use support::prelude::*;

const POLICY: Policy = Policy::fixed(secs(1)).max(3).jitter(Jitter::None);

#[test]
fn pauses_are_numbered_until_none_remain() {
    let mut pauses = POLICY.pauses();
    let mut seen = Vec::new();
    loop {
        let remaining = pauses.remaining();
        let left = usize::try_from(remaining.unwrap()).unwrap();
        assert_eq!(pauses.size_hint(), (left, Some(left)));
        let pause = pauses.next();
        seen.push((pauses.number(), remaining, pause));
        if pause.is_none() {
            break;
        }
    }
    assert_eq!(
        seen,
        [
            (1, Some(3), Some(secs(1))),
            (2, Some(2), Some(secs(1))),
            (3, Some(1), Some(secs(1))),
            (3, Some(0), None),
        ]
    );
    pauses.reset();
    assert_eq!((pauses.number(), pauses.remaining()), (0, Some(3)));
}

#[test]
fn unlimited_pauses_always_remain() {
    let mut pauses = POLICY.max(u32::MAX).pauses();
    assert_eq!(pauses.nth(9), Some(secs(1)));
    assert_eq!((pauses.number(), pauses.remaining()), (10, None));
    assert_eq!(pauses.size_hint(), (usize::MAX, None));
}
