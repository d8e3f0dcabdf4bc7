# SPDX-License-Identifier: BSD-3-Clause
"""The hostile surroundings of surroundings_table.py, as lines of the shell.

`around` comes before `trefoil run`, so that the launcher is in them, too; `each` comes before each rank. What they surround is
"$@", which is run after the last line. $FOLDER is the job's folder, $TOOLS that of the helping programs.
"""
import dataclasses
import shlex

NOBODY = "setpriv --reuid 65534 --regid 65534 --clear-groups"
POWERLESS = f"{NOBODY} --no-new-privs --inh-caps=-all --bounding-set=-all"
MOUNTS = "unshare --mount --propagation private"
PROCESSES = f"{MOUNTS} --pid --fork --kill-child --mount-proc"
# Ranks of one machine that seem to be on several: they see and map nothing of each other's, and meet by the network.
OTHER_HOST = f"{PROCESSES} --uts --ipc"
OTHER_MEMORY = "mount -t tmpfs tmpfs /dev/shm"
OTHER_BOOT = """
echo 11111111-2222-3333-4444-555555555555 > $FOLDER/boot$TREFOIL_RANK
mount --bind $FOLDER/boot$TREFOIL_RANK /proc/sys/kernel/random/boot_id"""
NO_SHM = """mkdir $FOLDER/dev; mount -t tmpfs tmpfs $FOLDER/dev
for name in null zero full random urandom tty; do touch $FOLDER/dev/$name; mount --bind /dev/$name $FOLDER/dev/$name; done
mount --rbind $FOLDER/dev /dev"""
READ_ONLY = "mount --bind $FOLDER $FOLDER; mount -o remount,ro,bind /; cd /"
# Whoever is in the group when it is removed would keep it; so this shell leaves it first.
QUOTA = """
top=$(awk '$3 == "cgroup2" && !v2 {v2 = $2} $3 == "cgroup" && $4 ~ /(^|,)cpu(,|$)/ {v1 = $2} END {print v1 ? v1 : v2}' /proc/mounts)
group=$top/trefoil-$$; mkdir $group
if [ -e $group/cpu.max ]; then echo "QUOTA 100000" > $group/cpu.max; else echo QUOTA > $group/cpu.cfs_quota_us; fi
echo $$ > $group/cgroup.procs
"$@"; code=$?
echo $$ > $top/cgroup.procs; rmdir $group; exit $code"""
HAS_QUOTAS = "[ -w /sys/fs/cgroup/cpu/cpu.cfs_quota_us ] || grep -qw cpu /sys/fs/cgroup/cgroup.subtree_control"
NET, LO_UP = "unshare --net", "ip link set lo up"
# What engines deny in their default settings.
ENGINES_DENY = "process_vm_readv,process_vm_writev,mbind,get_mempolicy,set_mempolicy,move_pages,io_uring_setup,perf_event_open," \
               "ptrace,kcmp,userfaultfd"


@dataclasses.dataclass
class Surroundings:
    group: str
    name: str
    around: str = ""
    each: str = ""
    space: str = ""  # a command that starts another one: before the lines of `around`
    each_space: str = ""
    half: bool = False  # what is said of each is so for the upper half of the ranks
    variables: dict = dataclasses.field(default_factory=dict)
    fails: str = ""  # over these transports, or "*", results need not come: an error in words will do
    says: str = ""  # what such an error must say, as a regular expression
    needs: str = ""  # a line of the shell that fails where they cannot be made

    def command(self, launch, program):
        """What starts the job: `launch` is the launcher's, `program` a rank's."""
        each = script(self.each_space, self.each)
        if self.half:
            each = f'[ $TREFOIL_RANK -ge 2 ] || exec "$@"\n{each}'
        return ["sh", "-c", script(self.space, self.around), "sh", *launch, "sh", "-c", each, "sh", *program]


def script(space, lines):
    lines += '\nexec "$@"'
    return f'exec {space} sh -c {shlex.quote(lines)} sh "$@"' if space else lines


