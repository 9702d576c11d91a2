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
