# SPDX-License-Identifier: BSD-3-Clause
"""A bare Debian in a folder: only what debootstrap and apt-get put there. Commands run in it as on a machine of its own."""

import os
import pathlib
import shutil
import subprocess
import sys

LIMIT_SECONDS = 1200
MIRROR = "http://deb.debian.org/debian"
# Mounts of a namespace of its own, which end with the last process in it, so that none is left behind.
ENTER = """set -e
mount -t proc proc "$0/proc"
mount --rbind /dev "$0/dev"
mount -t tmpfs -o mode=1777 tmpfs "$0/dev/shm"
mount -t sysfs -o ro sysfs "$0/sys"
exec chroot "$@"
"""


def release():
    """The name of this machine's Debian, for which packages are that were made here; empty: it is no Debian."""
    lines = pathlib.Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    said = dict(line.split("=", 1) for line in lines if "=" in line)
    return said.get("VERSION_CODENAME", "") if said.get("ID") == "debian" else ""


def why_not():
    """What is missing to make one; empty: nothing."""
    if os.geteuid() != 0:
        return "only root can make a bare root"
    if not release():
        return "this machine is no Debian"
    if shutil.which("debootstrap", path=f"{os.environ['PATH']}:/usr/sbin") is None:
        return "there is no debootstrap (apt-get install debootstrap)"
    if subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True, check=False).returncode != 0:
        return "there are no namespaces of mounts"
    return ""


def made(folder):
    """One in that folder, made unless it is there already. Where it cannot be had the test is skipped."""
    reason = why_not()
    root = BareRoot(folder)
    if not reason and not (root.folder / "etc/apt").is_dir():
        failure = root.bootstrap()
        reason = failure and f"debootstrap could not make a bare root:\n{failure}"
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    return root


class BareRoot:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8",
                            "DEBIAN_FRONTEND": "noninteractive"}

    def bootstrap(self):
        """Why it could not be made; empty: it could."""
        command = ["debootstrap", "--variant=minbase", release(), str(self.folder), MIRROR]
        made = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_SECONDS,
                              check=False, env={**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin"})
        if made.returncode != 0:
            return made.stdout[-1000:]
        shutil.copy("/etc/resolv.conf", self.folder / "etc/resolv.conf")
        return ""

    def run(self, command, user="root", directory="/", limit=LIMIT_SECONDS, **variables):
        """(exit code, everything printed) of a line of the shell in it, which may take `limit` seconds."""
        inside = f"cd {directory} && {command}"
        enter = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, str(self.folder)]
        result = subprocess.run([*enter, f"--userspec={user}", str(self.folder), "sh", "-c", inside],
                                env={**self.environment, "HOME": "/root" if user == "root" else f"/home/{user}", **variables},
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                errors="replace", timeout=limit, check=False)
        return result.returncode, result.stdout

    def must(self, command, **how):
        print(f"$ {command}", file=sys.stderr, flush=True)
        code, output = self.run(command, **how)
        if code != 0:
            raise AssertionError(f"exit code {code} of {command}:\n{output[-3000:]}")
        return output

    def install(self, *packages):
        self.must("apt-get install --yes --no-install-recommends " + " ".join(packages))
