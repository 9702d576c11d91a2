//! Parsing of requests.

use maquette_store::large::{LARGE, MaybeShared};
use maquette_store::resp::{Limits, OwnedArguments, ProtocolError, Requests};
use proptest::prelude::*;

type Request = Vec<Vec<u8>>;

/// All requests in some bytes that arrive in pieces, and the error after them.
fn read(pieces: &[&[u8]], limits: Limits) -> (Vec<Request>, Option<ProtocolError>) {
    let (mut requests, mut read) = (Requests::default(), Vec::new());
    for piece in pieces {
        requests.feed(piece);
        loop {
            match requests.next(limits) {
                Ok(Some(arguments)) => {
                    let request: Request = arguments.from(0).map(<[u8]>::to_vec).collect();
                    let kept = OwnedArguments::from(arguments);
                    let is_same = |(index, argument): (usize, &Vec<u8>)| {
                        *arguments.value(index) == **argument && kept.borrowed().get(index) == argument
                    };
                    assert!(request.iter().enumerate().all(is_same) && kept.borrowed().len() == request.len());
                    read.push(request);
                }
                Ok(None) => break,
                Err(error) => return (read, Some(error)),
            }
        }
    }
    (read, None)
}

fn written(request: &Request) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", request.len()).into_bytes();
    for argument in request {
        bytes.extend(format!("${}\r\n", argument.len()).bytes());
        bytes.extend(argument);
        bytes.extend(b"\r\n");
    }
    bytes
}

/// Bytes, cut at these places.
fn cut<'a>(bytes: &'a [u8], places: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = places.iter().map(|place| place.index(bytes.len() + 1)).collect();
    places.sort_unstable();
    places.insert(0, 0);
    places.push(bytes.len());
    places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

fn request() -> impl Strategy<Value = Request> {
    let argument = prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..40),
        1 => prop::collection::vec(any::<u8>(), 40_000..50_000),
    ];
    prop::collection::vec(argument, 1..5)
}

/// A request in which some arguments are large, or nearly so.
fn large_request() -> impl Strategy<Value = Request> {
    let length = prop_oneof![3 => 0_usize..40, 1 => LARGE - 2..LARGE + 2, 1 => LARGE..3 * LARGE];
    let argument = (length, any::<u8>()).prop_map(|(length, first)| {
        (0..length).map(|place| first.wrapping_add((place % 251) as u8)).collect::<Vec<u8>>()
    });
    prop::collection::vec(argument, 1..5)
}

/// Bytes as an attacker might send them.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "*",
            "$",
            "\r\n",
            "*1\r\n",
            "$3\r\n",
            "GET",
            "-1",
            "\"",
            "'",
            "\\x4",
            " ",
            "99999999999"
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..8),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn requests_do_not_depend_on_how_they_are_cut(
        requests in prop::collection::vec(request(), 0..6),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let bytes: Vec<u8> = requests.iter().flat_map(written).collect();
        prop_assert_eq!(read(&cut(&bytes, &places), Limits::default()), (requests, None));
    }

    #[test]
    fn requests_with_large_arguments_do_not_depend_on_how_they_are_cut(
        requests in prop::collection::vec(large_request(), 1..4),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        near in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..40), 0..8),
    ) {
        let bytes: Vec<u8> = requests.iter().flat_map(written).collect();
        // Cuts near the ends of arguments, too, and not only within large ones.
        let ends: Vec<usize> =
            bytes.windows(3).enumerate().filter(|(_, it)| *it == b"\r\n$").map(|(place, _)| place).collect();
        let mut places: Vec<usize> = places.iter().map(|place| place.index(bytes.len() + 1)).collect();
        places.extend(near.iter().map(|(end, after)| (ends[end.index(ends.len())] + after).min(bytes.len())));
        places.sort_unstable();
        let pieces: Vec<&[u8]> = [0].iter().chain(&places).zip(places.iter().chain([&bytes.len()]))
            .map(|(begin, end)| &bytes[*begin..*end]).collect();
        let (found, error) = read(&pieces, Limits::default());
        prop_assert!(found == requests && error.is_none());
        let longest = requests.iter().map(|request| written(request).len()).max().unwrap_or(0);
        let shorter = Limits { request: longest / 2, ..Limits::default() };
        prop_assert_eq!(read(&pieces, shorter).1, Some(ProtocolError::LongRequest(longest / 2)));
    }

    #[test]
    fn arbitrary_bytes_mean_the_same_however_they_are_cut(
        bytes in hostile(),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let limits = Limits { arguments: 20, argument: 50, request: 300 };
        let whole = read(&[&bytes], limits);
        prop_assert_eq!(&read(&cut(&bytes, &places), limits), &whole);
        let one_by_one: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(&read(&one_by_one, limits), &whole);
        let is_within = |request: &Request| request.len() <= 300 && request.iter().all(|argument| argument.len() <= 300);
        prop_assert!(whole.0.iter().all(is_within));
    }
}

