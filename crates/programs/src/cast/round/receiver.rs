//! A receiver's side.

use endpoint::Endpoint;
use quantities::Rank;

use super::{Store, ToAll, ToSender, WAIT_FOR_DISK};
use crate::cast::manifest::Manifest;

const SENDER: Rank = Rank(0);

/// How a round ended for a receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All files are in place.
    Done,
    /// Something is missing, and follows in another round.
    Lacks(u32),
    /// The sender has ended before everything had arrived, for this reason.
    Left(String),
    /// The files are not wanted, or cannot be kept.
    Refused(String),
}

/// Receives what the sender, rank 0, broadcasts, into `store`. `watch` is told the length of each new piece.
///
/// # Errors
/// Errors of the network: [`endpoint::Error::Lost`] when the sender is gone, or continues without this rank.
pub async fn receive<E: Endpoint, S: Store>(
    endpoint: &E,
    store: &mut S,
    mut watch: impl FnMut(usize),
) -> endpoint::Result<Ended> {
    let opened = match receive_to_all(endpoint).await? {
        ToAll::Manifest(bytes) => {
            Manifest::decode(&bytes).map_err(|error| error.to_string()).and_then(|it| store.open(&it))
        }
        _ => Err("the sender says what can't be".to_string()),
    };
    let has = match opened {
        Ok(has) => has,
        Err(reason) => return refuse(endpoint, reason).await,
    };
    endpoint.send(SENDER, ToSender::Has(has).encode()).await?;
    let ended = loop {
        match receive_to_all(endpoint).await? {
            ToAll::Piece { index, digest, content } => {
                let length = content.len();
                match room(endpoint, store).await {
                    Ok(()) if store.put(index, digest, content) => watch(length),
                    Ok(()) => {}
                    Err(reason) => return refuse(endpoint, reason).await,
                }
            }
            ToAll::End(whole) => break end(endpoint, store, whole).await,
            ToAll::Leaves(reason) => {
                endpoint.send(SENDER, ToSender::Lacks(0).encode()).await?;
                break Ok(Ended::Left(reason));
            }
            ToAll::Manifest(_) | ToAll::Bye => {
                return refuse(endpoint, "the sender says what can't be".to_string()).await;
            }
        }
    };
    match ended {
        Ok(ended) => {
            match &ended {
                Ended::Done => endpoint.send(SENDER, ToSender::Done.encode()).await?,
                Ended::Lacks(pieces) => endpoint.send(SENDER, ToSender::Lacks(*pieces).encode()).await?,
                Ended::Left(_) | Ended::Refused(_) => {}
            }
            goodbye(endpoint).await;
            Ok(ended)
        }
        Err(reason) => refuse(endpoint, reason).await,
    }
}

/// The sender's next message. Invalid ones are skipped.
async fn receive_to_all<E: Endpoint>(endpoint: &E) -> endpoint::Result<ToAll> {
    loop {
        if let Some(message) = ToAll::decode(&endpoint.receive_multicast(SENDER).await?) {
            return Ok(message);
        }
    }
}

/// Waits until there is room for another piece.
async fn room<E: Endpoint, S: Store>(endpoint: &E, store: &mut S) -> Result<(), String> {
    while !store.has_room()? {
        endpoint.compute(WAIT_FOR_DISK).await;
    }
    Ok(())
}

/// All pieces of this round have arrived.
async fn end<E: Endpoint, S: Store>(
    endpoint: &E,
    store: &mut S,
    whole: Option<super::Digest>,
) -> Result<Ended, String> {
    let missing = loop {
        match store.missing()? {
            Some(missing) => break missing,
            None => endpoint.compute(WAIT_FOR_DISK).await,
        }
    };
    let Some(whole) = whole.filter(|_| missing == 0) else { return Ok(Ended::Lacks(missing)) };
    while !store.finish(whole)? {
        endpoint.compute(WAIT_FOR_DISK).await;
    }
    Ok(Ended::Done)
}

async fn refuse<E: Endpoint>(endpoint: &E, reason: String) -> endpoint::Result<Ended> {
    endpoint.send(SENDER, ToSender::Refuses(reason.clone()).encode()).await?;
    goodbye(endpoint).await;
    Ok(Ended::Refused(reason))
}

/// Waits until the sender has said goodbye, and so has heard what was sent to it. If the sender is gone earlier, nobody
/// needs this.
async fn goodbye<E: Endpoint>(endpoint: &E) {
    while let Ok(message) = receive_to_all(endpoint).await {
        if message == ToAll::Bye {
            return;
        }
    }
}
