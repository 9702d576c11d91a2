//! How often servers forward requests while they split, and how images that are ahead of the file are corrected.

use endpoint::Message;
use maquette_linear_hash::{
    Client, ClientOutput, EntryPlace, Extent, Growth, Operation, OperationOutcome, Request, Server, ToClient, h,
};
use quantities::{Duration, Time};

use super::file::{File, uniform};

const GROWTH: Growth = Growth { capacity: 6, sensitivity: 0.8, shrink: None, apart: false, most_servers: 0, chunk: 1 };

/// A file of `servers` servers in which the next split has just begun.
fn splitting(servers: u32) -> File {
    let mut file = File::new(Growth { most_servers: servers + 1, ..GROWTH }, uniform);
    for key in 0_u64.. {
        drop(file.ask(key, |key| Operation::Insert(key, Message::default())));
        while file.splits() < u64::from(servers) && file.step() {}
        if file.splits() == u64::from(servers) {
            break;
        }
    }
    file
}

/// Whether the entry of a key with this hash is moving between servers.
fn is_in_flight(file: &File, c: u64) -> bool {
    let tables = (0..).zip(&file.servers).filter_map(|(number, server)| Some((number, server.table()?)));
    tables.filter(|(number, table)| h(table.level(), c) == *number).all(|(_, table)| table.place(c) != EntryPlace::Held)
}

/// Every state of a real server's split, message by message; every image that is not ahead of the file; every server
/// that a key can have. A request is answered after at most two forwards. Only a request whose bucket is moving between
/// two servers at that moment goes back to its client.
#[test]
fn no_request_is_sent_on_more_than_twice_while_a_server_splits() {
    let (mut forwards, mut back, mut states, mut number) = ([0_u64; 3], 0, 0, 0);
    for servers in 1..=40_u32 {
        let mut file = splitting(servers);
        loop {
            states += 1;
            for image in (1..=servers).map(Extent::of) {
                for c in 0..8_u64 << Extent::of(servers).i() {
                    let operation = Operation::Contains(Box::default());
                    let request = Request { client: 1, number, c, operation, forwards: 0 };
                    number += 1;
                    match file.send(image.index(c), request) {
                        Some(ToClient::Reply { forwards: count, .. }) => forwards[count as usize] += 1,
                        Some(ToClient::Again { .. } | ToClient::Gone { .. }) if is_in_flight(&file, c) => back += 1,
                        other => panic!("{other:?} to {c} by {image:?} of {servers}"),
                    }
                }
            }
            if !file.step() {
                break;
            }
        }
    }
    println!("{states} states: {forwards:?} requests sent on 0, 1, 2 times; {back} went back");
    assert!(states > 200 && forwards.iter().all(|&count| count > 0));
}

/// A client with this number whose image is that of a file of `believed` servers.
fn client_of(number: u32, believed: u32) -> Client {
    let (mut client, file) = (Client::new(number.into(), Duration::ZERO), Extent::of(believed));
    for server in [file.n(), believed - 1, 0, file.n().saturating_sub(1)] {
        let adjust: ToClient = ToClient::Adjust { server, level: file.level(server) };
        client.take(Time::ZERO, adjust);
    }
    assert_eq!(client.image().extent(), file);
    client
}

/// How many times a client had to send a request until it was answered.
fn sends(file: &mut File, client: &mut Client, c: u64) -> u32 {
    let mut outputs = vec![client.ask(Time::ZERO, c, Operation::Contains(Box::default()))];
    let mut sent = 0;
    loop {
        match outputs.pop() {
            Some(ClientOutput::Send(server, request)) => {
                sent += 1;
                let messages = file.route(server, request);
                outputs.extend(messages.into_iter().filter_map(|message| client.take(Time::ZERO, message)));
            }
            Some(ClientOutput::Done(outcome)) => {
                assert_eq!(outcome, OperationOutcome::Is(false));
                return sent;
            }
            None => panic!("nobody answers"),
        }
    }
}

/// A file that has shrunk: clients with a larger image are corrected by servers that have left, and by those that
/// remain; each request is answered after at most as many sends as there are levels, and at the end the image is
/// correct.
#[test]
fn images_ahead_of_the_file_are_corrected_by_what_servers_say() {
    for servers in 1..=20 {
        let growth = Growth { most_servers: servers, ..GROWTH };
        let mut file = File::new(growth, uniform);
        (0..400).for_each(|key| drop(file.request(key, |key| Operation::Insert(key, Message::default()))));
        assert_eq!(file.size(), servers);
        file.servers.extend((servers..128).map(|number| Server::new(number, growth)));
        for believed in 1..=128 {
            let mut client = client_of(believed, believed);
            for c in 400..400 + 256 {
                let sent = sends(&mut file, &mut client, c);
                assert!(sent <= Extent::of(believed).i() + 1, "{sent} sends for {c}, {believed} believed of {servers}");
            }
            assert_eq!(client.image().extent(), Extent::of(servers));
        }
    }
}

/// The mean number of image adjustments that a new client receives until it knows the file, with random keys. Each
/// server that forwards a request sends one, so there are a few more than requests to a wrong server.
#[test]
fn servers_tell_a_new_client_about_as_often_as_there_are_levels() {
    for (servers, due) in [(64, 5.0), (512, 7.1), (4_096, 9.1)] {
        let growth = Growth { most_servers: servers, capacity: 2, ..GROWTH };
        let mut file = File::new(growth, uniform);
        let mut keys = 0_u64..;
        while file.size() < servers {
            drop(keys.next().map(|key| file.request(key, |key| Operation::Insert(key, Message::default()))));
        }
        let (clients, mut messages, mut wrong) = (300_u32, 0, 0);
        for number in 1..=clients {
            let mut client = Client::new(u64::from(number), Duration::ZERO);
            for draw in 0.. {
                if client.image().extent() == Extent::of(servers) {
                    break;
                }
                let before = client.counts.adjustments;
                let _ = sends(&mut file, &mut client, uniform(u64::from(number) << 32 | draw));
                wrong += u64::from(client.counts.adjustments > before);
            }
            messages += client.counts.adjustments;
        }
        let mean = |count: u64| count as f64 / f64::from(clients);
        println!("{servers} servers: {} adjustments, {} wrong requests", mean(messages), mean(wrong));
        assert!((mean(messages) - due).abs() < 0.3, "{} adjustments, {due} were due", mean(messages));
        assert!(wrong < messages);
    }
}
