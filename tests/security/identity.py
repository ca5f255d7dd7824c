# SPDX-License-Identifier: Apache-2.0
"""
What the tests of signing in share: a browser that keeps cookies and follows redirections by hand, the real identity server, and one
that lies as it is told to.
"""
import base64
import hashlib
import hmac
import http.server
import json
import os
import re
import ssl
import subprocess
import threading
import time
import urllib.parse

from checks import HUNG_S, check

WEB = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "web")
PUBLIC = "http://perfdb.test"
CLIENT = "perfdb"
SECRET = "a secret & more"


class Browser:
    """Cookies by host; a redirection to the server's public name goes to where it listens."""

    def __init__(self, server):
        self.server = server
        self.cookies = {}

    def go(self, method, url, form=None, headers=None, body=None):
        parts = urllib.parse.urlsplit(url)
        host = parts.netloc
        where = f"127.0.0.1:{self.server.port}" if host == "perfdb.test" else host
        jar = self.cookies.setdefault(host, {})
        lines = {"Host": host, "Connection": "close", **(headers or {})}
        if jar:
            lines["Cookie"] = "; ".join(f"{name}={value}" for name, value in jar.items())
        if form is not None:
            body = urllib.parse.urlencode(form).encode()
            lines["Content-Type"] = "application/x-www-form-urlencoded"
        connection = http.client.HTTPConnection(where, timeout=HUNG_S)
        connection.request(method, urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, "")), body, lines)
        answer = connection.getresponse()
        answer.text = answer.read()
        for line in answer.headers.get_all("Set-Cookie") or []:
            name, _, value = line.split(";")[0].partition("=")
            if value:
                jar[name.strip()] = value
            else:
                jar.pop(name.strip(), None)
        connection.close()
        return answer

    def ask(self, path, method="GET", value=None, headers=None):
        body = json.dumps(value).encode() if value is not None else None
        kind = {"Content-Type": "application/json", "Origin": PUBLIC, "Sec-Fetch-Site": "same-origin"} if method != "GET" else {}
        return self.go(method, PUBLIC + path, headers={**kind, **(headers or {})}, body=body)

    def begin(self, to="/"):
        """The address of the identity server's page."""
        answer = self.ask(f"/sign-in?to={urllib.parse.quote(to, safe='')}")
        check(answer.status == 302, f"sign-in: {answer.status} {answer.text[:300]!r}")
        return answer.headers["Location"]

    def follow(self, url):
        """As far as redirections lead."""
        for _ in range(20):
            answer = self.go("GET", url)
            if answer.status not in (302, 303):
                return url, answer
            url = urllib.parse.urljoin(url, answer.headers["Location"])
            if url.startswith(PUBLIC):
                return url, None
        raise SystemExit("redirections go in a circle")

    def sign_in(self, name, to="/"):
        """Through the real identity server's own forms; what the server answers in the end."""
        url, page = self.follow(self.begin(to))
        while page:
            prompt = re.search(rb'name="prompt" value="(\w+)"', page.text).group(1).decode()
            answer = self.go("POST", url, {"prompt": prompt, "login": name, "password": "any"})
            check(answer.status in (302, 303), f"the identity server's form: {answer.status} {answer.text[:300]!r}")
            url, page = self.follow(urllib.parse.urljoin(url, answer.headers["Location"]))
        return self.go("GET", url)


class IdentityServer:
    """The real one."""

    def __init__(self):
        self.process = subprocess.Popen(["node", os.path.join(WEB, "identity_server.mjs"), SECRET, f"{PUBLIC}/sign-in/done"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.issuer = self.process.stdout.readline().strip()
        check(self.issuer.startswith("http://"), "the identity server did not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def encode(data):
    return base64.urlsafe_b64encode(data if isinstance(data, bytes) else json.dumps(data).encode()).rstrip(b"=")


class Liar:
    """An identity server whose tokens are what `self.lie(token)` makes of an honest one; not a copy of any real one's behaviour."""

    def __init__(self, certificate=None):
        """Over HTTPS with a certificate: files of it and of its key."""
        for name in ("own", "other"):
            subprocess.run(["openssl", "genrsa", "-out", f"{name}.pem", "2048"], check=True, stderr=subprocess.DEVNULL)
        said = subprocess.run(["openssl", "rsa", "-in", "own.pem", "-noout", "-modulus"], check=True, capture_output=True, text=True).stdout
        self.key = {"kty": "RSA", "use": "sig", "kid": "one", "e": "AQAB", "n": encode(bytes.fromhex(said.strip().split("=")[1])).decode()}
        self.answer = None
        self.nonce = ""
        liar = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def say(self, value, status=200, headers=None):
                body = value if isinstance(value, bytes) else json.dumps(value).encode()
                self.send_response(status)
                for name, text in {"Content-Type": "application/json", "Content-Length": len(body), **(headers or {})}.items():
                    self.send_header(name, str(text))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                if self.path == "/keys":
                    self.say({"keys": [liar.key]})
                else:
                    self.say({"issuer": liar.issuer, "authorization_endpoint": f"{liar.issuer}/authorize", "token_endpoint": f"{liar.issuer}/token",
                              "jwks_uri": f"{liar.issuer}/keys"})

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                self.say(*liar.answer(liar))

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http{'s' if certificate else ''}://127.0.0.1:{self.server.server_port}"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def claims(self, **changes):
        now = int(time.time())
        honest = {"iss": self.issuer, "aud": CLIENT, "sub": "1", "nonce": self.nonce, "iat": now, "exp": now + 300, "email": "ann@example.org",
                  "email_verified": True}
        return {name: value for name, value in {**honest, **changes}.items() if value is not None}

    def token(self, claims=None, header=None, key="own.pem", algorithm="RS256"):
        head = encode({"alg": algorithm, "kid": "one", **(header or {})})
        text = head + b"." + encode(claims or self.claims())
        if algorithm == "none":
            signature = b""
        elif algorithm == "HS256":
            signature = hmac.new(json.dumps(self.key).encode(), text, hashlib.sha256).digest()
        else:
            signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", key], input=text, check=True, capture_output=True).stdout
        return (text + b"." + encode(signature)).decode()
