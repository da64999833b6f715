//! The standard's retries of inherited and overridden methods. A method of a base class is a trait's default body here,
//! and an annotated class is an `impl` block with an attribute. An attribute doesn't apply to methods that another
//! block inherits.

use support::prelude::*;

/// The number of attempts of a service.
type Calls = Cell<u32>;

fn fail(calls: &Calls) -> Result<(), &'static str> {
    calls.set(calls.get() + 1);
    Err("can't reach it")
}

/// A base class with an annotation on its method.
trait OnMethod {
    #[retry(backoff = "none", on = |_| true)]
    fn service(&self, calls: &Calls) -> Result<(), &'static str> {
        fail(calls)
    }
}

/// One with other numbers there than on the class.
trait OnBoth {
    #[retry(max = 4, backoff = "none", on = |_| true)]
    fn service(&self, calls: &Calls) -> Result<(), &'static str> {
        fail(calls)
    }
}

/// A trait without an attribute on its method.
trait OnClass {
    fn service(&self, calls: &Calls) -> Result<(), &'static str>;
}

/// A class, and a method that it overrides.
macro_rules! class {
    ($class:ident: $base:ident, $(#[$of_class:meta])? { $(#[$of_method:meta])? }) => {
        struct $class;

        $(#[$of_class])?
        impl $base for $class {
            $(#[$of_method])?
            fn service(&self, calls: &Calls) -> Result<(), &'static str> {
                fail(calls)
            }
        }
    };
}

class!(Class: OnClass, #[retry(backoff = "none", on = |_| true)] {});
class!(Class4: OnClass, #[retry(max = 4, backoff = "none", on = |_| true)] {});
class!(Class5Method4: OnClass, #[retry(max = 5, backoff = "none", on = |_| true)] { #[retry(max = 4)] });
class!(Method4: OnMethod, { #[retry(max = 4, backoff = "none", on = |_| true)] });
class!(MethodMissing: OnMethod, {});
class!(MethodClass4: OnMethod, #[retry(max = 4, backoff = "none", on = |_| true)] {});
class!(Both: OnBoth, #[retry(backoff = "none", on = |_| true)] { #[retry(max = 4)] });
class!(BothClass5: OnBoth, #[retry(max = 5, backoff = "none", on = |_| true)] {});

struct MethodInherited;
impl OnMethod for MethodInherited {}
struct BothInherited;
impl OnBoth for BothInherited {}

#[test]
fn retries() {
    type Row = (&'static str, fn(&Calls) -> Result<(), &'static str>, u32);
    let rows: [Row; 11] = rows! {
        "RetryVisibilityTest.baseRetryServiceUsesDefaults", |calls| Class.service(calls), 3;
        "RetryVisibilityTest.serviceOverrideClassLevelUsesClassLevelAnnotationWithMethodOverride",
            |calls| Class4.service(calls), 4;
        "RetryVisibilityTest.serviceOverrideMethodLevelUsesMethodLevelAnnotation",
            |calls| Class5Method4.service(calls), 4;
        "RetryVisibilityTest.serviceBaseROM", |calls| MethodInherited.service(calls), 3;
        "RetryVisibilityTest.serviceBaseROMRetryMissingOnMethod", |calls| MethodMissing.service(calls), 0;
        "RetryVisibilityTest.serviceBaseROMOverridedClassLevelNoMethodOverride", |calls| MethodClass4.service(calls), 4;
        "RetryVisibilityTest.serviceBaseROMOverridedMethodLevel", |calls| Method4.service(calls), 4;
        "RetryVisibilityTest.serviceBaseROMNoRedefinition", |calls| MethodInherited.service(calls), 3;
        "RetryVisibilityTest.serviceBaseROCM", |calls| Both.service(calls), 4;
        "RetryVisibilityTest.serviceBaseROCMNoRedefinition", |calls| BothInherited.service(calls), 4;
        "RetryVisibilityTest.serviceBaseROCMOverridedClassLevelMethodOverride", |calls| BothClass5.service(calls), 5;
    };
    for (name, service, retries) in rows {
        let calls = Cell::new(0);
        assert!(service(&calls).is_err(), "{name}");
        assert_eq!(calls.get(), retries + 1, "{name}");
    }
}
