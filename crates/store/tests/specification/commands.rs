//! A table of requests and their replies.

use maquette_store::commands::{COMMANDS, find};
use maquette_store::node::Settings;

use crate::sessions::World;

/// Requests one after another, each with its reply, in which spaces separate the lines.
const REPLIES: &[(&str, &str)] = &[
    ("PING", "+PONG"),
    ("PING hello", "$5 hello"),
    ("ECHO hello", "$5 hello"),
    ("SET a 1", "+OK"),
    ("SET a 2 NX", "$-1"),
    ("SET a 2 XX GET", "$1 1"),
    ("SET b 2 XX", "$-1"),
    ("SET b 2 NX GET", "$-1"),
    ("SET b 3 NX XX", "-ERR syntax error"),
    ("SET b 3 EX 10 PX 10", "-ERR syntax error"),
    ("SET b 3 EX", "-ERR syntax error"),
    ("SET b 3 EX x", "-ERR value is not an integer or out of range"),
    ("SET b 3 EX 0", "-ERR invalid expire time in 'set' command"),
    ("SET b 3 PX 9223372036854775807", "-ERR invalid expire time in 'set' command"),
    ("SET b 3 EX 100", "+OK"),
    ("SET b 4 KEEPTTL", "+OK"),
    ("TTL b", ":100"),
    ("GETEX b PERSIST", "$1 4"),
    ("TTL b", ":-1"),
    ("GETEX b EX 5", "$1 4"),
    ("PTTL b", ":5000"),
    ("EXPIRETIME b", ":1700000005"),
    ("PEXPIRETIME b", ":1700000005000"),
    ("GETEX b PXAT 1", "$1 4"),
    ("GET b", "$-1"),
    ("GETEX b EX 0", "-ERR invalid expire time in 'getex' command"),
    ("SETEX c 0 x", "-ERR invalid expire time in 'setex' command"),
    ("PSETEX c 1000 x", "+OK"),
    ("SETNX c y", ":0"),
    ("GETSET c y", "$1 x"),
    ("GETDEL c", "$1 y"),
    ("GETDEL c", "$-1"),
    ("MSET a 1 b 2", "+OK"),
    ("MSET a 1 b", "-ERR wrong number of arguments for 'mset' command"),
    ("MSETNX a 1 z 2", ":0"),
    ("MSETNX y 1 z 2", ":1"),
    ("MGET a nothing z", "*3 $1 1 $-1 $1 2"),
    ("APPEND s Hello", ":5"),
    ("APPEND s _World", ":11"),
    ("STRLEN s", ":11"),
    ("STRLEN nothing", ":0"),
    ("GETRANGE s 0 4", "$5 Hello"),
    ("SUBSTR s -5 -1", "$5 World"),
    ("SETRANGE s 6 Redis", ":11"),
    ("GET s", "$11 Hello_Redis"),
    ("SETRANGE s -1 x", "-ERR offset is out of range"),
    ("SETRANGE s 536870911 xx", "-ERR string exceeds maximum allowed size (proto-max-bulk-len)"),
    ("SETRANGE nothing 5 \"\"", ":0"),
    ("EXISTS nothing", ":0"),
    ("INCR n", ":1"),
    ("INCRBY n 9", ":10"),
    ("DECR n", ":9"),
    ("DECRBY n 10", ":-1"),
    ("DECRBY n -9223372036854775808", "-ERR decrement would overflow"),
    ("INCRBY n -9223372036854775808", "-ERR increment or decrement would overflow"),
    ("INCR s", "-ERR value is not an integer or out of range"),
    ("INCRBYFLOAT f 10.5", "$4 10.5"),
    ("INCRBYFLOAT f 0.1", "$4 10.6"),
    ("INCRBYFLOAT f x", "-ERR value is not a valid float"),
    ("EXISTS a a nothing", ":2"),
    ("TOUCH a nothing", ":1"),
    ("TYPE a", "+string"),
    ("TYPE nothing", "+none"),
    ("EXPIRE a 100 XX", ":0"),
    ("EXPIRE a 100 GT", ":0"),
    ("EXPIRE a 100 LT", ":1"),
    ("EXPIRE a 200 LT", ":0"),
    ("EXPIRE a 200 GT", ":1"),
    ("EXPIRE a 200 NX", ":0"),
    ("EXPIRE a 1 NX GT", "-ERR NX and XX, GT or LT options at the same time are not compatible"),
    ("EXPIRE a 1 LT GT", "-ERR GT and LT options at the same time are not compatible"),
    ("EXPIRE a 1 NN", "-ERR Unsupported option NN"),
    ("EXPIRE a 9223372036854775807", "-ERR invalid expire time in 'expire' command"),
    ("PERSIST a", ":1"),
    ("PERSIST a", ":0"),
    ("EXPIRE a -1", ":1"),
    ("EXISTS a", ":0"),
    ("RENAME nothing x", "-ERR no such key"),
    ("RENAME s t", "+OK"),
    ("RENAMENX t b", ":0"),
    ("RENAMENX t t", ":0"),
    ("RENAME t t", "+OK"),
    ("COPY t u", ":1"),
    ("COPY t u", ":0"),
    ("COPY t u REPLACE", ":1"),
    ("COPY t u DB 1", "-ERR DB index is out of range"),
    ("COPY t t", "-ERR source and destination objects are the same"),
    ("OBJECT ENCODING n", "$3 int"),
    ("OBJECT ENCODING u", "$6 embstr"),
    ("OBJECT REFCOUNT nothing", "$-1"),
    ("DEL a b t u nothing", ":3"),
    ("KEYS ?", "*4 $1 f $1 n $1 y $1 z"),
    ("SCAN 0 COUNT 100 MATCH [yf]", "*2 $1 0 *2 $1 y $1 f"),
    ("SCAN x", "-ERR invalid cursor"),
    ("SCAN 0 COUNT 0", "-ERR syntax error"),
    ("SCAN 0 TYPE list", "*2 $1 0 *0"),
    ("SELECT 0", "+OK"),
    ("SELECT 1", "-ERR DB index is out of range"),
    ("HELLO 4", "-NOPROTO unsupported protocol version"),
    (
        "AUTH x",
        "-ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?",
    ),
    ("NOSUCH a b", "-ERR unknown command 'NOSUCH', with args beginning with: 'a' 'b' "),
    ("CLIENT NOSUCH", "-ERR unknown subcommand 'NOSUCH'. Try CLIENT HELP."),
    ("CLIENT SETNAME", "-ERR wrong number of arguments for 'client|setname' command"),
    ("GET", "-ERR wrong number of arguments for 'get' command"),
    ("CONFIG GET maxmem*", "*4 $9 maxmemory $1 0 $16 maxmemory-policy $10 noeviction"),
    ("CONFIG SET maxmemory 100mb", "+OK"),
    ("CONFIG GET maxmemory", "*2 $9 maxmemory $9 104857600"),
    ("CONFIG SET nosuch 1", "-ERR Unknown option or number of arguments for CONFIG SET - 'nosuch'"),
    ("COMMAND GETKEYS MSET a 1 b 2", "*2 $1 a $1 b"),
    ("COMMAND GETKEYS PING x", "-ERR The command has no key arguments"),
    ("FUNCTION FLUSH", "+OK"),
    ("DBSIZE", ":4"),
    ("FLUSHALL ASYNC", "+OK"),
    ("RANDOMKEY", "$-1"),
    ("DBSIZE", ":0"),
    ("TIME", "*2 $10 1700000000 $1 0"),
    ("QUIT", "+OK"),
];

