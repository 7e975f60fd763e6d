"""A server of OpenSSH on this machine, for tests: an ordinary user's, with keys and a port of its own."""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from suites.meta.processes import descendants

_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
_SERVER = """
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
"""
_CLIENT = """
Host loopback
HostName 127.0.0.1
Port {port}
User {user}
IdentityFile {folder}/user
IdentitiesOnly yes
UserKnownHostsFile {folder}/known
StrictHostKeyChecking no
BatchMode yes
LogLevel ERROR
"""


class NoServer(Exception):
    """There can be no server here; the message says why."""


@dataclass(frozen=True)
class Server:
    """A server that runs. ``gateway`` is what reaches this very interpreter through it."""

    pid: int
    gateway: str

    def stall(self) -> None:
        """Stop all that serves connections, with all that they started, as when a machine is suspended."""
        self._signal(descendants(self.pid), signal.SIGSTOP)

    def kill(self) -> None:
        """End the server, its connections and all that they started."""
        self._signal({self.pid, *descendants(self.pid)}, signal.SIGKILL)

    def _signal(self, processes: set[int], which: signal.Signals) -> None:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, which)


@contextlib.contextmanager
def served(folder: Path) -> Iterator[Server]:
    """Return a server whose keys and settings are in ``folder``, an empty one; raises NoServer."""
    command, keygen = (_found(name) for name in ("sshd", "ssh-keygen"))
    _found("ssh")
    for name in ("host", "user"):
        subprocess.run([keygen, "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name, text in (("server", _SERVER), ("client", _CLIENT)):
        (folder / name).write_text(text.format(folder=folder, port=port, user=getpass.getuser()))
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # root's server wants it, and in a container nothing has made it
    with (folder / "log").open("w") as log:
        process = subprocess.Popen([command, "-D", "-e", "-f", folder / "server"], stderr=log)
    python = f"python={sys.executable}"
    server = Server(process.pid, f"ssh=loopback//ssh_config={folder / 'client'}//{python}")
    try:
        _wait(port, process, folder / "log")
        yield server
    finally:
        server.kill()
        process.wait()


def _found(name: str) -> str:
    found = shutil.which(name, path=_PATH)
    if found is None:
        raise NoServer(f"there is no {name}; Debian's openssh-server has it")
    return found


def _wait(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(100):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise NoServer(f"sshd does not start: {log.read_text().strip()}")
