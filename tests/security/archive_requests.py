# SPDX-License-Identifier: Apache-2.0
"""What the attacks on archives share: an archive, requests for it, and what lies in the server's folder."""
import hashlib
import os
import re
import time

from checks import HUNG_S

TYPE = "application/vnd.fastgate.archive"
FOLDER = "archives"
PLACE = ("--archives", FOLDER)


def make(text, size=0):
    """What begins like a file packed with zstd: the server looks at no more."""
    return b"\x28\xb5\x2f\xfd" + (text * (size // len(text) + 1)).encode()


def digest_of(data):
    return hashlib.sha256(data).hexdigest()


def upload(server, run, data, digest=None, headers=None, **more):
    named = {"Content-Type": TYPE, "Content-SHA256": digest or digest_of(data), **(headers or {})}
    return server.ask("POST", f"/api/v1/archives/{run}", named, data, **more)


def download(server, run, **more):
    return server.ask("GET", f"/api/v1/archives/{run}", **more)


def files():
    return sorted(os.path.join(at, name) for at, _, names in os.walk(FOLDER) for name in names)


def bytes_taken(server):
    return int(re.search(rb"^perfdb_body_bytes_total (\d+)$", server.ask("GET", "/metrics").body, re.M).group(1))


def wait_for_bytes(server, count):
    """Until the server has taken so many bytes of bodies."""
    end = time.monotonic() + HUNG_S
    while bytes_taken(server) < count:
        if time.monotonic() > end:
            raise SystemExit("the bodies do not arrive")
        time.sleep(0.02)


def wait_for_room(server, run, size, secret):
    """Until the server has noticed that lines were closed, and has let go of what came by them: so many bytes fit."""
    end = time.monotonic() + HUNG_S
    while upload(server, run, make("nothing", size), digest=digest_of(b"something else"), token=secret).status == 503:
        if time.monotonic() > end:
            raise SystemExit("there is no room again")
        time.sleep(0.02)


PIECE = 8 << 20  # the server's


def ask_offset(server, run, data, **more):
    """Where the server goes on with this archive."""
    return server.ask("GET", f"/api/v1/archive-uploads/{run}?digest={digest_of(data)}&bytes={len(data)}", **more)


def send_piece(server, run, data, offset, piece=None, headers=None, **more):
    """The piece of `data` that begins there, or something else in its place."""
    body = data[offset:offset + PIECE] if piece is None else piece
    named = {"Content-Type": TYPE, "Content-SHA256": digest_of(body), "Archive-SHA256": digest_of(data), "Upload-Length": len(data),
             "Upload-Offset": offset, **(headers or {})}
    return server.ask("PATCH", f"/api/v1/archive-uploads/{run}", named, body, **more)
