//! A member's pages for browsers and Prometheus: their paths, who may read them, and their contents. Pure: bytes in,
//! bytes out.
//!
//! | path | contents |
//! |---|---|
//! | `/` | the live page, with `/page.js` |
//! | `/state.json` | the state of the pool, which the page requests each second |
//! | `/metrics` | the state of this member, for Prometheus |
//! | `/healthz` | 200 while it serves, 503 until it was admitted |

mod metrics;
pub(crate) mod request;
mod response;
mod state;
mod turns;

use std::net::IpAddr;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

pub use metrics::{Readings, metrics};
pub use request::{LONGEST_HEAD, PageRequest};
pub use response::{Response, Status};
pub use state::{MemberState, MemberView, PoolView, ServerLine};
pub use turns::Turns;

use crate::node::Node;

/// The fixed parts of the live page.
#[derive(Clone, Debug)]
pub struct Assets {
    /// Its markup.
    pub page: String,
    /// Its script.
    pub script: &'static str,
}

/// The pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// The live page.
    Page,
    /// Its script.
    Script,
    /// The state of the pool.
    State,
    /// The state of this member.
    Metrics,
    /// Whether this member serves.
    Health,
}

/// All pages by their paths.
const ROUTES: [(&str, Route); 5] = [
    ("/", Route::Page),
    ("/page.js", Route::Script),
    ("/state.json", Route::State),
    ("/metrics", Route::Metrics),
    ("/healthz", Route::Health),
];

/// The page that a request is for, if the request is allowed. Health needs no password.
///
/// # Errors
/// The response that says why not.
pub fn route(request: &PageRequest, node: &Node, at: IpAddr) -> Result<Route, Response> {
    let is_open = node.settings.password.is_none();
    if is_open && at.is_loopback() && !request.host().is_none_or(is_local) {
        return Err(Response::refusal(Status::Forbidden));
    }
    let known = ROUTES.into_iter().find(|(path, _)| *path == request.path());
    let Some((_, route)) = known else { return Err(Response::refusal(Status::NotFound)) };
    if is_open || route == Route::Health || password_of(request).is_some_and(|given| node.is_password(&given)) {
        return Ok(route);
    }
    Err(Response::refusal(Status::Unauthorized))
}

/// Whether a host is `localhost` or an address. Any other name that resolves to this machine may be a stranger's, whose
/// pages could then read these (DNS rebinding).
fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok()
}

/// The password in a request: a bearer token, or the password of any user.
fn password_of(request: &PageRequest) -> Option<Vec<u8>> {
    let (scheme, given) = request.authorization()?.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(given.trim().as_bytes().to_vec());
    }
    let pair = BASE64_STANDARD.decode(given.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let colon = pair.iter().position(|&byte| byte == b':')?;
    Some(pair[colon + 1..].to_vec())
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::node::Settings;

    const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const NETWORK: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));

    fn outcome(head: &str, password: Option<&[u8]>, at: IpAddr) -> Result<Route, Status> {
        let settings = Settings { password: password.map(<[u8]>::to_vec), ..Settings::default() };
        let node = Node::new(settings, 6379, [1; 3], 0);
        let request = PageRequest::read(head.as_bytes()).unwrap().unwrap();
        route(&request, &node, at).map_err(|response| response.status)
    }

    #[test]
    fn requests_are_routed_by_their_paths() {
        let of = |path: &str| outcome(&format!("GET {path} HTTP/1.1\r\nHost: localhost:9121\r\n\r\n"), None, LOOPBACK);
        assert_eq!(of("/"), Ok(Route::Page));
        assert_eq!(of("/metrics?name[]=up"), Ok(Route::Metrics));
        assert_eq!(of("/../etc/passwd"), Err(Status::NotFound));
    }

    #[test]
    fn a_foreign_host_name_is_refused_on_the_loopback() {
        let of = |host: &str, at| outcome(&format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n"), None, at);
        for host in ["127.0.0.1:9121", "localhost", "LocalHost:80", "[::1]:9121", "[::1]"] {
            assert_eq!(of(host, LOOPBACK), Ok(Route::Metrics), "{host}");
        }
        assert_eq!(of("rebound.example:9121", LOOPBACK), Err(Status::Forbidden));
        assert_eq!(of("node7.cluster:9121", NETWORK), Ok(Route::Metrics));
    }

    #[test]
    fn a_password_is_required_if_there_is_one() {
        let of = |path: &str, header: &str| {
            outcome(&format!("GET {path} HTTP/1.1\r\nHost: a\r\n{header}\r\n"), Some(b"open:sesame"), LOOPBACK)
        };
        assert_eq!(of("/metrics", ""), Err(Status::Unauthorized));
        assert_eq!(of("/metrics", "Authorization: Bearer open:sesame\r\n"), Ok(Route::Metrics));
        // `prometheus:open:sesame`, and `prometheus:another`.
        assert_eq!(of("/metrics", "authorization: basic cHJvbWV0aGV1czpvcGVuOnNlc2FtZQ==\r\n"), Ok(Route::Metrics));
        assert_eq!(of("/", "Authorization: Basic cHJvbWV0aGV1czphbm90aGVy\r\n"), Err(Status::Unauthorized));
        assert_eq!(of("/", "Authorization: Basic ===\r\n"), Err(Status::Unauthorized));
        assert_eq!(of("/healthz", ""), Ok(Route::Health));
    }
}
