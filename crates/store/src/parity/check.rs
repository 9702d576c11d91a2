//! Bounds on the numbers in messages of other members of a group. A process that knows the secret may still run another
//! version, or may have stolen the secret.

use linear_hash::{EncodingError, at_most};

use super::code::COLUMNS;
use super::column::{BLOCK, Change, ColumnLayout, Extent, FileName, Piece};
use super::message::{LeadStep, Message, SeatRecord, Successor, Wish};
use super::views::{Number, View};

/// The most parity members of a group.
pub const MOST_PARITIES: u64 = 2;
/// The most often that a member is rebuilt.
const MOST_LIVES: u64 = 1 << 30;
/// The most files of a member.
const MOST_FILES: u64 = 1 << 20;
/// The most stripes of a group: a tebibyte of each member.
const MOST_STRIPES: u64 = 1 << 24;
/// The length of a member's longest file. [B]
const LONGEST_FILE: u64 = MOST_STRIPES * BLOCK as u64;
/// The bound on everything counted one by one, such as views and steps.
const MOST_COUNTED: u64 = 1 << 62;

impl Message {
    /// Checks that every number in the message is within its bounds.
    ///
    /// # Errors
    /// [`EncodingError::Beyond`]
    pub fn check(&self) -> Result<(), EncodingError> {
        match self {
            Message::Hello { life, wish, .. } => {
                check_life(*life)?;
                if let Wish::GoOn(Some(group)) = wish { check_number(*group) } else { Ok(()) }
            }
            Message::Stands { files, view, .. } => {
                check_files(files)?;
                view.iter().try_for_each(check_view)
            }
            Message::Lost(life) | Message::Readmitted { life, .. } => check_life(*life),
            Message::Change { change, .. } => check_change(change),
            Message::Read { piece, .. } => check_piece(piece),
            Message::Block { bytes, .. } | Message::Make { bytes, .. } => check_block(bytes),
            Message::Part { piece, bytes, .. } => {
                check_piece(piece)?;
                check_block(bytes)
            }
            Message::Become(successor) => check_successor(successor),
            Message::Leads(view) | Message::Record(view) => check_view(view),
            Message::Follows { number, next, void } => {
                check_number(*number)?;
                check_number(*void)?;
                next.iter().try_for_each(|next| check_place(*next))
            }
            Message::Step { number, place, step } => {
                check_number(*number)?;
                check_place(*place)?;
                check_step(step)
            }
            Message::ReadParity { stripe, .. } => check_stripe(*stripe),
            Message::Ask { settled, number } => check_view(settled).and_then(|()| check_number(*number)),
            Message::Granted { number, view, life, .. } => {
                check_number(*number)?;
                check_life(*life)?;
                check_view(view)
            }
            Message::Refused { number, promised } => check_number(*number).and_then(|()| check_number(*promised)),
            Message::Recorded(number) => check_number(*number),
            Message::Full(_) | Message::Room | Message::Left(_) | Message::Anew | Message::Behind => Ok(()),
            Message::Beat { .. } | Message::Acknowledged { .. } | Message::Stored(_) | Message::Busy(_) => Ok(()),
            Message::Available => Ok(()),
        }
    }
}

fn check_life(life: u32) -> Result<(), EncodingError> {
    at_most("times that a member was rebuilt", life, MOST_LIVES)
}

fn check_number(number: Number) -> Result<(), EncodingError> {
    at_most("views of a group", number.0, MOST_COUNTED)
}

fn check_view(view: &View) -> Result<(), EncodingError> {
    check_number(view.group)?;
    check_number(view.number)
}

fn check_place(place: u64) -> Result<(), EncodingError> {
    at_most("steps of a parity member", place, MOST_COUNTED)
}

fn check_column(column: usize) -> Result<(), EncodingError> {
    at_most("a column of a group", column as u64, COLUMNS as u64 - 1)
}

fn check_stripe(stripe: u32) -> Result<(), EncodingError> {
    at_most("a stripe", stripe, MOST_STRIPES - 1)
}

fn check_files(files: &[(FileName, Extent)]) -> Result<(), EncodingError> {
    at_most("files of a member", files.len() as u64, MOST_FILES)?;
    files.iter().try_for_each(|(_, extent)| at_most("bytes of a file", extent.length, LONGEST_FILE))
}

fn check_piece(piece: &Piece) -> Result<(), EncodingError> {
    at_most("bytes of a file", piece.at, LONGEST_FILE)?;
    at_most("bytes of a block", piece.length as u64, BLOCK as u64)
}

fn check_block(bytes: &[u8]) -> Result<(), EncodingError> {
    at_most("bytes of a block", bytes.len() as u64, BLOCK as u64)
}

fn check_change(change: &Change) -> Result<(), EncodingError> {
    at_most("bytes of a file", change.at.saturating_add(change.bytes.len() as u64), LONGEST_FILE)
}

fn check_successor(successor: &Successor) -> Result<(), EncodingError> {
    check_life(successor.life)?;
    check_files(&successor.files)?;
    successor.view.iter().try_for_each(check_view)
}

fn check_step(step: &LeadStep) -> Result<(), EncodingError> {
    match step {
        LeadStep::Anew { parity, seats, layouts, .. } => {
            at_most("a parity of a group", *parity as u64, MOST_PARITIES - 1)?;
            let lives = seats.iter().flatten().flat_map(|SeatRecord { life, confirmed, .. }| [*life, *confirmed]);
            lives.into_iter().try_for_each(check_life)?;
            layouts.iter().try_for_each(check_layout)
        }
        LeadStep::Seat { column, life, confirmed, .. } => {
            check_column(*column)?;
            check_life((*life).max(*confirmed))
        }
        LeadStep::Leaves { column } | LeadStep::Left { column } | LeadStep::Beat { column, .. } => {
            check_column(*column)
        }
        LeadStep::Change { column, change } => check_column(*column).and_then(|()| check_change(change)),
        LeadStep::Begins { stripe, .. } => check_stripe(*stripe),
        LeadStep::Made => Ok(()),
    }
}

/// Checks that each file has as many stripes as its length needs, and that no stripe holds two blocks.
fn check_layout(layout: &ColumnLayout) -> Result<(), EncodingError> {
    check_files(&layout.files().collect::<Vec<_>>())?;
    layout.stripes().try_for_each(check_stripe)?;
    at_most("blocks of a column in stripes that hold others", layout.misplaced() as u64, 0_u64)
}
