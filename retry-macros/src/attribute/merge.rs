//! The arguments of a block, with those of one member on top.

use proc_macro2::Ident;
use retry_vocabulary::key::Key;
use syn::Expr;

use crate::attribute::argument::{Argument, Arguments, KeyValue};
use crate::tokens::code;

impl Arguments {
    /// The arguments of a block for one of its members: the member's own in place of the block's, key by key,
    /// in sections too.
    pub(crate) fn for_member(&self, own: Self, member: &Ident) -> Self {
        let mut merged = Self::default();
        for argument in &self.given {
            if own.given.iter().any(|own| own.replaces(argument.key)) {
                continue;
            }
            let mut argument = argument.clone();
            if argument.key == Key::Name {
                argument.append(member);
            }
            merged.of_block.push(argument.key);
            merged.given.push(argument);
        }
        for argument in own.given {
            merged.of_block.retain(|key| *key != argument.key);
            let mut below = merged.given.iter_mut();
            match below.find(|below| below.key == argument.key) {
                Some(below) => below.merge(argument),
                None => merged.given.push(argument),
            }
        }
        merged
    }
}

impl Argument {
    /// Whether this argument of a member replaces a block's argument of that key.
    fn replaces(&self, key: Key) -> bool {
        match self.key {
            Key::Policy => key == Key::Policy || key.is_within_policy(),
            Key::GiveUp | Key::Fallback => matches!(key, Key::GiveUp | Key::Fallback),
            Key::Cancel | Key::Abort => matches!(key, Key::Cancel | Key::Abort),
            Key::Hint => matches!(key, Key::Hint | Key::MaxHint),
            _ => key == self.key && !key.is_section(),
        }
    }

    /// Puts a section's arguments over this section's.
    fn merge(&mut self, section: Self) {
        if let (KeyValue::Section(below), KeyValue::Section(above)) =
            (&mut self.value, section.value)
        {
            below.retain(|argument| !above.iter().any(|above| above.key == argument.key));
            below.extend(above);
        }
    }

    /// Turns a block's name into a member's name.
    fn append(&mut self, member: &Ident) {
        let member = format!(".{}", member.to_string().trim_start_matches("r#"));
        match &mut self.value {
            KeyValue::Text(name) => name.push_str(&member),
            KeyValue::Expr(name) => {
                let name_of_member =
                    code!([::core::convert::AsRef::<str>::as_ref(&(#name)), #member].concat());
                *name = Expr::Verbatim(name_of_member.into());
            }
            _ => {}
        }
    }
}
