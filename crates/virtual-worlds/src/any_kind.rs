//! Programs of any kind as one, for worlds whose endpoints can do all that one can ask for.

use endpoint::{AnySource, AnySourceProgram, Multicast, MulticastProgram, Program, Result};

/// A program of any kind, for an endpoint that can do all that one can ask for.
pub(crate) trait AnyKind {
    type Output;
    async fn run<E: AnySource + Multicast>(&self, here: &E) -> Result<Self::Output>;
}

/// One that receives from named ranks.
pub(crate) struct Named<'a, P>(pub &'a P);
/// One that receives from anyone.
pub(crate) struct FromAnyone<'a, P>(pub &'a P);
/// One that broadcasts in hardware.
pub(crate) struct Broadcasting<'a, P>(pub &'a P);

impl<P: Program> AnyKind for Named<'_, P> {
    type Output = P::Output;
    async fn run<E: AnySource + Multicast>(&self, here: &E) -> Result<P::Output> {
        self.0.run(here).await
    }
}

impl<P: AnySourceProgram> AnyKind for FromAnyone<'_, P> {
    type Output = P::Output;
    async fn run<E: AnySource + Multicast>(&self, here: &E) -> Result<P::Output> {
        self.0.run(here).await
    }
}

impl<P: MulticastProgram> AnyKind for Broadcasting<'_, P> {
    type Output = P::Output;
    async fn run<E: AnySource + Multicast>(&self, here: &E) -> Result<P::Output> {
        self.0.run(here).await
    }
}

/// The three kinds of programs on a world that has `run_any_kind`: with what the machine did, and as every world runs them.
macro_rules! runs_every_kind {
    ($world:ident) => {
        impl $world<'_> {
            /// Runs `program` on `ranks` ranks.
            ///
            /// # Errors
            /// [`Error::Unfit`](endpoint::Error::Unfit) when there are more ranks than nodes or the machine is of another kind, and
            /// [`Error::Deadlock`](endpoint::Error::Deadlock) when not every rank can end.
            pub fn run_with_answer<P: endpoint::Program>(
                &self,
                ranks: u32,
                program: &P,
            ) -> $crate::answer::Run<P::Output> {
                self.run_any_kind(ranks, &$crate::any_kind::Named(program))
            }

            /// Runs a program that receives from anyone on `ranks` ranks.
            ///
            /// # Errors
            /// As `run_with_answer`.
            pub fn run_any_with_answer<P: endpoint::AnySourceProgram>(
                &self,
                ranks: u32,
                program: &P,
            ) -> $crate::answer::Run<P::Output> {
                self.run_any_kind(ranks, &$crate::any_kind::FromAnyone(program))
            }

            /// Runs a program that broadcasts in hardware on `ranks` ranks.
            ///
            /// # Errors
            /// As `run_with_answer`.
            pub fn run_multicast_with_answer<P: endpoint::MulticastProgram>(
                &self,
                ranks: u32,
                program: &P,
            ) -> $crate::answer::Run<P::Output> {
                self.run_any_kind(ranks, &$crate::any_kind::Broadcasting(program))
            }
        }

        impl endpoint::World for $world<'_> {
            fn run<P: endpoint::Program>(&self, ranks: u32, program: &P) -> Result<Vec<Result<P::Output>>> {
                Ok(self.run_with_answer(ranks, program)?.0)
            }
        }

        impl endpoint::AnySourceWorld for $world<'_> {
            fn run_any<P: endpoint::AnySourceProgram>(
                &self,
                ranks: u32,
                program: &P,
            ) -> Result<Vec<Result<P::Output>>> {
                Ok(self.run_any_with_answer(ranks, program)?.0)
            }
        }

        impl endpoint::MulticastWorld for $world<'_> {
            fn run_multicast<P: endpoint::MulticastProgram>(
                &self,
                ranks: u32,
                program: &P,
            ) -> Result<Vec<Result<P::Output>>> {
                Ok(self.run_multicast_with_answer(ranks, program)?.0)
            }
        }
    };
}
pub(crate) use runs_every_kind;