def of(group, *rows):
    """Rows are a name and the arguments of Surroundings."""
    return [Surroundings(group, name, **how) for name, how in rows]


def limits(*rows):
    """Names, lines of the shell before each rank, over what results need not come, and what an error must say then."""
    return [Surroundings("limits", name, each=lines, fails=fails, says=says) for name, lines, fails, says in rows]


def denied(*rows):
    """By EPERM, as engines do, and by ENOSYS, as old kernels and sandboxes do."""
    return [Surroundings("system calls", f"{name}: {error}", each_space=f"$TOOLS/reliability_deny_calls {number} {calls}",
                         fails=fails, needs="$TOOLS/reliability_deny_calls 1 kcmp true")
            for name, calls, fails in rows for error, number in (("EPERM", 1), ("ENOSYS", 38))]


PROCESS = of(
    "processes",
    ("nothing is odd", {}),
    ("no /proc", dict(space=MOUNTS, around="mount -t tmpfs tmpfs /proc", fails="memory,ucx *")),
    ("/proc of another namespace", dict(space="unshare --pid --fork --kill-child", fails="memory")),
    ("/proc without sys", dict(space=PROCESSES, around="mount -t proc -o subset=pid proc /proc", fails="memory,ucx *")),
    ("hidepid", dict(space=PROCESSES, around="mount -t proc -o hidepid=2 proc /proc", each_space=NOBODY)),
    ("hidepid, a user each", dict(space=PROCESSES, around="mount -t proc -o hidepid=2 proc /proc", fails="memory",
                                  each_space="setpriv --reuid $((4000+TREFOIL_RANK)) --regid 4000 --clear-groups")),
    ("a user each", dict(each_space="setpriv --reuid $((4000+TREFOIL_RANK)) --regid 4000 --clear-groups", fails="memory")),
    ("closed to its own user", dict(space=POWERLESS, variables={"SURROUNDED_UNDUMPABLE": "1"}, fails="memory")),
    ("a container each, one name", dict(each_space=PROCESSES, fails="memory")),
    ("a container each, own memory", dict(each_space=OTHER_HOST, each=OTHER_MEMORY, fails="memory")),
    ("user namespace, root", dict(space=f"{PROCESSES} --user --map-root-user")),
    ("user namespace, nobody", dict(space="unshare --user")),
    ("no name for the user", dict(space="setpriv --reuid 4242 --regid 4242 --clear-groups")),
    ("no capabilities", dict(space=POWERLESS)),
    ("addresses not random", dict(space="setarch -R")),
    ("data are executable", dict(space="setarch -X")),
    ("kernel calls itself 2.6", dict(space="setarch --uname-2.6")),
)
HOSTS = of(
    "hosts",
    ("two hosts, one name", dict(each_space=OTHER_HOST, each=OTHER_MEMORY + OTHER_BOOT, half=True, fails="memory")),
    ("two hosts, one boot id", dict(each_space=OTHER_HOST, each=f"hostname other\n{OTHER_MEMORY}", half=True, fails="memory")),
    ("two hosts alike in both", dict(each_space=OTHER_HOST, each=OTHER_MEMORY, half=True, fails="memory")),
    ("one host, two names", dict(each_space="unshare --uts", each="hostname other", half=True)),
    ("one host, two boot ids", dict(each_space=MOUNTS, each=OTHER_BOOT, half=True, fails="memory")),
    ("boot id unreadable", dict(space=MOUNTS, around="mount --bind /dev/null /proc/sys/kernel/random/boot_id", fails="memory")),
    ("boot id unreadable on half", dict(each_space=MOUNTS, each="mount --bind /dev/null /proc/sys/kernel/random/boot_id", half=True,
                                        fails="memory")),
    ("host name of 64 bytes", dict(space="unshare --uts", around=f"hostname {'h' * 64}", fails="ucx *", says="name has 64 bytes")),
    ("host name odd", dict(space="unshare --uts", around="hostname 'a b:c,d=e'")),
    ("host name empty", dict(space="unshare --uts", around="hostname ''")),
    ("no /etc/hosts", dict(space=MOUNTS, around="for f in hosts resolv.conf nsswitch.conf passwd; do mount --bind /dev/null /etc/$f; done")),
)
FILES = of(
    "files",
    ("standard input closed", dict(around="exec 0<&-", each="exec 0<&-")),
    ("standard output closed", dict(around="exec 1>&-", each="exec 1>&-")),
    ("standard error closed", dict(around="exec 2>&-", each="exec 2>&-")),
    ("descriptors 0 to 2 closed", dict(each="exec 0<&- 1>&- 2>&-", variables={"TREFOIL_LOG": "debug"})),
    ("descriptors 0 to 2 closed for all", dict(around="exec 0<&- 1>&- 2>&-", each="exec 0<&- 1>&- 2>&-")),
    ("output to /dev/full", dict(each="exec >/dev/full 2>&1", variables={"TREFOIL_LOG": "debug"})),
    ("/dev/shm of 64 KiB", dict(space=MOUNTS, around="mount -t tmpfs -o size=64k tmpfs /dev/shm")),
    ("/dev/shm full", dict(space=MOUNTS, around="mount -t tmpfs -o size=1m tmpfs /dev/shm; head -c 2M /dev/zero > /dev/shm/full || true")),
    ("/dev/shm read-only", dict(space=MOUNTS, around="mount -t tmpfs -o ro tmpfs /dev/shm")),
    ("/dev/shm missing", dict(space=MOUNTS, around=NO_SHM)),
    ("/dev/shm noexec", dict(space=MOUNTS, around="mount -t tmpfs -o noexec,nosuid,nodev tmpfs /dev/shm")),
    ("/dev/shm of another user", dict(space=MOUNTS, around="mount -t tmpfs -o mode=0700 tmpfs /dev/shm", each_space=NOBODY)),
    ("another user's leftovers", dict(space=f"{PROCESSES}", around="""mount -t tmpfs -o mode=1777 tmpfs /dev/shm
for pid in $(seq 60); do for name in $pid:0:0 $pid:65534:0:0 fi_shm_$pid ucx_shm_posix_$pid trefoil_$pid trefoil-$pid; do
  (umask 077; echo old > /dev/shm/$name; echo old > ${TMPDIR:-/tmp}/$name); done; done""", each_space=NOBODY)),
    ("read-only file systems", dict(space=MOUNTS, around=READ_ONLY + "\nmount -o remount,ro /dev/shm || mount -t tmpfs -o ro tmpfs /dev/shm")),
    ("read-only root", dict(space=MOUNTS, around=READ_ONLY)),
    ("no working directory", dict(around="mkdir $FOLDER/gone; cd $FOLDER/gone; rmdir $FOLDER/gone")),
    ("HOME and TMPDIR missing", dict(around="unset HOME TMPDIR")),
    ("HOME and TMPDIR are no folders", dict(around="HOME=/nowhere TMPDIR=/nowhere/at/all XDG_RUNTIME_DIR=/nowhere; export HOME TMPDIR XDG_RUNTIME_DIR")),
    ("HOME and TMPDIR read-only", dict(space=MOUNTS, around="mkdir $FOLDER/ro; mount -t tmpfs -o ro tmpfs $FOLDER/ro; HOME=$FOLDER/ro TMPDIR=$FOLDER/ro; "
                                                           "export HOME TMPDIR")),
    ("TMPDIR of 4000 letters", dict(around=f"TMPDIR=/tmp/{'t' * 4000}; export TMPDIR")),
    ("umask 0777", dict(around="umask 0777")),
    ("umask 0777, not root", dict(space=POWERLESS, around="umask 0777")),
)
FILES_LACK, MEMORY_LACKS = "descriptors|open files|Too many open", "memory"
LIMITS = limits(
    ("nofile 1024", "ulimit -n 1024", "", ""),
    ("nofile 64", "ulimit -n 64", "", ""),
    ("nofile 20", "ulimit -n 20", "ofi *,ucx *", FILES_LACK),
    ("nofile 8", "ulimit -n 8", "ofi *,ucx *", FILES_LACK),
    ("memlock 0", f'ulimit -l 0; exec {POWERLESS} "$@"', "", ""),
    ("fsize 0", "ulimit -f 0", "memory", "ulimit -f"),
    ("fsize 1 MiB", "ulimit -f 2048", "chosen,memory", "ulimit -f"),
    ("as 1 GiB", "ulimit -v 1048576", "", ""),
    ("as 256 MiB", "ulimit -v 262144", "ofi *,ucx *", MEMORY_LACKS),
    ("as 64 MiB", "ulimit -v 65536", "*", MEMORY_LACKS),
    ("data 32 MiB", "ulimit -d 32768", "ofi *,ucx *", MEMORY_LACKS),
    ("nproc 1", f'exec setpriv --reuid $((5000+TREFOIL_RANK)) --regid 5000 --clear-groups sh -c \'ulimit -p 1; exec "$@"\' sh "$@"',
     "memory,ucx *", "thread|same user"),
    ("stack 96 KiB", "ulimit -s 96", "", ""),
    ("stack unlimited", "ulimit -s unlimited", "", ""),
    ("core 0", "ulimit -c 0", "", ""),
    ("no signals queued", 'exec prlimit --sigpending=0 --msgqueue=0 --locks=0 "$@"', "", ""),
) + of(
    "limits",
    ("launcher's nofile 40", dict(around="ulimit -n 40", fails="*", says="descriptors")),
    ("launcher's nproc 2", dict(space="setpriv --reuid 5555 --regid 5555 --clear-groups", around="ulimit -p 2", fails="*", says="process")),
    ("launcher's as 64 MiB", dict(around="ulimit -v 65536", fails="*", says="memory|alloc")),
)
PROCESSORS = of(
    "processors",
    ("one core", dict(space="taskset -c 0")),
    ("quota of a fifth of a core", dict(around=QUOTA.replace("QUOTA", "20000"), needs=HAS_QUOTAS)),
    ("idle priority", dict(space="chrt --idle 0 nice -n 19")),
)
CALLS = denied(
    ("what engines deny", ENGINES_DENY, ""),
    ("process_vm_readv, _writev", "process_vm_readv,process_vm_writev", ""),
    ("membarrier", "membarrier", ""),
    ("mbind and its like", "mbind,get_mempolicy,set_mempolicy,move_pages", ""),
    ("memfd_create", "memfd_create", "memory"),
    ("io_uring, perf_event_open", "io_uring_setup,perf_event_open", ""),
    ("affinity", "sched_setaffinity,sched_getaffinity", "ofi *,ucx *"),
    ("pidfd_open, kcmp, close_range", "pidfd_open,kcmp,close_range", ""),
    ("eventfd2", "eventfd2", "ofi *,ucx *"),
    ("getrandom", "getrandom", ""),
    ("prlimit64", "prlimit64", ""),
    ("madvise, mlock", "madvise,mlock,mlock2", ""),
    ("shmget", "shmget", ""),
    ("statx, sysinfo, rseq", "statx,sysinfo,rseq", ""),
    ("netlink", "socket:16", "ofi *,ucx *"),
)
CLOCKS = of(
    "clock",
    ("5 hours ahead on half", dict(each="export LD_PRELOAD=$TOOLS/libreliability_other_clock.so OTHER_CLOCK=18000", half=True)),
    ("in 1970 on half", dict(each="export LD_PRELOAD=$TOOLS/libreliability_other_clock.so OTHER_CLOCK=-$(date +%s)", half=True)),
    ("in 2106", dict(each="export LD_PRELOAD=$TOOLS/libreliability_other_clock.so OTHER_CLOCK=2600000000")),
    ("monotonic 10 hours ahead on half", dict(each_space="unshare --time --fork --kill-child --monotonic 36000 --boottime 36000", half=True, fails="memory")),
)
TEXT = of(
    "environment",
    ("decimal comma", dict(around="localedef -i de_DE -f UTF-8 $FOLDER/de_DE.UTF-8; export LOCPATH=$FOLDER LC_ALL=de_DE.UTF-8",
                           variables={"TREFOIL_TIMEOUT": "10.5", "TREFOIL_MODEL": "message=1.5us,byte=0.25ns"},
                           needs="[ -e /usr/share/i18n/locales/de_DE ]")),
    ("Turkish letters", dict(around="localedef -i tr_TR -f UTF-8 $FOLDER/tr_TR.UTF-8; export LOCPATH=$FOLDER LC_ALL=tr_TR.UTF-8",
                             needs="[ -e /usr/share/i18n/locales/tr_TR ]")),
    ("locale unknown", dict(around="export LC_ALL=xx_YY.UTF-99 LANG=nonsense LANGUAGE=::")),
    ("no PATH", dict(each="unset PATH")),
    ("environment empty", dict(each='exec env -i TREFOIL_RANK=$TREFOIL_RANK TREFOIL_SIZE=$TREFOIL_SIZE TREFOIL_STORE=$TREFOIL_STORE '
                                    'TREFOIL_TOKEN=$TREFOIL_TOKEN "$@"')),
    ("environment of 1 MB", dict(around="export BIG1=$(head -c 100000 /dev/zero | tr '\\0' x)\nfor i in 2 3 4 5 6 7 8 9; do export BIG$i=$BIG1; done")),
    ("environment of 5000 names", dict(around='for i in $(seq 5000); do export NAME_$i=$i; done')),
    ("names without values, lines", dict(around="export TREFOIL_= OMPI_=x PMI_=x SLURM_=x PMIX_= WITH_LINE=\"a\nb\"")),
)
SIGNALS = of(
    "signals",
    ("SIGPIPE ignored", dict(space="env --ignore-signal=PIPE")),
    ("SIGCHLD ignored", dict(space="env --ignore-signal=CHLD")),
    ("all ignored", dict(space="env --ignore-signal")),
    ("all blocked", dict(space="env --block-signal")),
    ("all blocked for each", dict(each_space="env --block-signal")),
    ("nohup", dict(space="nohup", around="exec </dev/null")),
    ("a session each", dict(each_space="setsid --wait")),
)
NETWORKS = of(
    "network",
    ("lo alone", dict(space=NET, around=LO_UP)),
    ("lo down", dict(space=NET, fails="*", says="127\\.0\\.0\\.1|network|Network|connect|address|interface")),
    ("no IPv6", dict(space=NET, around=f"echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6\n{LO_UP}")),
    ("no 127.0.0.1", dict(space=NET, around=f"{LO_UP}; ip address del 127.0.0.1/8 dev lo", fails="*")),
    ("MTU 576", dict(space=NET, around=f"{LO_UP}; ip link set lo mtu 576")),
    ("MTU 68", dict(space=NET, around=f"{LO_UP}; ip link set lo mtu 68")),
    ("an interface to nowhere", dict(space=NET, around=f"{LO_UP}; ip link add wan type veth peer name far; ip address add 10.9.9.9/24 dev wan; ip link set wan up; ip link set far up; "
                                     "ip route add default via 10.9.9.1", needs="unshare --net ip link add wan type veth peer name far")),
    ("an interface that is down", dict(space=NET, around=f"{LO_UP}; ip link add wan type veth peer name far; ip address add 10.9.9.9/24 dev wan",
                                       needs="unshare --net ip link add wan type veth peer name far")),
    ("40 ports", dict(space=NET, around=f"echo 40000 40039 > /proc/sys/net/ipv4/ip_local_port_range\n{LO_UP}", fails="*")),
    ("slow and lossy", dict(space=NET, around=f"{LO_UP}; tc qdisc add dev lo root netem delay 5ms loss 1%",
                            needs="unshare --net tc qdisc add dev lo root netem delay 5ms")),
    ("a network each", dict(each_space=NET, fails="*")),
)

ALL = PROCESS + HOSTS + FILES + LIMITS + PROCESSORS + CALLS + CLOCKS + TEXT + SIGNALS + NETWORKS
