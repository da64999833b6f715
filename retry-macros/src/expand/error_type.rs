//! The error type of a block that names none.
//!
//! The compiler infers it, but infers each `_` separately. Where code uses the error in more than one place, a
//! zero-sized local ties these together.

use retry_vocabulary::key::Key;
use syn::Expr;
use syn::spanned::Spanned;

use crate::expand::model::Decider;
use crate::expand::printer::Printer;
use crate::target::function::Asyncness;
use crate::tokens::{Code, if_else, ours, ours_at};

impl Printer<'_> {
    fn ties_errors(&self) -> bool {
        self.model.infers_error()
            && (self.model.decision == Decider::Full
                || self.model.history.is_some()
                || self.asyncness == Asyncness::Blocking)
    }

    /// The function of `on`, where it may name the type and can be written twice.
    fn naming(&self) -> Option<&Expr> {
        let on = self.model.expr(Key::On)?;
        (self.model.infers_error() && matches!(on, Expr::Path(_))).then_some(on)
    }

    /// Binds `retry_error_type`.
    pub(crate) fn error_type(&self) -> Option<Code> {
        let bound = match self.naming() {
            Some(on) => ours_at!(on.span()=> __retry::error_type_by(#on)),
            None => ours!(__retry::error_type()),
        };
        let declared = ours!(let retry_error_type = #bound;);
        self.ties_errors().then_some(declared)
    }

    /// Says that `retry_history` is of that type, which the body may ask about.
    pub(crate) fn error_type_of_history(&self) -> Option<Code> {
        let said = ours!(__retry::has_error_type(retry_error_type, &retry_history););
        (self.ties_errors() && self.model.history.is_some()).then_some(said)
    }

    /// Says that the loop ends with an error of that type, since a binding may name that of blocking code's outcome.
    pub(crate) fn error_type_of_loop(&self) -> Option<Code> {
        (self.ties_errors() && self.asyncness == Asyncness::Blocking).then(|| {
            ours! {
                if false {
                    break 'retry_call __retry::never_of(retry_error_type);
                }
            }
        })
    }

    /// Says that an outcome has an error of that type, without borrowing the outcome: it would be copied.
    pub(crate) fn error_type_of(&self, outcome: &Code) -> Option<Code> {
        self.ties_errors().then(|| {
            ours! {
                if false {
                    __retry::has_error_type(retry_error_type, &#outcome);
                }
            }
        })
    }

    /// A reference to `retry_error`, of type `&E`, which says that it is of that type.
    pub(crate) fn error_of_type(&self) -> Code {
        let of_type = ours!(__retry::of_error_type(retry_error_type, &retry_error));
        if_else(self.ties_errors(), of_type, ours!(&retry_error))
    }

    /// The function that shows an error. It needs to know the type before the code that follows the block: if it does not, the
    /// complaint points at the block.
    pub(crate) fn show(&self) -> Code {
        let at_block = ours_at!(self.model.error_span=> __retry::show);
        if_else(self.model.infers_error(), at_block, ours!(__retry::show))
    }

    /// An outcome that no code reaches, whose error is of the type that `on` names.
    pub(crate) fn never_by_on(&self) -> Option<Code> {
        let on = self.naming()?;
        Some(ours_at!(on.span()=> __retry::never_by(#on)))
    }
}