#[test]
fn lines_are_requests_too() {
    let bytes = b"PING\r\n\r\nSET  key \"a\\x41\\n\\\"\" \nGET 'it\\'s'\r\n*0\r\n*-1\r\n*1\r\n$4\r\nQUIT\r\n";
    let (requests, error) = read(&[bytes], Limits::default());
    let due: Vec<Vec<&[u8]>> =
        vec![vec![b"PING"], vec![b"SET", b"key", b"aA\n\""], vec![b"GET", b"it's"], vec![b"QUIT"]];
    assert_eq!((requests, error), (due.iter().map(|it| it.iter().map(|it| it.to_vec()).collect()).collect(), None));
}

#[test]
fn malformed_requests_are_reported() {
    let wrong = |bytes: &[u8]| read(&[bytes], Limits::default()).1.map(|error| error.to_string());
    let cases: [(&[u8], &str); 8] = [
        (b"*x\r\n", "Protocol error: invalid multibulk length"),
        (b"*1048577\r\n", "Protocol error: invalid multibulk length"),
        (b"*1\r\n:1\r\n", "Protocol error: expected '$', got ':'"),
        (b"*1\r\n$-1\r\n", "Protocol error: invalid bulk length"),
        (b"*1\r\n$536870913\r\n", "Protocol error: invalid bulk length"),
        (b"GET \"a\r\n", "Protocol error: unbalanced quotes in request"),
        (b"GET \"a\"b\r\n", "Protocol error: unbalanced quotes in request"),
        (&[b'a'; Limits::LINE + 1], "Protocol error: too big inline request"),
    ];
    for (bytes, due) in cases {
        assert_eq!(wrong(bytes).as_deref(), Some(due));
    }
}

#[test]
fn strangers_may_send_little() {
    let wrong = |bytes: &[u8]| read(&[bytes], Limits::STRANGER).1;
    assert_eq!(wrong(b"*11\r\n"), Some(ProtocolError::StrangersArguments));
    assert_eq!(wrong(b"*1\r\n$16385\r\n"), Some(ProtocolError::StrangersLength));
}

/// An announced length alone does not allocate memory.
#[test]
fn memory_is_allocated_only_for_bytes_that_have_arrived() {
    let mut requests = Requests::default();
    requests.feed(b"*1\r\n$536870912\r\n");
    assert_eq!(requests.next(Limits::default()).unwrap().map(|it| it.len()), None);
    assert!(requests.room().len() < 64 << 10);
}

#[test]
fn a_large_argument_is_received_into_the_memory_in_which_it_is_stored() {
    let mut requests = Requests::default();
    let bytes = written(&vec![b"SET".to_vec(), b"key".to_vec(), vec![b'v'; 3 * LARGE]]);
    let (first, rest) = bytes.split_at(1_000);
    requests.feed(first);
    assert!(requests.next(Limits::default()).unwrap().is_none());
    requests.feed(rest);
    requests.feed(b"PING\r\n");
    let arguments = requests.next(Limits::default()).unwrap().unwrap();
    let (MaybeShared::Shared(one), MaybeShared::Shared(other)) = (arguments.value(2), arguments.value(2)) else {
        panic!("it would be copied");
    };
    assert_eq!((one.as_ptr(), one.len()), (other.as_ptr(), 3 * LARGE));
    let kept = OwnedArguments::from(arguments);
    assert_eq!(kept.borrowed().get(2).as_ptr(), one.as_ptr());
    assert_eq!(requests.next(Limits::default()).unwrap().map(|it| it.get(0).to_vec()), Some(b"PING".to_vec()));
}
