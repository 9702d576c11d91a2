//! The effects and answers of operations, and that a repeated request is not applied twice.

use endpoint::Message;
use maquette_linear_hash::{Extent, Growth, Key, Operation, OperationOutcome, Request, ToClient};

use super::file::{File, uniform};

fn growth() -> Growth {
    Growth { capacity: 4, sensitivity: 0.8, shrink: Some(0.4), apart: false, most_servers: 40, chunk: 2 }
}

fn body(value: u8) -> Message {
    Message::from(vec![value; 5])
}

fn key(number: u64) -> Key {
    number.to_le_bytes().into()
}

#[test]
fn a_key_is_there_once_and_insert_leaves_what_is_there_while_put_replaces_it() {
    let mut file = File::new(growth(), uniform);
    let found = |value| OperationOutcome::Found(Some(body(value)));
    let steps = [
        (Operation::Get as fn(Key) -> Operation, OperationOutcome::Found(None)),
        (Operation::Contains, OperationOutcome::Is(false)),
        (Operation::Remove, OperationOutcome::Found(None)),
        (|key| Operation::Insert(key, body(1)), OperationOutcome::Is(true)),
        (|key| Operation::Insert(key, body(2)), OperationOutcome::Is(false)),
        (Operation::Get, found(1)),
        (|key| Operation::Put(key, body(3)), found(1)),
        (Operation::Contains, OperationOutcome::Is(true)),
        (Operation::Remove, found(3)),
        (Operation::Remove, OperationOutcome::Found(None)),
        (|key| Operation::Put(key, body(4)), OperationOutcome::Found(None)),
        (Operation::Get, found(4)),
    ];
    for (number, (operation, outcome)) in steps.into_iter().enumerate() {
        assert_eq!(file.request(7, operation), outcome, "step {number}");
    }
    assert_eq!(file.entries(), 1);
}

/// Gives a request to the server that has its key.
fn give(file: &mut File, request: &Request) -> Option<ToClient> {
    let messages = file.send(Extent::of(file.size()).index(request.c), request.clone());
    file.settle();
    messages
}

fn reply(number: u64, outcome: OperationOutcome) -> Option<ToClient> {
    Some(ToClient::Reply { number, outcome, forwards: 0 })
}

#[test]
fn a_request_that_comes_again_is_answered_as_before_and_changes_nothing() {
    let mut file = File::new(growth(), uniform);
    let put = |client, number, value| {
        let operation = Operation::Put(key(7), body(value));
        Request { client, number, c: uniform(7), operation, forwards: 0 }
    };
    let remove = |client, number| Request { operation: Operation::Remove(key(7)), ..put(client, number, 0) };
    assert_eq!(give(&mut file, &put(1, 0, 1)), reply(0, OperationOutcome::Found(None)));
    assert_eq!(give(&mut file, &put(1, 0, 1)), reply(0, OperationOutcome::Found(None)));
    assert_eq!(give(&mut file, &put(2, 0, 2)), reply(0, OperationOutcome::Found(Some(body(1)))));
    // Late, after another client's operation.
    assert_eq!(give(&mut file, &put(1, 0, 1)), reply(0, OperationOutcome::Found(None)));
    assert_eq!(file.request(7, Operation::Get), OperationOutcome::Found(Some(body(2))));
    assert_eq!(give(&mut file, &remove(1, 1)), reply(1, OperationOutcome::Found(Some(body(2)))));
    assert_eq!(give(&mut file, &remove(1, 1)), reply(1, OperationOutcome::Found(Some(body(2)))));
    // So late that its client has moved on.
    assert_eq!(give(&mut file, &put(1, 0, 1)), None);
    assert_eq!(file.request(7, Operation::Contains), OperationOutcome::Is(false));
}

/// Even if the key has moved to another server meanwhile, and back.
#[test]
fn servers_that_take_over_keys_know_of_requests_that_were_answered() {
    let mut file = File::new(growth(), uniform);
    let clients = 1..60_u64;
    let insert = |client: u64| {
        let operation = Operation::Insert(key(client), body(client as u8));
        Request { client, number: 5, c: uniform(client), operation, forwards: 0 }
    };
    let older = |client: u64| Request { number: 4, operation: Operation::Remove(key(client)), ..insert(client) };
    let again = |file: &mut File| {
        let entries = file.entries();
        for client in clients.clone() {
            assert_eq!(give(file, &older(client)), None);
            assert_eq!(give(file, &insert(client)), reply(5, OperationOutcome::Is(true)));
        }
        assert_eq!(file.entries(), entries);
    };
    for client in clients.clone() {
        assert_eq!(give(&mut file, &insert(client)), reply(5, OperationOutcome::Is(true)));
        if client.is_multiple_of(7) {
            (1..=client).for_each(|client| drop(give(&mut file, &insert(client))));
            assert_eq!(file.entries(), client);
        }
    }
    let servers = file.size();
    assert!(servers > 10, "{servers} servers");
    again(&mut file);
    // Another client removes everything, and servers merge.
    clients.clone().for_each(|client| drop(file.request(client, Operation::Remove)));
    (0..300).for_each(|key| drop(file.request(key, Operation::Contains)));
    assert_eq!((file.size(), file.entries()), (1, 0));
    again(&mut file);
    assert_eq!(file.entries(), 0);
    // And stores so much that they split again.
    (1_000..1_060).for_each(|key| drop(file.request(key, |key| Operation::Insert(key, body(0)))));
    assert!(file.size() > 10);
    again(&mut file);
    assert_eq!(file.entries(), 60);
}
