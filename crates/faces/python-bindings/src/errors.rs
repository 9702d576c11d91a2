//! Errors as Python's exceptions.

use endpoint::Error as ProgramError;
use experiment::Error;
use pyo3::exceptions::{PyException, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::{PyTypeInfo, create_exception};

create_exception!(maquette, MaquetteError, PyException, "Something that went wrong in a run.");
create_exception!(maquette, Deadlock, MaquetteError, "Every rank that is left waits for another: the text names them.");
create_exception!(maquette, Deadline, MaquetteError, "No message arrived by the deadline of a receive.");
create_exception!(maquette, NoSuchRank, MaquetteError, "A rank that the program does not have, or the rank itself.");
create_exception!(maquette, Lost, MaquetteError, "The other rank has ended or is gone.");
create_exception!(
    maquette,
    Mismatch,
    MaquetteError,
    "What two ranks do does not fit together: a message is longer than its receive has room for, or they call different collectives."
);
create_exception!(maquette, Unfit, MaquetteError, "The machine can't do what the program asks of it.");
create_exception!(maquette, StoreError, MaquetteError, "A client of a store received an error, or no reply.");
create_exception!(maquette, CommandRefused, StoreError, "The store refuses the command: the text says why.");
create_exception!(
    maquette,
    NoAnswer,
    StoreError,
    "No member answered, and nothing that changes anything was carried out."
);
create_exception!(
    maquette,
    OutcomeUnknown,
    StoreError,
    "The connection broke before the reply: whether the command was carried out is unknown."
);

/// The exception for a failed run.
pub fn of_program(error: &ProgramError) -> PyErr {
    let text = error.to_string();
    match error {
        ProgramError::Deadlock(_) => Deadlock::new_err(text),
        ProgramError::Deadline(_) => Deadline::new_err(text),
        ProgramError::NoSuchRank { .. } | ProgramError::ToItself(_) => NoSuchRank::new_err(text),
        ProgramError::Lost(_) => Lost::new_err(text),
        ProgramError::Mismatch(_) => Mismatch::new_err(text),
        ProgramError::Unfit(_) => Unfit::new_err(text),
        ProgramError::Stopped | ProgramError::Network(_) | ProgramError::Undeclared(_) => MaquetteError::new_err(text),
    }
}

/// The exception for an experiment that cannot be run, or never ended; with advice.
pub fn of_experiment(error: &Error) -> PyErr {
    let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
    let text = match error {
        // What is called nodes on the command line is called ranks in Python.
        Error::Parameter { name: "nodes", found, allowed } => format!("ranks: found {found}; allowed is {allowed}"),
        error => format!("{error}{hint}"),
    };
    match error {
        Error::Program(error) => of_program(error),
        Error::UnknownParameter { .. } => PyTypeError::new_err(text),
        Error::Unreadable { .. } | Error::Unwritable(_) | Error::Machine(machines::Error::Unreadable { .. }) => {
            PyOSError::new_err(text)
        }
        _ => PyValueError::new_err(text),
    }
}

/// The error that `name` was `found` to have a type other than what is `allowed`.
pub fn wrong_type(name: &str, found: &Bound<'_, PyAny>, allowed: &str) -> PyErr {
    wrong::<PyTypeError>(name, found, allowed)
}

/// The error that `name` was `found` to have a value other than what is `allowed`.
pub fn wrong_value(name: &str, found: &Bound<'_, PyAny>, allowed: &str) -> PyErr {
    wrong::<PyValueError>(name, found, allowed)
}

fn wrong<E: PyTypeInfo>(name: &str, found: &Bound<'_, PyAny>, allowed: &str) -> PyErr {
    let shown = found.repr().map_or_else(|_| "something that can't be shown".to_owned(), |text| text.to_string());
    PyErr::new::<E, _>(format!("{name}: found {}; allowed is {allowed}", quantities::shown(&shown)))
}
