# SPDX-License-Identifier: BSD-3-Clause
# Makes the root of a bare Debian in a folder, from the mirrors that apt uses here. The script that sources this defines
# `cannot REASON`, which ends it with 77.

readonly debootstrap_seconds=1200

# Lines of a sources.list for release $1, as this machine's for its own: with the same mirrors and parts.
debian_sources() {
    local here
    here=$(. /etc/os-release && [[ $ID == debian ]] && echo "${VERSION_CODENAME:-}") ||
        cannot "this machine is not Debian, so apt's mirrors are not Debian's"
    # Packages of backports are newer ones than the release's.
    apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
        awk -v here="$here" -v there="$1" '
            $2 == here || $2 ~ "^" here "-(updates|security)$" { sub("^" here, there, $2); print "deb", $0 }' | sort -u
}

# What apt was told here of the way to its mirrors.
ways_to_mirrors() { apt-config dump | grep -E '^Acquire::(https?::Proxy|Check-Valid-Until|Check-Date|Retries) ' || true; }

# new_debian_root RELEASE FOLDER: makes the root there, which replaces what the folder held.
new_debian_root() {
    local release=$1 place=$2 log mirror list
    ((EUID == 0)) || cannot "only root can make and enter a root"
    unshare --mount --pid --fork true 2>/dev/null || cannot "this machine does not give namespaces"
    require debootstrap=debootstrap >&2
    list=$(debian_sources "$release")
    if [[ -z $list ]]; then # apt knows its mirrors' releases only after an update
        apt-get update -qq >&2 || cannot "apt-get update failed"
        list=$(debian_sources "$release")
    fi
    mirror=$(awk -v there="$release" '$3 == there { print $2; exit }' <<<"$list")
    [[ -n $mirror ]] || cannot "apt's sources name no mirror of Debian"
    log=$(log_of "debootstrap-$release")
    say "making $place with debootstrap; its output is in $log" >&2
    rm -rf --one-file-system "$place"
    # In a namespace, since it mounts what a killed one would leave.
    PATH=$PATH:/usr/sbin timeout --kill-after=10 "$debootstrap_seconds" \
        unshare --mount --pid --fork --kill-child --mount-proc \
        debootstrap --variant=minbase "$release" "$place" "$mirror" >"$log" 2>&1 || {
        tail -n 5 "$log" >&2
        rm -rf --one-file-system "$place"
        cannot "debootstrap failed, or took more than $((debootstrap_seconds / 60)) minutes"
    }
    rm -rf "$place"/etc/apt/sources.list.d/*
    printf '%s\n' "$list" >"$place/etc/apt/sources.list"
    ways_to_mirrors >"$place/etc/apt/apt.conf.d/90here"
}
