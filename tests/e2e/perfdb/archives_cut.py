#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An archive whose line is cut, on its way to the server or back, goes on where it stopped, and is whole in the end or not there."""
import glob
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "security"))

from archive_requests import PIECE, PLACE, download, files, make, upload  # noqa: E402
from attack import FASTGATE, MAKE_RUNS, Server, expect, push, token  # noqa: E402
from checks import HUNG_S, call, check, finish_in_scratch  # noqa: E402
from cut_line import CutLine  # noqa: E402

LARGE = 20 << 20
SLACK = 1 << 20  # headers, questions, and what was on its way when the line was cut
OUTPUT = "fetched.tar.zst"


def environment(secret):
    return {**os.environ, "PERFDB_TOKEN": secret}


def send(url, secret, *words, attempts=1):
    return call(FASTGATE, "push", "--verbose", "--spool", "own-spool", "--attempts", str(attempts), "--url", url, *words, env=environment(secret))


def fetch_words(url, run):
    return [FASTGATE, "archive", "--verbose", "--fetch", run, "-o", OUTPUT, "--url", url]


def fetch(url, secret, run):
    return call(*fetch_words(url, run), env=environment(secret))


def parts():
    return glob.glob(OUTPUT + ".*.part")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def wait_for(condition, what):
    end = time.monotonic() + HUNG_S
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"never came: {what}")
        time.sleep(0.02)


def spool(data):
    """An archive of the run that waits to be sent, and how that run is named."""
    with open("client.tar.zst", "wb") as file:
        file.write(data)
    return "--archive", "client.tar.zst", os.path.join("spool-copy", os.listdir("spool-copy")[0])