fn flat(reply: &str) -> String {
    reply.strip_suffix("\r\n").unwrap_or(reply).replace("\r\n", " ")
}

#[test]
fn commands_reply_as_clients_expect() {
    let mut world = World::new(Settings::default(), 1);
    for (request, due) in REPLIES {
        let reply = flat(&world.say(0, request));
        // Keys are in the order of their hashes: they are sorted before they are compared.
        let sorted = |text: &str| {
            let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            words.sort_unstable();
            words
        };
        let is_alike = if request.starts_with("KEYS") || request.starts_with("SCAN") {
            sorted(&reply) == sorted(due)
        } else {
            reply == *due
        };
        assert!(is_alike, "{request}: {reply}, not {due}");
    }
}

#[test]
fn the_third_version_has_maps_and_nothing() {
    let mut world = World::new(Settings::default(), 1);
    assert!(world.say(0, "HELLO 3").contains("$5\r\nproto\r\n:3\r\n"));
    assert_eq!(world.say(0, "CONFIG GET save"), "%1\r\n$4\r\nsave\r\n$0\r\n\r\n");
    assert_eq!(world.say(0, "GET a"), "_\r\n");
    assert!(world.say(0, "INFO memory").starts_with("="));
}

#[test]
fn every_command_is_found_and_has_a_summary() {
    let mut world = World::new(Settings::default(), 1);
    for command in COMMANDS.iter().copied().flatten() {
        assert_eq!(find(command.name.to_uppercase().as_bytes()).map(|found| found.name), Some(command.name));
        assert!(!command.summary.ends_with('.') && !command.summary.is_empty());
        let reply = world.say(0, &format!("COMMAND DOCS {}", command.name));
        assert!(reply.contains(command.summary), "{reply}");
        assert!(world.say(0, &format!("COMMAND INFO {}", command.name)).starts_with("*1\r\n*10\r\n"));
        for part in command.subcommands {
            assert!(part.name.starts_with(command.name) && command.subcommands.len() < 20);
        }
    }
    let count: usize = COMMANDS.iter().map(|family| family.len()).sum();
    assert_eq!(world.say(0, "COMMAND COUNT"), format!(":{count}\r\n"));
    assert!(world.say(0, "COMMAND").starts_with(&format!("*{count}\r\n")));
}

/// Whatever its arguments, each command replies once, and the next request is understood.
#[test]
fn no_arguments_bring_a_command_down() {
    let words =
        ["", "0", "-1", "key", "9223372036854775807", "-9223372036854775808", "ex", "nx", "\"\\xff\\x00\"", "1e400"];
    for command in COMMANDS.iter().copied().flatten().filter(|command| !["quit", "exec"].contains(&command.name)) {
        let parts = command.subcommands.iter().map(|part| part.name.replace('|', " "));
        for name in parts.chain([command.name.to_owned()]) {
            for (first, second) in words.iter().flat_map(|first| words.map(|second| (*first, second))) {
                let mut world = World::new(Settings::default(), 1);
                world.say(0, "SET key 1");
                let reply = world.say(0, &format!("{name} {first} {second} {first}"));
                assert!(!reply.is_empty() || name.starts_with("client reply"), "{name} {first} {second}");
                let reply = world.send(0, "RESET\r\nPING\r\n");
                assert!(reply.ends_with("+PONG\r\n"), "{name} {first} {second}: {reply}");
            }
        }
    }
}
