//! HTTP/1 requests.

use super::response::{Response, Status};

/// The longest head of a request. [B]
pub const LONGEST_HEAD: usize = 8 << 10;
/// The most headers of a request.
pub(crate) const MOST_HEADERS: usize = 64;

/// A request without a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// Whether the body of the response is not wanted.
    pub is_head: bool,
    path: String,
    host: Option<String>,
    authorization: Option<String>,
}

impl PageRequest {
    /// Reads a request; none if it is not complete yet.
    ///
    /// # Errors
    /// The response that refuses it.
    pub fn read(bytes: &[u8]) -> Result<Option<PageRequest>, Response> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let is_whole = match request.parse(bytes) {
            Ok(status) => status.is_complete(),
            Err(httparse::Error::TooManyHeaders) => return Err(Response::refusal(Status::HeadTooLong)),
            Err(_) => return Err(Response::refusal(Status::BadRequest)),
        };
        if !is_whole {
            let is_too_long = bytes.len() >= LONGEST_HEAD;
            return if is_too_long { Err(Response::refusal(Status::HeadTooLong)) } else { Ok(None) };
        }
        let is_head = match request.method {
            Some("GET") => false,
            Some("HEAD") => true,
            _ => return Err(Response::refusal(Status::MethodNotAllowed)),
        };
        let header = |name: &str| {
            let mut values = request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
            let value = values.next().map(|header| String::from_utf8_lossy(header.value).into_owned());
            // A repeated header is ambiguous.
            if values.next().is_some() { Err(Response::refusal(Status::BadRequest)) } else { Ok(value) }
        };
        let has_body = header("transfer-encoding")?.is_some() || header("content-length")?.is_some_and(|it| it != "0");
        let host = header("host")?;
        let target = request.path.unwrap_or_default();
        if has_body || !target.starts_with('/') || host.is_none() && request.version == Some(1) {
            return Err(Response::refusal(Status::BadRequest));
        }
        let path = target.split(['?', '#']).next().unwrap_or_default().to_owned();
        Ok(Some(PageRequest { is_head, path, host, authorization: header("authorization")? }))
    }

    /// The path, without the query.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The host that the request names.
    pub fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// The credentials in the request.
    pub fn authorization(&self) -> Option<&str> {
        self.authorization.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn status(head: &str) -> Status {
        PageRequest::read(head.as_bytes()).expect_err(head).status
    }

    #[test]
    fn a_request_is_read_when_it_is_complete() {
        let head = "HEAD /metrics HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n";
        for end in 0..head.len() {
            assert_eq!(PageRequest::read(&head.as_bytes()[..end]), Ok(None));
        }
        let request = PageRequest::read(head.as_bytes()).unwrap().unwrap();
        assert!(request.is_head && request.path() == "/metrics" && request.host() == Some("a"));
        assert!(PageRequest::read(b"GET / HTTP/1.0\r\n\r\n").unwrap().is_some());
    }

    #[test]
    fn unsupported_requests_are_refused() {
        assert_eq!(status("POST / HTTP/1.1\r\nHost: a\r\n\r\n"), Status::MethodNotAllowed);
        assert_eq!(status("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"), Status::BadRequest);
        assert_eq!(status("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"), Status::BadRequest);
        assert_eq!(status("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), Status::BadRequest);
        assert_eq!(status("GET / HTTP/1.1\r\n\r\n"), Status::BadRequest);
        assert_eq!(status("GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n"), Status::BadRequest);
        assert_eq!(status("*1\r\n$4\r\nPING\r\n"), Status::BadRequest);
        assert_eq!(
            status(&"GET / HTTP/1.1\r\n".replace("/ ", &format!("/{} ", "a".repeat(LONGEST_HEAD)))),
            Status::HeadTooLong
        );
        assert_eq!(status(&format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(100))), Status::HeadTooLong);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_refused_or_waited_for(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(!matches!(PageRequest::read(&bytes), Ok(Some(_))));
        }
    }
}