def interrupted_upload_goes_on(server, admin, run):
    """The line is cut in the middle of the second piece; the next command sends the rest."""
    data = make("cut on its way up", LARGE)
    with CutLine(server.port, [("up", PIECE + PIECE // 2)], for_good=True) as line:
        done = send(line.url, admin, *spool(data))
        check(done.returncode == 5 and "archives: 0 sent, 0 already there, 1 waiting" in done.stderr, f"{done.returncode} {done.stderr}")
    expect(download(server, run, token=admin), 404, "half an archive")
    check(len(files()) == 1, f"{files()}")
    with CutLine(server.port) as line:
        done = send(line.url, admin)
        check(done.returncode == 0 and "goes on after 8.00 MiB of 20.0 MiB" in done.stderr, f"{done.returncode} {done.stderr}")
        check(line.up < LARGE - PIECE + SLACK, f"{line.up} bytes were sent: all of it again")
    check(download(server, run, token=admin).body == data and not os.listdir("own-spool"), "it is not there as it was")
    expect(server.ask("DELETE", f"/api/v1/archives/{run}", token=admin), 200, "removal")


def one_command_outlives_many_cuts(server, admin, run):
    """Each try brings a piece, so two attempts are enough for any number of cuts."""
    data = make("cut again and again", LARGE)
    cut = ("up", PIECE + PIECE // 2)
    with CutLine(server.port, [cut, cut]) as line:
        done = send(line.url, admin, *spool(data), attempts=2)
        check(done.returncode == 0, f"{done.returncode} {done.stderr}")
        check(line.up < LARGE + PIECE + SLACK, f"{line.up} bytes were sent")
    check(download(server, run, token=admin).body == data, "another thing came")
    expect(server.ask("DELETE", f"/api/v1/archives/{run}", token=admin), 200, "removal")


def server_that_dies_goes_on(admin, run):
    """Killed while a piece comes; started again, it has what was whole."""
    data = make("killed under way", LARGE)
    with Server(*PLACE) as server, CutLine(server.port, [("up", PIECE + PIECE // 2)], stalls=True) as line:
        process = subprocess.Popen([FASTGATE, "push", "--spool", "own-spool", "--attempts", "1", "--url", line.url, *spool(data)],
                                   env=environment(admin), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        wait_for(lambda: len(files()) == 1 and line.up >= PIECE + PIECE // 2, "half an archive")
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
        check(process.wait(HUNG_S) == 5, "the client took it for sent")
    with Server(*PLACE) as server, CutLine(server.port) as line:
        expect(download(server, run, token=admin), 404, "half an archive")
        done = send(line.url, admin)
        check(done.returncode == 0 and line.up < LARGE - PIECE + SLACK, f"{done.returncode} {done.stderr} {line.up}")
        check(download(server, run, token=admin).body == data, "another thing came")
    return data


def interrupted_download_goes_on(server, admin, run, data):
    """fastgate is killed in the middle; the same command fetches the rest."""
    half = LARGE // 2
    with CutLine(server.port, [("down", half)], stalls=True) as line:
        process = subprocess.Popen(fetch_words(line.url, run), env=environment(admin), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   stdin=subprocess.DEVNULL)
        wait_for(lambda: parts() and os.path.getsize(parts()[0]) > half - SLACK, "half an archive")
        process.kill()
        process.wait()
    check(len(parts()) == 1 and not os.path.exists(OUTPUT), f"half of it has the name of the whole: {os.listdir()}")
    with CutLine(server.port) as line:
        done = fetch(line.url, admin, run)
        check(done.returncode == 0 and "goes on after" in done.stderr, f"{done.returncode} {done.stderr}")
        check(line.down < half + 2 * SLACK, f"{line.down} bytes came: all of it again")
    check(read(OUTPUT) == data and not parts(), f"{os.listdir()}")


def one_command_fetches_over_a_bad_line(server, admin, run, data):
    with CutLine(server.port, [("down", 6 << 20)] * 3) as line:
        done = fetch(line.url, admin, run)
        check(done.returncode == 0 and read(OUTPUT) == data and not parts(), f"{done.returncode} {done.stderr}")
        check(line.down < LARGE + 4 * SLACK, f"{line.down} bytes came")


def leave_half(server, admin, run):
    """As a fastgate leaves it that is killed."""
    with CutLine(server.port, [("down", LARGE // 2)], stalls=True) as line:
        process = subprocess.Popen(fetch_words(line.url, run), env=environment(admin), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   stdin=subprocess.DEVNULL)
        wait_for(lambda: parts() and os.path.getsize(parts()[0]) > LARGE // 4, "a part")
        done = fetch(f"http://127.0.0.1:{server.port}", admin, run)
        check(done.returncode == 6 and "another process is fetching it" in done.stderr, f"two at once: {done.returncode} {done.stderr}")
        process.kill()
        process.wait()
    return parts()[0]


def what_lies_there_is_not_trusted(server, admin, run, data):
    url = f"http://127.0.0.1:{server.port}"
    part = leave_half(server, admin, run)
    with open(part, "r+b") as file:
        file.seek(1000)
        file.write(b"damage")
    done = fetch(url, admin, run)
    check(done.returncode == 0 and read(OUTPUT) == data and not parts(), f"a damaged part: {done.returncode} {done.stderr}")
    with open(part, "wb") as file:
        file.write(data + b"more")
    done = fetch(url, admin, run)
    check(done.returncode == 0 and read(OUTPUT) == data and not parts(), f"a part that is too long: {done.returncode} {done.stderr}")
    with open(part, "wb") as file:
        file.write(data)
    with CutLine(server.port) as line:
        done = fetch(line.url, admin, run)
        check(done.returncode == 0 and read(OUTPUT) == data and line.down < SLACK, f"a whole part: {done.returncode} {done.stderr}")
    for make_it in (lambda: os.symlink("elsewhere", part), lambda: os.link("client.tar.zst", part), lambda: os.mkfifo(part)):
        make_it()
        done = fetch(url, admin, run)
        check(done.returncode == 6 and part in done.stderr and not os.path.exists("elsewhere"), f"a planted part: {done.returncode} {done.stderr}")
        os.remove(part)
    check(read("client.tar.zst") == data, "another file was written to")


def changed_archive_begins_anew(server, admin, run):
    """Another archive took the run's place while half of the first lay here."""
    old = leave_half(server, admin, run)
    data = make("another", LARGE)
    expect(server.ask("DELETE", f"/api/v1/archives/{run}", token=admin), 200, "removal")
    expect(upload(server, run, data, token=admin), 201, "another archive")
    done = fetch(f"http://127.0.0.1:{server.port}", admin, run)
    check(done.returncode == 0 and "goes on after" not in done.stderr and read(OUTPUT) == data, f"{done.returncode} {done.stderr}")
    check(not os.path.exists(old) and not parts(), f"{os.listdir()}")


def damaged_archive_is_not_there(server, admin, run):
    os.remove(OUTPUT)
    with open(files()[0], "r+b") as file:
        file.seek(LARGE // 2)
        file.write(b"damage")
    done = fetch(f"http://127.0.0.1:{server.port}", admin, run)
    check(done.returncode == 5 and "is not the archive" in done.stderr, f"{done.returncode} {done.stderr}")
    check(not os.path.exists(OUTPUT) and not parts(), f"{os.listdir()}")
    done = fetch(f"http://127.0.0.1:{server.port}", admin, "no-such-run")
    check(done.returncode == 5 and "no-such-run" in done.stderr and not parts(), f"{done.returncode} {done.stderr}")


def body():
    admin = token("admin")
    subprocess.run([MAKE_RUNS, "spool-copy", "7", "1"], check=True)
    run = os.listdir("spool-copy")[0][:-6]
    with Server(*PLACE) as server:
        push(server, 2, secret=admin)
        interrupted_upload_goes_on(server, admin, run)
        one_command_outlives_many_cuts(server, admin, run)
    data = server_that_dies_goes_on(admin, run)
    with Server(*PLACE) as server:
        interrupted_download_goes_on(server, admin, run, data)
        one_command_fetches_over_a_bad_line(server, admin, run, data)
        what_lies_there_is_not_trusted(server, admin, run, data)
        changed_archive_begins_anew(server, admin, run)
        damaged_archive_is_not_there(server, admin, run)


finish_in_scratch(body)
