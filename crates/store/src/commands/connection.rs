//! Commands about the connection itself.

use super::client::check_name;
use super::information::mode;
use super::keys::check_database;
use super::{CommandResult, Context, Failure, integer, is};
use crate::connection::Replies;
use crate::node::REDIS_VERSION;
use crate::resp::{Arguments, Version};

pub(super) fn ping(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    match arguments.len() {
        1 => context.reply.simple("PONG"),
        2 => context.reply.value(arguments.value(1)),
        _ => return Err(Failure::Arity("ping".to_owned())),
    }
    Ok(())
}

pub(super) fn echo(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    context.reply.value(arguments.value(1));
    Ok(())
}

pub(super) fn select(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    check_database(arguments.get(1))?;
    context.reply.ok();
    Ok(())
}

pub(super) fn quit(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    context.session.is_leaving = true;
    context.reply.ok();
    Ok(())
}

pub(super) fn reset(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    let session = &mut *context.session;
    session.transaction = None;
    session.unwatch(context.bucket);
    session.replies = Replies::On;
    session.is_authenticated = context.node.settings.password.is_none();
    session.client.queued.set(None);
    session.client.name.take();
    speak(context, Version::Two);
    context.reply.simple("RESET");
    Ok(())
}

fn speak(context: &mut Context<'_>, version: Version) {
    context.reply.version = version;
    context.session.client.speaks_three.set(version == Version::Three);
}

/// The name of the only user.
const USER: &str = "default";

fn authenticate(context: &mut Context<'_>, user: &[u8], password: &[u8]) -> CommandResult {
    let is_user = user == USER.as_bytes();
    let open = context.node.settings.password.is_none();
    if !is_user || !(open || context.node.is_password(password)) {
        context.node.counts.wrong_passwords += 1;
        return Err(Failure::Message("WRONGPASS invalid username-password pair or user is disabled.".to_owned()));
    }
    context.session.is_authenticated = true;
    Ok(())
}

pub(super) fn auth(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let (user, password) = match arguments.len() {
        2 if context.node.settings.password.is_none() => {
            return Err(Failure::Message(
                "ERR AUTH <password> called without any password configured for the default user. Are you sure your \
                 configuration is correct?"
                    .to_owned(),
            ));
        }
        2 => (USER.as_bytes(), arguments.get(1)),
        3 => (arguments.get(1), arguments.get(2)),
        _ => return Err(Failure::Syntax),
    };
    authenticate(context, user, password)?;
    context.reply.ok();
    Ok(())
}

pub(super) fn hello(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let version = match arguments.len() {
        1 => context.reply.version,
        _ => match integer(arguments.get(1)) {
            Ok(2) => Version::Two,
            Ok(3) => Version::Three,
            Ok(_) => return Err(Failure::Message("NOPROTO unsupported protocol version".to_owned())),
            Err(_) => {
                return Err(Failure::Message("ERR Protocol version is not an integer or out of range".to_owned()));
            }
        },
    };
    let (mut name, mut rest) = (None, arguments.from(2));
    while let Some(option) = rest.next() {
        if is(option, "auth") {
            let (Some(user), Some(password)) = (rest.next(), rest.next()) else { return Err(not_in_hello(option)) };
            authenticate(context, user, password)?;
        } else if is(option, "setname") {
            let given = rest.next().ok_or_else(|| not_in_hello(option))?;
            check_name(given)?;
            name = Some(given);
        } else {
            return Err(not_in_hello(option));
        }
    }
    if !context.session.is_authenticated {
        return Err(Failure::Message(
            "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> \
             <pass> option can be used to authenticate the client and select the RESP protocol version at the same time"
                .to_owned(),
        ));
    }
    if let Some(name) = name {
        context.session.client.name.replace(name.to_vec());
    }
    speak(context, version);
    reply_to_hello(context);
    Ok(())
}

fn not_in_hello(option: &[u8]) -> Failure {
    Failure::Message(format!("ERR Syntax error in HELLO option '{}'", super::lossy(option)))
}

fn reply_to_hello(context: &mut Context<'_>) {
    let (id, mode, reply) = (context.session.client.id, mode(context.session), &mut *context.reply);
    reply.map(7);
    for (name, value) in [("server", "redis"), ("version", REDIS_VERSION)] {
        reply.bulk(name.as_bytes());
        reply.bulk(value.as_bytes());
    }
    reply.bulk(b"proto");
    reply.integer(if reply.version == Version::Three { 3 } else { 2 });
    reply.bulk(b"id");
    reply.count(id);
    for (name, value) in [("mode", mode), ("role", "master")] {
        reply.bulk(name.as_bytes());
        reply.bulk(value.as_bytes());
    }
    reply.bulk(b"modules");
    reply.array(0);
}
