#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
A proxy that only supports CONNECT, on any free port of this machine: it stands for the proxy
between a CI job and the world.
"""
import socket
import threading


def pass_on(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    finally:
        for side in (source, target):
            try:
                side.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def serve(client):
    head = b""
    while b"\r\n\r\n" not in head:
        data = client.recv(4096)
        if not data:
            return
        head += data
    line = head.split(b"\r\n")[0].decode()
    print(line, flush=True)
    method, target, _ = line.split(" ")
    host, port = target.rsplit(":", 1)
    if method != "CONNECT" or host != "127.0.0.1":
        client.sendall(b"HTTP/1.1 403 Forbidden\r\n\r\n")
        client.close()
        return
    server = socket.create_connection((host, int(port)))
    client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    threading.Thread(target=pass_on, args=(server, client), daemon=True).start()
    pass_on(client, server)


def main():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print("port", listener.getsockname()[1], flush=True)
        while True:
            client, _ = listener.accept()
            threading.Thread(target=serve, args=(client,), daemon=True).start()


main()
