"""Who may ask: requests with the token, or its cookie, from the page itself."""

import secrets
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse

# Scripts and styles come from files of this server, and nothing comes from anywhere else.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_REFUSED = (
    "Open the whole address that `vanishing app` printed, with its token: this page is yours alone."
)


class Guard:
    """Answers 403 to all requests but those of the page, and adds headers to what it lets through.

    Parameters
    ----------
    app : ASGI application
    token : str
        In the address that is opened first; a cookie says it from then on.
    hosts : collection of str
        What the address of the server may be called, with its port; none: anything. A name of
        somebody else that leads here is refused.
    """

    def __init__(self, app, token: str, hosts):
        self.app = app
        self.token = token
        self.hosts = frozenset(hosts)

    async def __call__(self, scope, receive, send):
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = Headers(scope=scope)
        opened = scope["path"] == "/" and scope["method"] == "GET" and self._has_token(scope)
        if not self._is_own(headers, opened) or not (opened or self._has_cookie(headers)):
            refusal = PlainTextResponse(_REFUSED, 403, headers=_HEADERS)
            await refusal(scope, receive, send)
            return

        async def send_with_headers(message):
            if message["type"] == "http.response.start":
                answer = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    answer.setdefault(name, value)
                if opened:
                    answer.append("Set-Cookie", self._cookie(headers))
            await send(message)

        await self.app(scope, receive, send_with_headers)

    def _is_own(self, headers: Headers, opened: bool) -> bool:
        """Say whether a request comes from the page, or from the person who opens it."""
        host = headers.get("host", "")
        if self.hosts and host not in self.hosts:
            return False
        if headers.get("origin", f"http://{host}") != f"http://{host}":
            return False
        return opened or headers.get("sec-fetch-site", "none") in ("same-origin", "none")

    def _has_token(self, scope) -> bool:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return self._is_token(given)

    def _has_cookie(self, headers: Headers) -> bool:
        cookies = cookie_parser(headers.get("cookie", ""))
        return self._is_token(cookies.get(self._name(headers), ""))

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self.token.encode())

    def _cookie(self, headers: Headers) -> str:
        return f"{self._name(headers)}={self.token}; Path=/; HttpOnly; SameSite=Strict"

    @staticmethod
    def _name(headers: Headers) -> str:
        """Return the name of the cookie: browsers share cookies among the ports of a machine."""
        return f"vanishing-{headers.get('host', '').rpartition(':')[2] or '80'}"
