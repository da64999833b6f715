//! A process and its child draw different delays and ids. Without the test harness, because a forked child has only the
//! thread that forked.

fn main() {
    #[cfg(unix)]
    unix::parent_and_child_draw_apart();
}

#[cfg(unix)]
mod unix {
    use std::io::{Read, Write, pipe};
    use std::process::exit;

    use fork::{Fork, fork, waitpid};
    use retry_runtime::{CallId, retry, testing};

    /// The delays of a call, and its id, and one for a loop by hand.
    fn drawn() -> String {
        #[retry(max = 3, attempt = attempt, on = |_| true)]
        fn call() -> Result<(), String> {
            Err(attempt.call_id().to_string())
        }

        let (recording, _skipped) = (testing::record(), testing::skip_sleeps());
        let id = call().unwrap_err();
        format!("{id};{:?};{:?}", recording.delays(), CallId::random())
    }

    pub(super) fn parent_and_child_draw_apart() {
        // Everything that is initialized once is initialized now.
        let before = drawn();
        let (mut reader, mut writer) = pipe().unwrap();
        let Ok(Fork::Parent(child)) = fork().inspect(|fork| {
            if let Fork::Child = fork {
                writer.write_all(drawn().as_bytes()).unwrap();
                exit(0);
            }
        }) else {
            panic!("can't fork");
        };
        drop(writer);
        let parents = drawn();
        let mut childs = String::new();
        reader.read_to_string(&mut childs).unwrap();
        waitpid(child).unwrap();
        for drawn in [before, parents] {
            let mut pairs = drawn.split(';').zip(childs.split(';'));
            assert!(
                pairs.all(|(parents, childs)| parents != childs),
                "{drawn}: {childs}"
            );
        }
    }
}
