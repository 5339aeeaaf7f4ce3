"""A small OpenID Connect issuer on loopback that can be told to lie, to be slow and to be gone.

It signs with the real openssl. `lie` names what is wrong with the next ID tokens; None is an honest one.
"""
import base64
import hashlib
import hmac
import http.server
import json
import os
import subprocess
import threading
import time
import urllib.parse


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def openssl(*arguments, stdin=None):
    return subprocess.run(["openssl", *arguments], input=stdin, check=True, capture_output=True).stdout


class Key:
    """RSA (RS256) or EC P-256 (ES256)."""

    def __init__(self, folder, name, kind="ec"):
        self.name, self.kind, self.file = name, kind, os.path.join(folder, f"issuer-{name}.pem")
        options = ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"] if kind == "rsa" else \
            ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        openssl("genpkey", *options, "-out", self.file)

    def jwk(self):
        der = openssl("pkey", "-in", self.file, "-pubout", "-outform", "DER")
        if self.kind == "ec":  # the point ends the DER of a public key
            return {"kty": "EC", "crv": "P-256", "kid": self.name, "use": "sig", "x": b64(der[-64:-32]), "y": b64(der[-32:])}
        modulus = openssl("rsa", "-in", self.file, "-noout", "-modulus").decode().strip().split("=")[1]
        return {"kty": "RSA", "kid": self.name, "alg": "RS256", "n": b64(bytes.fromhex(modulus)), "e": "AQAB"}

    def sign(self, claims):
        header = {"alg": "ES256" if self.kind == "ec" else "RS256", "kid": self.name, "typ": "JWT"}
        text = f"{b64(json.dumps(header).encode())}.{b64(json.dumps(claims).encode())}"
        signature = openssl("dgst", "-sha256", "-sign", self.file, stdin=text.encode())
        return f"{text}.{b64(self._raw(signature) if self.kind == 'ec' else signature)}"

    @staticmethod
    def _raw(der):
        """SEQUENCE of two INTEGERs -> r and s of 32 bytes each."""
        at, numbers = 2, b""
        for _ in range(2):
            size = der[at + 1]
            numbers += int.from_bytes(der[at + 2:at + 2 + size], "big").to_bytes(32, "big")
            at += 2 + size
        return numbers


class FakeIssuer:
    def __init__(self, folder, client_id="tidewatt", client_secret="s3cret", kind="ec"):
        self.client_id, self.client_secret = client_id, client_secret
        self.key, self.other_key = Key(folder, "k1", kind), Key(folder, "stranger", kind)
        self.other_key.name = "k1"
        self.lie, self.delay, self.groups, self.name = None, 0, ["admins"], "alice"
        self.codes, self.asked = {}, []
        issuer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                issuer.answer(self, None)

            def do_POST(self):
                issuer.answer(self, self.rfile.read(int(self.headers["Content-Length"])).decode())

            def log_message(self, *_):
                pass

        self.handler, self.port = Handler, 0
        self.start()

    def start(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), self.handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def authorize(self, url):
        """What the browser and the person at it do at the issuer: returns where it sends the browser back to."""
        asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))
        assert url.startswith(self.url + "/auth?"), url
        assert asked["response_type"] == "code" and asked["client_id"] == self.client_id, asked
        assert asked["code_challenge_method"] == "S256" and len(asked["code_challenge"]) == 43, asked
        assert "openid" in asked["scope"].split(), asked
        code = f"code-{len(self.codes)}"
        self.codes[code] = asked
        return asked["redirect_uri"] + "?" + urllib.parse.urlencode({"code": code, "state": asked["state"]})

    def answer(self, request, body):
        path = urllib.parse.urlsplit(request.path).path
        self.asked.append(path)
        time.sleep(self.delay)
        status, value = 404, {}
        if path == "/.well-known/openid-configuration":
            status, value = 200, {"issuer": self.url, "authorization_endpoint": self.url + "/auth", "token_endpoint": self.url + "/token",
                                  "jwks_uri": self.url + "/keys", "id_token_signing_alg_values_supported": ["ES256", "RS256"]}
        elif path == "/keys":
            status, value = 200, {"keys": [self.key.jwk()]}
        elif path == "/token" and body is not None:
            status, value = self.token(request, dict(urllib.parse.parse_qsl(body)))
        data = json.dumps(value).encode()
        try:
            request.send_response(status)
            request.send_header("Content-Type", "application/json")
            request.send_header("Content-Length", str(len(data)))
            request.end_headers()
            request.wfile.write(data)
        except OSError:
            pass  # the server had no patience

    def token(self, request, form):
        wanted = base64.b64encode(f"{self.client_id}:{self.client_secret}".encode()).decode()
        if request.headers.get("Authorization") != f"Basic {wanted}":
            return 401, {"error": "invalid_client"}
        asked = self.codes.pop(form.get("code"), None)
        challenge = b64(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if asked is None or asked["code_challenge"] != challenge or asked["redirect_uri"] != form.get("redirect_uri"):
            return 400, {"error": "invalid_grant"}
        return 200, {"access_token": "unused", "token_type": "Bearer", "id_token": self.id_token(asked["nonce"])}

    def id_token(self, nonce):
        now = int(time.time())
        claims = {"iss": self.url, "aud": self.client_id, "sub": "248289761001", "preferred_username": self.name, "iat": now, "exp": now + 300,
                  "nonce": nonce, "groups": self.groups}
        claims.update({"nonce": {"nonce": "another"}, "aud": {"aud": "another-client"}, "iss": {"iss": "https://evil.example"},
                       "expired": {"exp": now - 3600}, "early": {"nbf": now + 3600}}.get(self.lie, {}))
        if self.lie == "signature":
            return self.other_key.sign(claims)
        if self.lie in ("none", "hs256"):
            header = {"alg": "none"} if self.lie == "none" else {"alg": "HS256", "kid": "k1"}
            text = f"{b64(json.dumps(header).encode())}.{b64(json.dumps(claims).encode())}"
            secret = hmac.new(self.client_secret.encode(), text.encode(), "sha256").digest() if self.lie == "hs256" else b""
            return f"{text}.{b64(secret)}"
        return self.key.sign(claims)
