//! What is written can be read again, takes little room, and is not trusted blindly.

use maquette_trace_format::{
    Call, Calls, Clock, Collective, CollectiveKind, Header, Message, Transfer, encode, encode_header,
};
use proptest::prelude::*;

fn message() -> impl Strategy<Value = Message> {
    (any::<Option<u32>>(), any::<Option<u32>>(), any::<u32>(), any::<u64>())
        .prop_map(|(partner, tag, communicator, bytes)| Message { partner, tag, communicator, bytes })
}

fn collective() -> impl Strategy<Value = Box<Collective>> {
    let kinds = prop::sample::select(CollectiveKind::ALL);
    (kinds, any::<u32>(), any::<u32>(), any::<u64>(), prop::collection::vec(0..3_u64, 0..9)).prop_map(
        |(kind, communicator, root, bytes, counts)| {
            Box::new(Collective { kind, communicator, root, bytes, counts: counts.into() })
        },
    )
}

fn call() -> impl Strategy<Value = Call> {
    let numbers = || prop::collection::vec(any::<u32>(), 0..5).prop_map(Vec::into_boxed_slice);
    prop_oneof![
        message().prop_map(Call::Send),
        message().prop_map(Call::Receive),
        (any::<u32>(), message()).prop_map(|(request, message)| Call::BeginSend(request, message)),
        (any::<u32>(), message()).prop_map(|(request, message)| Call::BeginReceive(request, message)),
        (message(), message()).prop_map(|(send, receive)| Call::SendReceive(Box::new(Transfer { send, receive }))),
        any::<[u32; 3]>().prop_map(|[request, source, tag]| Call::Matched(request, source, tag)),
        numbers().prop_map(Call::Wait),
        any::<u32>().prop_map(Call::Free),
        any::<u32>().prop_map(Call::Cancelled),
        message().prop_map(Call::Probe),
        collective().prop_map(Call::Collective),
        (any::<u32>(), collective()).prop_map(|(request, collective)| Call::BeginCollective(request, collective)),
        (any::<u32>(), numbers()).prop_map(|(number, members)| Call::Communicator(number, members)),
        "MPI_[A-Za-z_]{0,12}".prop_map(|name| Call::Unsupported(name.into())),
        any::<u64>().prop_map(Call::Finalize),
    ]
}

const HEADER: Header = Header { rank: 3, size: 300, clock: Clock::Processor };

fn written(calls: &[(u64, Call)]) -> Vec<u8> {
    let mut file = Vec::new();
    encode_header(HEADER, &mut file);
    calls.iter().for_each(|(computed, call)| encode(*computed, call, &mut file));
    file
}

proptest! {
    #[test]
    fn what_is_written_is_read(calls in prop::collection::vec((any::<u64>(), call()), 0..20)) {
        let file = written(&calls);
        let mut read = Calls::new(&file[..]).unwrap();
        prop_assert_eq!(read.header(), HEADER);
        for call in calls {
            prop_assert_eq!(read.next_call().unwrap(), Some(call));
        }
        prop_assert_eq!(read.next_call().unwrap(), None);
    }

    /// A file that is cut off anywhere contains whole calls, or is rejected.
    #[test]
    fn reading_any_bytes_ends(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let file = [written(&[]), bytes].concat();
        let mut read = Calls::new(&file[..]).unwrap();
        while let Ok(Some(_)) = read.next_call() {}
    }
}

#[test]
fn the_usual_calls_take_few_bytes() {
    let message = Message { partner: Some(300), tag: Some(1000), communicator: 0, bytes: 65_536 };
    let usual = [
        (120_000, Call::BeginSend(200, message)),
        (120_000, Call::BeginReceive(201, message)),
        (2_000, Call::Wait([200, 201].into())),
        (900_000_000, Call::Send(message)),
    ];
    let bytes = written(&usual).len() - written(&[]).len();
    assert!(bytes <= 15 * usual.len(), "{bytes} B for {} calls", usual.len());
}

#[test]
fn damage_is_reported() {
    let complaint = |file: &[u8]| Calls::new(file).and_then(|mut calls| calls.next_call()).unwrap_err().to_string();
    let header = written(&[]);
    assert_eq!(
        complaint(b"num_ranks 2"),
        "byte 1: found no trace of `maquette trace`; allowed is one, which begins with `maqtrace`"
    );
    assert_eq!(complaint(b"maqtrace\x02"), "byte 9: found version 2 of the format; allowed is 1");
    assert_eq!(complaint(b"maqtrac"), "byte 7: the file ends within a call; allowed are whole ones");
    assert_eq!(
        complaint(&[&header[..], &[99, 0]].concat()),
        "byte 15: found a call of the number 99; allowed is 1 to 15"
    );
    assert_eq!(
        complaint(&[&header[..], &[7, 0, 3, 9, 0]].concat()),
        "byte 17: found a run of 9 in a list of 3; allowed is what the list has room for"
    );
    assert_eq!(
        complaint(&[&header[..], &[10, 0, 77]].concat()),
        "byte 16: found a collective of the number 77; allowed is 0 to 15"
    );
}
