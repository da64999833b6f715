use crate::classify::kind::Kind;
use crate::policy::section::Section;

/// The sections that a policy or a layer names, by the kind of failure they are for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sections([Option<Section>; 4]);

impl Sections {
    /// The keys, in the order of the kinds.
    pub(crate) const NAMES: [&'static str; 4] = ["transient", "throttled", "timed_out", "invalid"];

    pub(crate) const fn new() -> Self {
        Self([None; 4])
    }

    pub(crate) const fn get(&self, kind: Kind) -> Option<&Section> {
        self.0[kind as usize].as_ref()
    }

    /// The sections with this one in place of what was there. One that names no key is none.
    pub(crate) const fn with(mut self, kind: Kind, section: Section) -> Self {
        self.0[kind as usize] = if section.is_empty() {
            None
        } else {
            Some(section)
        };
        self
    }

    /// Of that key, where it is a section's.
    pub(crate) fn named(&mut self, name: &str) -> Option<&mut Option<Section>> {
        let place = Self::NAMES.iter().position(|known| *known == name)?;
        self.0.get_mut(place)
    }

    /// Every section with its key.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&'static str, Option<Section>)> {
        Self::NAMES.into_iter().zip(self.0)
    }

    /// These with what `above` names in their place, key by key.
    pub(crate) fn overridden_by(self, above: &Self) -> Self {
        let mut merged = self.0;
        for (ours, theirs) in merged.iter_mut().zip(above.0) {
            let merged = ours
                .unwrap_or_default()
                .overridden_by(theirs.unwrap_or_default());
            *ours = Some(merged).filter(|section| !section.is_empty());
        }
        Self(merged)
    }
}
