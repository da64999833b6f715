//! The inferred error type of a block.
//!
//! The compiler infers each `_` separately. If code uses the error in more than one place, a zero-sized local variable
//! makes the inferred types equal.

use retry_vocabulary::key::Key;
use syn::Expr;
use syn::spanned::Spanned;

use crate::expand::printer::Printer;
use crate::tokens::{Code, if_else, ours, ours_at};

impl Printer<'_> {
    fn ties_errors(&self) -> bool {
        self.model.infers_error()
            && (self.model.is_driven || self.model.history.is_some() || !self.is_async)
    }

    /// The function of `on`, if it determines the error type and can be written twice.
    pub(crate) fn naming_on(&self) -> Option<&Expr> {
        let on = self.model.expr(Key::On)?;
        (self.model.infers_error() && matches!(on, Expr::Path(_))).then_some(on)
    }

    /// Binds `retry_error_type`.
    pub(crate) fn error_type(&self) -> Option<Code> {
        let bound = match self.naming_on() {
            Some(on) => ours_at!(on.span()=> __retry::error_type_by(&#on)),
            None => ours!(__retry::error_type()),
        };
        let declared = ours!(let retry_error_type = #bound;);
        self.ties_errors().then_some(declared)
    }

    /// Ties `retry_history`, which the body may use, to the error type.
    pub(crate) fn error_type_of_history(&self) -> Option<Code> {
        let tied = ours!(__retry::has_error_type(retry_error_type, &retry_history););
        (self.ties_errors() && self.model.history.is_some()).then_some(tied)
    }

    /// Ties the loop's result to the error type, because in blocking code a binding may determine the outcome's type.
    pub(crate) fn error_type_of_loop(&self) -> Option<Code> {
        let never = match self.naming_on() {
            // Points at `on`, which may be the cause of a mismatch.
            Some(on) => ours_at!(on.span()=> __retry::never_by(&#on)),
            None => ours!(__retry::never_of(retry_error_type)),
        };
        let edge = ours!(if false { break 'retry_call #never; });
        (self.ties_errors() && !self.is_async && !self.model.converts_error()).then_some(edge)
    }

    /// Ties an outcome to the error type without borrowing the outcome, which would cause a copy.
    pub(crate) fn error_type_of(&self, outcome: &Code) -> Option<Code> {
        self.ties_errors().then(|| {
            ours! {
                if false { __retry::has_error_type(retry_error_type, &#outcome); }
            }
        })
    }

    /// A reference to `retry_error`, of type `&E`, tied to the error type.
    pub(crate) fn error_of_type(&self) -> Code {
        let of_type = ours!(__retry::of_error_type(retry_error_type, &retry_error));
        if_else(self.ties_errors(), of_type, ours!(&retry_error))
    }

    /// The function that formats an error. The error type must be known before the code after the block. If it is not,
    /// the compiler's error points at the block.
    pub(crate) fn show(&self) -> Code {
        let at_block = ours_at!(self.model.error_span=> __retry::show);
        if_else(self.model.infers_error(), at_block, ours!(__retry::show))
    }
}
