"""Engines of clusters on this machine, inside `sandbox`: all that they start ends with it. Each says what it needs."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

SCRATCH = pathlib.Path("/run/scratch")
PATIENCE = 60


class Missing(Exception):
    """Something is not installed."""


def need(*programs):
    """The Debian packages of the programs that are not here."""
    packages = {
        "slurmctld": "slurmctld",
        "slurmd": "slurmd",
        "srun": "slurm-client",
        "munged": "munge",
        "sshd": "openssh-server",
        "ssh": "openssh-client",
        "ip": "iproute2",
        "clush": "clustershell",
        "parallel": "parallel",
        "ansible": "ansible-core",
        "promtool": "prometheus",
    }
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    lacking = [name for name in programs if not shutil.which(name, path=path)]
    if lacking:
        raise Missing(f"{', '.join(lacking)} (apt-get install {' '.join(packages[name] for name in lacking)})")


def run(*command, **options):
    """Runs to the end, with what it says; fails if it does."""
    options = {"check": True, "timeout": 4 * PATIENCE, **options}
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)


def until(what, true):
    """Waits until it is true."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if true():
            return
        time.sleep(0.1)
    raise AssertionError(f"waited {PATIENCE} s in vain: {what}")


@contextlib.contextmanager
def daemon(*command, **options):
    """A process that stays in the foreground, ended by its id."""
    with open(SCRATCH / "daemons.log", "a") as log:
        process = subprocess.Popen(
            [str(word) for word in command], stdout=log, stderr=log, stdin=subprocess.DEVNULL, **options
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def slurm(count, settings=""):
    """slurmctld and `count` slurmd, named n1 and so on; yields their names."""
    need("slurmctld", "slurmd", "srun", "munged")
    folder = SCRATCH / "slurm"
    # An earlier slurmctld kept which of its nodes were drained.
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("state", "munge", "log"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    os.chmod(SCRATCH, 0o755)
    key, munge_socket = folder / "munge/key", folder / "munge/socket"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    host = socket.gethostname()
    conf = folder / "slurm.conf"
    conf.write_text(f"""\
ClusterName=contrib
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={munge_socket}
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SlurmdParameters=config_overrides
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/log/slurmctld
SlurmdSpoolDir={folder}/spool.%n
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdLogFile={folder}/log/slurmd.%n
ReturnToService=2
{settings}
NodeName=n[1-{count}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[17001-{17000 + count}] CPUs=2
PartitionName=all Nodes=ALL Default=YES State=UP
""")
    os.environ["SLURM_CONF"] = str(conf)
    names = [f"n{number}" for number in range(1, count + 1)]
    munged = ["munged", "--foreground", "--force", f"--key-file={key}", f"--socket={munge_socket}"]
    munged += [f"--pid-file={folder}/munged.pid", f"--log-file={folder}/log/munged", f"--seed-file={folder}/munge/seed"]
    with contextlib.ExitStack() as stack:
        stack.enter_context(daemon(*munged))
        until("munged listens", munge_socket.exists)
        stack.enter_context(daemon("slurmctld", "-D", "-f", conf))
        for name in names:
            stack.enter_context(daemon("slurmd", "-D", "-f", conf, "-N", name))
        until(
            "all nodes of Slurm are there", lambda: all(state(name) in ("idle", "drained", "drain") for name in names)
        )
        yield names


def state(node):
    """State of a node of Slurm, in one word; None if nobody answers."""
    said = run("timeout", "10", "sinfo", "-h", "-n", node, "-o", "%T", check=False).stdout.split()
    return said[0].rstrip("*") if said else None


@contextlib.contextmanager
def hosts(count):
    """Network namespaces with an sshd each, at addresses that only they have; yields these and the options for ssh."""
    need("ip", "sshd", "ssh")
    folder = SCRATCH / "hosts"
    folder.mkdir(parents=True)
    for key in ("host", "user"):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key)
    shutil.copy(folder / "user.pub", folder / "authorized_keys")
    config = folder / "sshd_config"
    config.write_text(f"""\
HostKey {folder}/host
AuthorizedKeysFile {folder}/authorized_keys
PermitRootLogin prohibit-password
PasswordAuthentication no
UsePAM no
StrictModes no
PidFile none
MaxStartups 100
""")
    run("ip", "link", "add", "hosts", "type", "bridge")
    run("ip", "address", "add", "10.203.0.254/24", "dev", "hosts")
    run("ip", "link", "set", "hosts", "up")
    with contextlib.ExitStack() as stack:
        names = []
        for number in range(1, count + 1):
            space, address = f"host{number}", f"10.203.0.{number}"
            run("ip", "netns", "add", space)
            stack.callback(run, "ip", "netns", "delete", space)
            run("ip", "link", "add", f"to{number}", "type", "veth", "peer", "name", "eth0", "netns", space)
            run("ip", "link", "set", f"to{number}", "master", "hosts", "up")
            run("ip", "-n", space, "link", "set", "lo", "up")
            run("ip", "-n", space, "address", "add", f"{address}/24", "dev", "eth0")
            run("ip", "-n", space, "link", "set", "eth0", "up")
            stack.enter_context(
                daemon(
                    "ip", "netns", "exec", space, shutil.which("sshd", path="/usr/sbin:/sbin"), "-D", "-e", "-f", config
                )
            )
            names.append(address)
        options = (
            f"-F none -i {folder}/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
        )
        back(names, options)
        yield names, options


def back(names, options):
    """Waits until all hosts let in; one that had left the network is taken back."""
    for number, name in enumerate(names, 1):
        run("ip", "-n", f"host{number}", "link", "set", "eth0", "up")
        ask = ["ssh", "-n", "-o", "ConnectTimeout=2", *options.split(), name, "true"]
        until(f"{name} lets in", lambda ask=ask: run(*ask, check=False).returncode == 0)


@contextlib.contextmanager
def ray(python, count):
    """A cluster of Ray on this machine, held by a process of its own; yields names and address."""
    (SCRATCH / "r").mkdir()
    holder = """
import sys, time
from ray.cluster_utils import Cluster
size = dict(num_cpus=1, object_store_memory=80 * 1024 * 1024)
cluster = Cluster(initialize_head=True, head_node_args=dict(size, include_dashboard=False, node_name="n1"))
for number in range(2, int(sys.argv[1]) + 1):
    cluster.add_node(node_name=f"n{number}", **size)
print(cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""
    with open(SCRATCH / "ray.log", "w") as log:
        process = subprocess.Popen(
            [python, "-c", holder, str(count)],
            env={**os.environ, "RAY_TMPDIR": str(SCRATCH / "r")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        address = process.stdout.readline().strip()
        if not address:
            raise AssertionError(f"Ray does not start: {(SCRATCH / 'ray.log').read_text()[-400:]}")
        yield [f"n{number}" for number in range(1, count + 1)], address
    finally:
        process.stdin.close()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
