"""The bytes of malformed_requests.py, one list for each part of a request."""

from __future__ import annotations

SIGNAL = "/api/signal-endpoint/deploys"
LIST = "/api/admin/signal-endpoints"

START_LINES: list[bytes] = [
    b"GET", b"GET ", b"GET  /health HTTP/1.1", b"GET /health  HTTP/1.1", b"GET /health HTTP/1.1 x",
    b"GET /he alth HTTP/1.1", b"HTTP/1.1 200 OK", b"get /health HTTP/1.1", b"GeT /health HTTP/1.1",
    b"GET /health HTTP/1", b"GET /health HTTP/11.1", b"GET /health HTTP/1.1.1",
    b"GET /health http/1.1", b"GET /health HTTP/-1.1", b"GET /health HTTP/1.", b"GET /health HTTP",
    b"GET /health HTTP/x.y", b"GET /health HTTPS/1.1", b"GET /health ICY/1.0", b"G\x00T /health",
    b"G\tT /health HTTP/1.1", b"G\xc9T /health HTTP/1.1", b"G<b>T /health HTTP/1.1",
    b"SSH-2.0-OpenSSH_9", b"*1\r\n$4\r\nPING", b'{"json": true}',
    b"\x00" * 99, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\xff" * 300,
    b"GET\t/health\tHTTP/1.1", b"GET /health HTTP/1.1\rHost: x", b"GET\r\n/health HTTP/1.1",
    b"PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\nGET /health HTTP/1.1",
    b"\r\n\r\x00\r\nQUIT\x21\x11\x00\x0c\x7f\x00\x00\x01\x7f\x00\x00\x01\x00\x50\x00\x51",
]  # fmt: skip
TARGETS: list[bytes] = [
    b"http://evil.example/health", b"https://evil.example:99999/health", b"http://u:p@h/health",
    b"http://[::1]/health", b"http://[::1/health", b"http://[zz]/health", b"http://[v1.a]/health",
    b"http://]/health", b"http://[]/health", b"http:///health", b"http://", b"://",
    b"http://x?y#z", b"file:///etc/passwd", b"//evil.example/health", b"\\\\evil.example\\x",
    b"health", b"?", b"#", b"*", b"/health#x", b"/health?#", b"/health\x00", b"/health\x7f",
    b"/hea\tlth", b"/\xff\xfe", b"/" + b"a" * 40_000, b"evil.example:443", b"javascript:alert(1)",
    b"/health%0d%0aX-Evil:%201",
]  # fmt: skip
HEADERS: list[bytes] = [
    b"NoColon", b": empty", b" : blank", b"A B: c", b"A\x00: b", b"A: \x00", b"A: \x7f",
    b"A: \x01b", b"A\x80: x", b"A : b", b"A\t: b", b"(A): b", b'"A": b', b"A: b\rC: d",
    b"A: b\nC: d", b":", b"A", b"\xff\xfe: x", b"A: b\x0bC: d", b"A: b\x00\r\nC: d", b"A\r: b",
    b"A\n: b", b"\x00", b"A: " + b"a" * 33_000, b"A" * 33_000 + b": b", b"{}: {}", b"@: x",
    b"A/B: c", b"A[]: c",
]  # fmt: skip
ODD_HEADERS: list[bytes] = [
    b"A: \xff\xfe", b"A:", b"A:b:c", b"Expect: 200-ok", b"Upgrade: h2c", b"TE: trailers, gzip;q=2",
    b"Trailer: Content-Length", b"Keep-Alive: timeout=999999999", b"Range: bytes=-1-", b"Date: x",
    b"If-None-Match: *", b"If-Modified-Since: \xff", b"Accept: */*;q=nan", b"Max-Forwards: -1",
    b"Accept-Encoding: gzip;q=NaN,\xff", b"Accept-Encoding: " + b"gzip;q=0.1," * 900,
    b"X-HTTP-Method-Override: DELETE", b"X-Original-URL: /api/admin/x", b"X-Forwarded-Host: evil",
    b"X-Forwarded-For: \xff, ::1%25, [::1, 1.2.3.4:5:6, 999.1.1.1", b"X-Forwarded-Proto: https",
    b'Forwarded: for="[::1"', b"X-Real-IP: \xff", b"Origin: http://evil.example", b"Origin: null",
    b"Sec-Fetch-Site: \xff", b"Referer: http://evil.example", b"Content-Range: bytes 0-1/*",
    b"Content-MD5: x", b"Content-Location: //evil.example", b"User-Agent: " + b"\xe9" * 9000,
    b"\r\n".join([b"Cookie: a=b"] * 300),
    b"Content-Type: application/json\r\nContent-Type: text/plain", b"Connection: keep-alive, x",
]  # fmt: skip
# Two parsers could interpret these differently.
LENGTHS: list[bytes] = [
    b"-1", b"+5", b"5,5", b"5, 6", b"0x5", b"5 5", b"5.0", b"1e1", b"", b"five", b"\xd9\xa5",
    b"5;a", b"9" * 20, b"1" * 5000, b"2\x00", b"2\x0b", b"\x0c2", b"2_0", b"\xb2", b"0b1",
    b"Infinity",
]  # fmt: skip
CODINGS: list[bytes] = [
    b"gzip, chunked", b"chunked, gzip", b"gzip", b"identity", b"xchunked", b"chunked x",
    b"chunkedx", b"\x0bchunked", b"chunked\x0b", b"\x85chunked", b"chunked\xa0", b"chunked;q=1",
    b'"chunked"', b"chunked\x00", b"chu\tnked", b"", b",", b"identity, chunked", b"\xffchunked",
    b"deflate",
]  # fmt: skip
CODING_LINES: list[bytes] = [
    b"Transfer-Encoding : chunked", b"Transfer-Encoding\t: chunked",
    b" Transfer-Encoding: chunked", b"Transfer-Encoding\x0b: chunked",
    b"Transfer-Encoding\x00: chunked", b"X: a\rTransfer-Encoding" b": chunked",
    b"X: a\nTransfer-Encoding: chunked", b"X: a\r\n Transfer-Encoding: chunked",
    b"X: a\r\n\tTransfer-Encoding: chunked", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: x",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    b"Transfer-Encoding: chunked\r\n" b"Content-Length: 5",
    b"Content-Length: 5\r\nTransfer-Encoding: chunked",
    b"Content-Length: 5\r\n" b"transfer-encoding: gzip", b"Transfer_Encoding: chunked",
    b"Content_Length: 5", b"Content-Length: 5\r\nContent-Length: 5",
    b"Content-Length: 5\r\nContent-Length: 6", b"Content-Length : 5", b"Content-Length: 5\r\n 6",
    b"Transfer-Encoding: chunked, chunked",
]  # fmt: skip
CHUNKS: list[bytes] = [
    b"g\r\n{}\r\n0\r\n\r\n", b"-2\r\n{}\r\n0\r\n\r\n", b"0x2\r\n{}\r\n0\r\n\r\n",
    b"+2\r\n{}\r\n0\r\n\r\n", b" 2\r\n{}\r\n0\r\n\r\n", b"2 \r\n{}\r\n0\r\n\r\n",
    b"2\n\r\n{}\r\n0\r\n\r\n", b"2\r\n{}0\r\n\r\n", b"2\n{}\n0\n\n", b"2;\r\n{}\r\n0\r\n\r\n",
    b"2;a=\x00\r\n{}\r\n0\r\n\r\n", b'2;a="\r\n{}\r\n0\r\n\r\n', b"2;a\n\r\n{}\r\n0\r\n\r\n",
    b"1\r\n{}\r\n0\r\n\r\n", b"\xb2\r\n{}\r\n0\r\n\r\n", b"2\x00\r\n{}\r\n0\r\n\r\n",
    b"2_\r\n{}\r\n0\r\n\r\n", b"2\r\n{}\rX0\r\n\r\n", b"2\r\n{}\r\n0\n\r\n\r\n",
]  # fmt: skip
OPEN_CHUNKS: list[bytes] = [
    b"3\r\n{}", b"2\r\n{}\r\n", b"F" * 5000 + b"\r\n{}", b"FFFFFFFFFFFFFFFFF\r\n{}", b"2",
    b"2\r\n{}\r\n0", b"0\r\nA: b\r\n", b"2\r\n{}\r\n0\r\n",
]  # fmt: skip
HOSTS: list[bytes] = [
    b"", b"evil.example", b"evil.example:99999", b"a b", b"[::1", b"\xff", b"a/b", b"x" * 5000,
    b"<b>", b"127.0.0.1:80:80", b"localhost:0x50", b"evil.example#", b"evil.example\\@x",
    b"evil.example, x",
]  # fmt: skip
JSON_BODIES: list[bytes] = [
    b"null", b"[]", b'"x"', b"1", b"{", b"", b" ", b"{}", b'{"name": 1}', b'{"name": null}',
    b'{"a":1e400}', b'{"name": "\\u0000"}', b'{"name": "\\ud800"}',
    b'{"name": "' + b"x" * 50_000 + b'"}', b"[" * 999, b'{"name": "x\\ny"}', b'{"name": ["x"]}',
    b'{"name": "\xff"}', b"\xef\xbb\xbf{}", b"{}{}", b"NaN", '{"name": "x"}'.encode("utf-16"),
    b'{"name": "x", "name": 5}', b"9" * 5000, b'{"name": true}',
    b'{"username": {}, "password": []}', b'{"username": "\\u0000", "password": "x"}', b"-",
    b"{\x00}",
    b'{"username": "' + b"x" * 9000 + b'", "password": "' + b"y" * 9000 + b'", "rootRole": -1}',
    b'{"id": 99999999999999999999, "rootRole": 99999999999999999999999, "password": 1e308}',
]  # fmt: skip
FORM_BODIES: list[bytes] = [
    b"", b"&", b"=", b"&&&=", b"csrf", b"csrf=", b"%", b"%zz=%", b"a=%ff", b"a=%00", b"\xff\xfe=x",
    b"a;b=c", b"csrf=x&csrf=y", b"&".join(b"a%d=b" % n for n in range(300)), b"a=" + b"x" * 70_000,
    b"{}", b"+=+", b"username[]=x&password[]=y", b"username=a&password=%F0%9F%98", b"a=b\x00c",
    b"csrf=%C3%A9&next=//x",
]  # fmt: skip
QUERIES: list[str] = [
    "limit=-1", "limit=0", "limit=1001", "limit=x", "limit=%D9%A1", "limit=1e9",
    "limit=" + "9" * 400, "offset=-1", "offset=99999999999999999999", "before=x", "before=%00",
    "from=IS:0000-00-00", "&&;;", "from=IS:9999-12-31", "to=IS:2026-02-30", "from=%ff",
    "to=IS:" + "9" * 99, "=", "%", "%zz=%", "a=%ff", "text=%00", "q=%25%5f%5c",
    "next=//evil.example", "next=%0d%0aX-Evil:1", "next=/%5cevil.example", "?",
    "&".join(f"a{n}=1" for n in range(300)), "x=" + "y" * 20_000, "limit=1&limit=2", "\xff",
    "a=\xe9",
]  # fmt: skip
SECRETS: list[bytes] = [
    b"", b" ", b"Bearer", b"Bearer ", b"bearer  x", b"Basic", b"Basic =", b"Basic dXNlcjpwYXNz",
    b"Digest a=b", b"Bearer \xff\xfe", b"Bearer \xed\xa0\x80", b"Bearer a, Bearer b",
    b"Bearer " + b"x" * 20_000, b"\xe9", b"Bearer %00", b"Bearer *:*.", b"Bearer *:*.%",
    b"Bearer ' OR 1=1 --", b"Bearer ${jndi:ldap://x}", b"=",
]  # fmt: skip
COOKIES: list[bytes] = [
    b"", b";", b"=", b"=;=;=", b"service-session", b"service-session=",
    b"service-session=\xff\xfe", b"\xff=\xff", b"service-session=" + b"x" * 20_000,
    b'service-session="', b"service-session=a; service-session=b", b"a" * 9999,
    b"service-session=' OR 1=1 --", b"$Version=1; service-session=x", b"service-session=%00",
    b",,,", b"service-session-form=\xff; service-session=\xed\xa0\x80",
]  # fmt: skip
PATHS: list[str] = [
    "/%2e%2e/%2e%2e/etc/passwd", "/../../etc/passwd", "/static/../app.css",
    "/static/%2e%2e%2fapp.css", "/%", "/static/..%5capp.css", "/static/%00", "/static/",
    "/static/app.css/x", "/static/.htaccess", "/%zz", "/%00", "/%ff", "/%c0%ae%c0%ae/",
    "/%ed%a0%80", "/%f5%80%80%80", "/;", "/.", "/..", "/%2f%2f", "/%0d%0aX-Evil:1", "/%e2%80%ae",
    "/favicon.ico", "/robots.txt", "/.git/config", "/.env", "/admin/signals/%ff", "/admin//x",
]  # fmt: skip
API_PATHS: list[str] = [
    "/-1", "/+1", "/0", "/%D9%A1", "/" + "9" * 19, "/" + "9" * 25, "/1e3", "/1.0", "/null", "/%00",
    "/%ff", "/1%0a", "/1;x", "/1/", "//1", "/1//tokens", "/999999", "/999999/tokens/1",
    "/1/signals/-1", "/%2e%2e", "/999999/signals?limit=0", "/1%2ftokens", "/２", "/'--",
    "/1/tokens/" + "9" * 300,
]  # fmt: skip
ROUTES: list[str] = [
    "/", "/health", "/ready", "/internal-backstage/prometheus", "/static/app.css", SIGNAL, LIST,
    f"{LIST}/9999", f"{LIST}/9999/on", f"{LIST}/9999/off", f"{LIST}/9999/signals", "/sign-in",
    "/logout", f"{LIST}/9999/signals/1", f"{LIST}/9999/tokens", f"{LIST}/9999/tokens/1",
    "/api/admin/signals", "/profile", "/api/admin/events", "/api/admin/user-admin",
    "/api/admin/user-admin/9999", "/api/admin/user", "/api",
    "/api/admin/user-admin/9999/change-password", "/api/admin/user-admin/validate-password",
    "/auth/simple", "/api/admin/user/change-password", "/auth/simple/login", "/profile/password",
    "/admin/signals", "/admin/events", "/admin/signals/new", "/admin/signals/9999",
    "/admin/signals/9999/on", "/nowhere", "/admin/signals/9999/delete", "/admin/signals/9999/log",
    "/admin/signals/9999/log/1",
]  # fmt: skip
METHODS = ["HEAD", "OPTIONS", "TRACE", "PATCH", "PUT", "DELETE", "POST", "GET", "ANY"]
