//! The beginning and end of MPI, and the end of datatypes.

use crate::recorder;
use crate::wrapped::function;

function! {
    small MPI_Init(count: Address, arguments: Address) _entered, next => {
        recorder::refuse_other_libraries();
        // SAFETY: these are the program's arguments.
        let error = unsafe { next(count, arguments) };
        if error == 0 {
            recorder::begin();
        }
        error
    }
}

function! {
    small MPI_Init_thread(count: Address, arguments: Address, required: Int, provided: Address) _entered, next => {
        recorder::refuse_other_libraries();
        // SAFETY: these are the program's arguments.
        let error = unsafe { next(count, arguments, required, provided) };
        if error == 0 {
            recorder::begin();
        }
        error
    }
}

function! {
    small MPI_Finalize() entered, next => {
        recorder::end(entered.nanoseconds());
        // SAFETY: it has no arguments.
        unsafe { next() }
    }
}

// Its handle may be reused for a datatype of a different size.
function! {
    small MPI_Type_free(datatype: Address) entered, next => {
        let freed = recorder::handle_at(datatype);
        // SAFETY: these are the program's arguments.
        let error = unsafe { next(datatype) };
        crate::wrapped::note(entered, error, |recorder| freed.into_iter().for_each(|freed| recorder.free_datatype(freed)))
    }
}
