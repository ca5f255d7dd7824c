#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
token_address.py FASTGATE: a checkout alone cannot make fastgate send a secret to an address, or
read one from a variable.
"""
import glob
import os
import sys

from checks import call, check, finish_in_scratch, write
from receiver import refusing

FASTGATE = os.path.abspath(sys.argv[1])
URL, SEEN = refusing()
SECRETS = {"CLOUD_KEY": "cloud-secret", "GITHUB_TOKEN": "github-secret", "PERFDB_TOKEN": "perfdb-secret",
           "FASTGATE_HOOK": "hook-secret"}
CONFIG = """version: 1
project: tracker
benchmarks:
  - { name: quick, command: "true" }
measure:
  { schedule: abba, pairs: { min: 2, max: 2 }, warmup: 0, layouts: never, sampler: { enabled: false } }
"""


def asked(*words, **more):
    """Runs a command; returns the receiver's requests and the result."""
    SEEN.clear()
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("PERFDB_", "FASTGATE_", "GITHUB_"))}
    done = call(FASTGATE, *words, env={**environment, **SECRETS, **more})
    return "".join(SEEN), done


def checkout_alone_names_no_address(url):
    """
    Tries each command that sends a run, with a server named only by the checkout, then with one
    that the user has named as well.
    """
    write("fastgate.yml", CONFIG + f"perfdb: {{ url: \"{url}\" }}\n")
    call(FASTGATE, "run", "--shard", "1/1", "--export", "part.fgrun", check=True)
    push = ("push", "--attempts", "1")
    for words in (("run",), ("gate", "--merge", "part.fgrun"), push):
        seen, done = asked(*words)
        lines = [line for line in done.stderr.splitlines()
                 if "PERFDB_TOKEN" in line and url in line and "PERFDB_URL" in line]
        check(not seen, f"{words[0]}: the address of the checkout was asked:\n{seen}")
        check(len(lines) == 1, f"{words[0]}: no one line says why nothing was sent: {done.stderr}")
        check(done.returncode == (2 if words == push else 0),
              f"{words[0]}: exit code {done.returncode}: {done.stderr}")
        seen, done = asked(*words, PERFDB_URL="https://perfdb.example.org")
        check(not seen, f"{words[0]}: the checkout's server was asked although the user has another")
        for allowed in ({"PERFDB_URL": url}, {"FASTGATE_TRUSTED_URLS": f"https://x.example.org/, {url}"},
                        {"FASTGATE_PERFDB_URL": url}):
            seen, done = asked(*words, **allowed)
            check("Authorization: Bearer perfdb-secret" in seen,
                  f"{words[0]}, {allowed}: the user's server got no token: {done.stderr}")
    check(glob.glob(".fastgate/spool/*.fgrun"), "what was not sent is not in the spool")
    for trap in (url + "0", url.replace("http://", "http://x@"), url + "@evil.example.org"):
        seen, done = asked(*push, FASTGATE_TRUSTED_URLS=trap)
        check(not seen, f"'{trap}' was taken for the checkout's address")
    seen, done = asked(*push, "--when-possible")
    check(not seen and done.returncode == 0 and "warning: not sent" in done.stderr,
          f"--when-possible: {done.returncode} {done.stderr}")
    seen, done = asked(*push, "--when-possible", "--set", "perfdb.upload=required")
    check(done.returncode == 5, f"--when-possible, required: {done.returncode} {done.stderr}")
    seen, done = asked(*push, "--url", url, "--token-env", "CLOUD_KEY",
                       PERFDB_URL="https://perfdb.example.org")
    check("cloud-secret" in seen, f"the command line is not obeyed: {done.stderr}")
    seen, done = asked(*push, PERFDB_TOKEN="")
    check(seen and "Authorization" not in seen,
          f"without a token nothing was sent, or something else: {seen} {done.stderr}")
    write("fastgate.yml", CONFIG)
    seen, done = asked(*push, PERFDB_URL=url)
    check("Authorization: Bearer perfdb-secret" in seen,
          f"PERFDB_URL alone is not an address: {done.stderr}")


def checkout_alone_names_no_variable(url):
    """The checkout names a variable: only variables meant for it may be used."""
    push = ("push", "--attempts", "1")
    for name in ("CLOUD_KEY", "GITHUB_TOKEN", "HOME", "XPERFDB_TOKEN"):
        write("fastgate.yml", CONFIG + f"perfdb: {{ url: \"{url}\", token_env: {name} }}\n")
        seen, done = asked(*push, PERFDB_URL=url)
        check(done.returncode == 2 and f"FASTGATE_TRUSTED_VARIABLES={name}" in done.stderr,
              f"{name}: {done.returncode} {done.stderr}")
        check(not seen, f"{name}: the server was asked")
    write("fastgate.yml", CONFIG + f"perfdb: {{ url: \"{url}\", token_env: CLOUD_KEY }}\n")
    seen, done = asked(*push, FASTGATE_TRUSTED_VARIABLES="OTHER, CLOUD_KEY", PERFDB_URL=url)
    check("cloud-secret" in seen, f"what the user allows is not sent: {done.stderr}")
    seen, done = asked(*push, FASTGATE_TRUSTED_VARIABLES="OTHER, CLOUD_KEY")
    check(not seen, "an allowed variable went to the checkout's address")


def checkout_alone_calls_no_webhook(url):
    """Nothing is signed for an address that only the checkout names."""
    target = f'{{ webhook: "{url}/hook", token_env: FASTGATE_HOOK }}'
    write("fastgate.yml", CONFIG + f"report: {{ post: [ {target} ] }}\n")
    for words in (("run",), ("gate", "--merge", "part.fgrun")):
        seen, done = asked(*words)
        check(not seen and "FASTGATE_TRUSTED_URLS" in done.stderr,
              f"{words[0]}: a checkout's webhook: {seen} {done.stderr}")
        seen, done = asked(*words, FASTGATE_TRUSTED_URLS=url)
        check("X-Fastgate-Signature-256" in seen and "hook-secret" not in seen,
              f"{words[0]}: the user's webhook: {seen} {done.stderr}")
        seen, done = asked(*words, "--set", f"report.post=[{target}]")
        check("X-Fastgate-Signature-256" in seen,
              f"{words[0]}: the command line's webhook: {seen} {done.stderr}")


def attack():
    for tried in (checkout_alone_names_no_address, checkout_alone_names_no_variable,
                  checkout_alone_calls_no_webhook):
        tried(URL)


finish_in_scratch(attack)
