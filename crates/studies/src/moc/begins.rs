//! Which of two partners sends first in equal-dist and unequal-dist.

/// Who of two partners sends first. The paper says that they send and receive in turns, and no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Begins {
    /// The one of the lower number: only half of the nodes send at a time.
    Lower,
    /// Both: a message can come while its receiver's processor sets one up, as section 4.1 says of latency hiding. It needs
    /// acknowledgements that don't wait for the program.
    Both,
}

impl Begins {
    /// Both readings.
    pub const ALL: [Begins; 2] = [Begins::Lower, Begins::Both];

    /// What settings call it.
    pub const fn name(self) -> &'static str {
        match self {
            Begins::Lower => "lower",
            Begins::Both => "both",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Begins;
    use crate::moc::job::{Job, PAIRS, Platform};
    use crate::moc::{Setup, run_with};

    #[test]
    fn both_begin_only_where_acknowledgements_do_not_wait_for_the_program() {
        for load in PAIRS {
            let run = |begins, acknowledged: &str| {
                let settings = vec![("node.acknowledged".to_string(), acknowledged.to_string())];
                let setup = Setup { begins, settings, messages: Some(128), ..Setup::default() };
                run_with(&setup, &Job::new(Platform::Basic, load, 128))
            };
            let [lower, both] = Begins::ALL.map(|begins| run(begins, "on-arrival").unwrap().answer);
            assert_eq!((lower.messages, both.messages), (128, 128));
            assert!(both.makespan() < lower.makespan(), "{}: messages of both partners overlap", load.name());
            assert!(run(Begins::Both, "on-receive").is_err(), "{}: both wait for ever", load.name());
        }
    }
}
