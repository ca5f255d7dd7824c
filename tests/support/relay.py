# SPDX-License-Identifier: Apache-2.0
"""
A mail relay (aiosmtpd) on a free loopback port: relay.py FOLDER [--auth USER:PASSWORD] [--tls CERTIFICATE KEY] [--refuse CODE].
It prints its port, and writes each mail into FOLDER as JSON.
"""
import asyncio
import json
import os
import ssl
import sys
from email import message_from_bytes, policy

from aiosmtpd.smtp import SMTP, AuthResult


class Keeper:
    """Takes mails, or refuses them with the code that was given once for each time it was."""

    def __init__(self, folder, refusals):
        self.folder = folder
        self.refusals = refusals
        self.count = 0

    async def handle_DATA(self, server, session, envelope):
        if self.refusals:
            return f"{self.refusals.pop(0)} not this one"
        mail = message_from_bytes(envelope.content, policy=policy.default)
        told = {"from": envelope.mail_from, "to": envelope.rcpt_tos, "headers": dict(mail.items()), "text": mail.get_body(("plain",)).get_content(),
                "tls": session.ssl is not None, "user": session.auth_data}
        self.count += 1
        path = os.path.join(self.folder, f"{self.count}.json")
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(told, file)
        os.rename(path + ".new", path)
        return "250 taken"


def option(name, count=1):
    """The words after an option; None: it is not there."""
    return sys.argv[sys.argv.index(name) + 1:sys.argv.index(name) + 1 + count] if name in sys.argv else None


def authenticator(_server, _session, _envelope, _mechanism, data):
    given = f"{data.login.decode()}:{data.password.decode()}"
    # Not handled: whoever is refused is told so, with 535.
    return AuthResult(success=given == option("--auth")[0], handled=False, auth_data=data.login.decode())


async def main():
    context = None
    if option("--tls", 2):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*option("--tls", 2))
    keeper = Keeper(sys.argv[1], (option("--refuse") or [""])[0].split())
    more = {"authenticator": authenticator, "auth_required": True, "auth_require_tls": context is not None} if option("--auth") else {}
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: SMTP(keeper, hostname="relay.example.org", tls_context=context, require_starttls=context is not None, **more), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
