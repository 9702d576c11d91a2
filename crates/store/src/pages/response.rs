//! HTTP/1 responses: one per connection, which then ends.

use std::borrow::Cow;

/// The status of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The response has the page.
    Ok,
    /// The request is malformed.
    BadRequest,
    /// A password is required.
    Unauthorized,
    /// The request names a host that may be a stranger's.
    Forbidden,
    /// There is no such page.
    NotFound,
    /// Pages can only be read.
    MethodNotAllowed,
    /// The request's head is too long.
    HeadTooLong,
    /// The member does not serve yet, or there are too many requests.
    Unavailable,
}

impl Status {
    /// Its code and its name.
    const fn line(self) -> &'static str {
        match self {
            Status::Ok => "200 OK",
            Status::BadRequest => "400 Bad Request",
            Status::Unauthorized => "401 Unauthorized",
            Status::Forbidden => "403 Forbidden",
            Status::NotFound => "404 Not Found",
            Status::MethodNotAllowed => "405 Method Not Allowed",
            Status::HeadTooLong => "431 Request Header Fields Too Large",
            Status::Unavailable => "503 Service Unavailable",
        }
    }
}

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: Status,
    /// The type of its body.
    content_type: &'static str,
    body: Cow<'static, str>,
}

/// Pages load only what this member serves, and can't be embedded in others.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; img-src data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

impl Response {
    /// A response with a page.
    pub fn ok(content_type: &'static str, body: impl Into<Cow<'static, str>>) -> Response {
        Response { status: Status::Ok, content_type, body: body.into() }
    }

    /// A response that says why there is none.
    pub fn refusal(status: Status) -> Response {
        Response { status, content_type: "text/plain; charset=utf-8", body: format!("{}\n", status.line()).into() }
    }

    /// The response as bytes; without the body for a HEAD request.
    pub fn bytes(&self, is_head: bool) -> Vec<u8> {
        let (line, body) = (self.status.line(), self.body.as_ref());
        let more = match self.status {
            Status::Unauthorized => "WWW-Authenticate: Basic realm=\"maquette store\", charset=\"UTF-8\"\r\n",
            Status::MethodNotAllowed => "Allow: GET, HEAD\r\n",
            _ => "",
        };
        let head = format!(
            "HTTP/1.1 {line}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{more}Cache-Control: no-store\r\n\
             Content-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Connection: close\r\n\r\n",
            self.content_type,
            body.len(),
        );
        if is_head { head.into_bytes() } else { [head.as_bytes(), body.as_bytes()].concat() }
    }
}
