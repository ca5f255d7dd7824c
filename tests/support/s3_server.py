#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
S3-compatible storage on a free loopback port: s3_server.py FOLDER KEY_ID SECRET BUCKET.
OpenStack Swift with its S3 API, all of its servers in one process and one copy of everything: it checks each signature and
the digest of each body. Prints its address once the bucket is there.
"""
import os
import socket
import sys

import eventlet
from checks import HUNG_S
from eventlet import wsgi

eventlet.monkey_patch()
from swift.common import utils  # noqa: E402

FOLDER, KEY_ID, SECRET, BUCKET = sys.argv[1:5]
CONFIGURATION = os.path.join(FOLDER, "swift.conf")
utils.SWIFT_CONF_FILE = CONFIGURATION


class Cache(dict):
    """What memcached is to a cluster."""

    def __bool__(self):
        return True

    def get(self, key, *_, **__):
        return dict.get(self, key)

    def set(self, key, value, *_, **__):
        self[key] = value

    def delete(self, key, *_, **__):
        self.pop(key, None)

    def incr(self, key, delta=1, *_, **__):
        self[key] = dict.get(self, key, 0) + delta
        return self[key]


def listen():
    listener = eventlet.listen(("127.0.0.1", 0), backlog=128)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def serve(listener, app):
    eventlet.spawn(wsgi.server, listener, app, log=open(os.devnull, "w", encoding="ascii"), keepalive=True)


def make_ring(name, port):
    from swift.common.ring import RingBuilder
    builder = RingBuilder(2, 1, 1)
    builder.add_dev({"id": 0, "region": 1, "zone": 1, "weight": 1, "ip": "127.0.0.1", "port": port, "device": "disk",
                     "replication_ip": "127.0.0.1", "replication_port": port})
    builder.rebalance()
    builder.get_ring().save(os.path.join(FOLDER, f"{name}.ring.gz"))


def start_storage():
    from swift.account.server import AccountController
    from swift.container.server import ContainerController
    from swift.obj.server import ObjectController
    settings = {"devices": os.path.join(FOLDER, "devices"), "mount_check": "false", "swift_dir": FOLDER, "bind_ip": "127.0.0.1"}
    os.makedirs(os.path.join(FOLDER, "devices", "disk", "tmp"), exist_ok=True)
    for name, controller in (("account", AccountController), ("container", ContainerController), ("object", ObjectController)):
        listener = listen()
        make_ring(name, listener.getsockname()[1])
        serve(listener, controller({**settings, "bind_port": str(listener.getsockname()[1])}))


def make_proxy():
    from swift.common.middleware import tempauth
    from swift.common.middleware.s3api import s3api
    from swift.proxy.server import Application
    settings = {"swift_dir": FOLDER, "account_autocreate": "true", "allow_account_management": "true"}
    account, user = KEY_ID.split(":")
    app = Application(settings)
    for factory, more in ((tempauth.filter_factory, {f"user_{account}_{user}": f"{SECRET} .admin"}),
                          (s3api.filter_factory, {"auth_pipeline_check": "false", "allow_multipart_uploads": "false"})):
        app = factory(settings, **more)(app)
    cache = Cache()

    def with_cache(environ, start_response):
        environ["swift.cache"] = cache
        return app(environ, start_response)

    return with_cache


def make_bucket(address):
    """A bucket is a container of the user's account, which Swift's own interface makes."""
    def ask(method, path, headers):
        from urllib.request import Request, urlopen
        with urlopen(Request(address + path, method=method, headers=headers), timeout=HUNG_S) as answer:
            return answer.headers

    token = ask("GET", "/auth/v1.0", {"X-Auth-User": KEY_ID, "X-Auth-Key": SECRET})["X-Auth-Token"]
    ask("PUT", f"/v1/AUTH_{KEY_ID.split(':')[0]}/{BUCKET}", {"X-Auth-Token": token, "Content-Length": "0"})


def main():
    os.makedirs(FOLDER, exist_ok=True)
    with open(CONFIGURATION, "w", encoding="ascii") as file:
        file.write("[swift-hash]\nswift_hash_path_suffix = test\n\n[storage-policy:0]\nname = only\ndefault = yes\n")
    utils.validate_hash_conf()
    start_storage()
    listener = listen()
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    serve(listener, make_proxy())
    make_bucket(address)
    print(address, flush=True)
    while True:
        eventlet.sleep(3600)


main()
