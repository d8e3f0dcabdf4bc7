# SPDX-License-Identifier: BSD-3-Clause
# Shared by the scripts: says what it does, and installs Debian packages that are missing.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly root

# One line of progress.
say() { printf '==> %s\n' "$*"; }

# Ends the script with a reason.
die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# What a script needs: "command=PACKAGE", "library.pc=PACKAGE" (asked of pkg-config), "/header=PACKAGE" (below the include
# path), "python:MODULE=PACKAGE" (of the system's Python) or "sanitizer:NAME=PACKAGE" (clang's runtime of that name).
readonly build_needs=(
    g++=g++ cmake=cmake ninja=ninja-build pkg-config=pkg-config libfabric.pc=libfabric-dev
    ucx.pc=libucx-dev pmix.pc=libpmix-dev hwloc.pc=libhwloc-dev
    /CLI/CLI.hpp=libcli11-dev fmt.pc=libfmt-dev nlohmann_json.pc=nlohmann-json3-dev
)
readonly test_needs=(
    python3=python3 /gtest/gtest.h=libgtest-dev clang++=clang ld.lld=lld
    sanitizer:asan=libclang-rt-dev clang:omp.h=libomp-dev clang-format=clang-format nm=binutils
    mpirun.openmpi=openmpi-bin mpirun.mpich=mpich ompi-c.pc=libopenmpi-dev mpich.pc=libmpich-dev
    gfortran=gfortran debootstrap=debootstrap python:numpy=python3-numpy python:mpi4py=python3-mpi4py python:pip=python3-pip
    fftw3.pc=libfftw3-dev simgrid.pc=libsimgrid-dev gnuplot=gnuplot-nox jsonschema=python3-jsonschema chromium=chromium
)
# Of trefoil_micro, which is left out without.
readonly micro_needs=(benchmark.pc=libbenchmark-dev)
# Of scripts/site, which a test runs.
readonly site_needs=(python:sphinx=python3-sphinx python:myst_parser=python3-myst-parser python:furo=furo)
# Of scripts/torusnet, which tests use too.
readonly network_needs=(ip=iproute2 nft=nftables)

# on_debian ARGUMENT...: where `--on RELEASE` is among a script's arguments, runs it with the others on that release instead.
on_debian() {
    local release= others=()
    while (($#)); do
        if [[ $1 == --on ]]; then
            release=${2:-}
            [[ -n $release ]] || die "--on takes a release of Debian, such as trixie"
            shift
        else
            others+=("$1")
        fi
        shift
    done
    [[ -z $release ]] || exec "$root/scripts/on-debian" "$release" "$root/scripts/$(basename "$0")" "${others[@]}"
}

is_there() {
    case $1 in
        /*) [[ -e /usr/include$1 || -e /usr/local/include$1 ]] ;;
        python:*) /usr/bin/python3 -c "import ${1#*:}" 2>/dev/null ;;
        clang:*) echo "#include <${1#*:}>" | clang++ -fopenmp -fsyntax-only -x c++ - 2>/dev/null ;;
        sanitizer:*)
            command -v clang++ >/dev/null &&
                compgen -G "$(clang++ -print-resource-dir)/lib/linux/libclang_rt.${1#*:}-*.a" >/dev/null
            ;;
        *.pc) command -v pkg-config >/dev/null && pkg-config --exists "${1%.pc}" ;;
        *) PATH=$PATH:/usr/sbin command -v "$1" >/dev/null ;;
    esac
}

# require NEED...: installs the packages of those needs that are not there, and says what it skips.
require() {
    local need missing=() present=()
    for need in "$@"; do
        if is_there "${need%%=*}"; then
            present+=("${need#*=}")
        else
            missing+=("${need#*=}")
        fi
    done
    if ((${#present[@]})); then
        say "already there: ${present[*]}"
    fi
    if ((${#missing[@]})); then
        install_packages "${missing[@]}"
        for need in "$@"; do
            is_there "${need%%=*}" || die "${need#*=} is installed, but ${need%%=*} is still not found"
        done
    fi
}

install_packages() {
    command -v apt-get >/dev/null ||
        die "these Debian packages are missing and there is no apt-get; install their like: $*"
    local as_root=()
    if ((EUID != 0)); then
        command -v sudo >/dev/null || die "these packages are missing; install them as root: $*"
        as_root=(sudo)
    fi
    say "installing: $*"
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

# progress_of LOG: "n m", as ninja or ctest said it last; nothing before they have.
progress_of() {
    tail -c 20000 "$1" 2>/dev/null | grep -aoE '^\[[0-9]+/[0-9]+\]|^ *[0-9]+/[0-9]+ Test' | tail -n 1 | grep -oE '[0-9]+/[0-9]+' | tr / ' '
}

# show_progress LOG: on a terminal a line that moves, elsewhere a line a minute, for as long as the script that calls it lives.
show_progress() {
    local log=$1 began=$SECONDS said=$SECONDS n m text
    while sleep 1 && kill -0 $$ 2>/dev/null; do
        [[ -t 1 ]] || ((SECONDS - said >= 60)) || continue
        read -r n m < <(progress_of "$log") || continue
        text="$n of $m after $(in_minutes $((SECONDS - began)))"
        if ((SECONDS - began > 10 && n > 0 && n < m)); then
            text+=", about $(in_minutes $(((SECONDS - began) * (m - n) / n))) left"
        fi
        said=$SECONDS
        if [[ -t 1 ]]; then
            printf '\r\033[K    %s' "$text"
        else
            printf '    %s\n' "$text"
        fi
    done
}

# in_minutes SECONDS: such as 3:07 min.
in_minutes() { printf '%d:%02d min' $(($1 / 60)) $(($1 % 60)); }

# with_progress LOG COMMAND...: runs it, its output in LOG, and shows how far it is.
with_progress() {
    local log=$1 code=0 watcher
    shift
    : >"$log"
    show_progress "$log" &
    watcher=$!
    "$@" >"$log" 2>&1 || code=$?
    kill "$watcher" 2>/dev/null || true
    wait "$watcher" 2>/dev/null || true
    [[ ! -t 1 ]] || printf '\r\033[K'
    return "$code"
}

# configure PRESET [cmake arguments]: configures into build/PRESET.
configure() {
    say "configuring build/$1"
    cmake --preset "$@" -S "$root" >"$(log_of "configure-$1")" 2>&1 ||
        show_and_die "configuring $1" "$(log_of "configure-$1")"
}

# build PRESET [targets]: builds with one compiler per core.
build() {
    local preset=$1
    shift
    say "building build/$preset${*:+ ($*)}"
    with_progress "$(log_of "build-$preset")" \
        env NINJA_STATUS='[%f/%t] ' cmake --build "$root/build/$preset" ${1:+--target "$@"} --parallel "$(nproc)" ||
        show_and_die "building $preset" "$(log_of "build-$preset")"
}

# targets_of PRESET [ctest arguments]: the executables that the chosen tests start. ctest tells them only once they are built.
targets_of() {
    local preset=$1
    shift
    local tests=$root/build/$preset
    find "$tests" -name CTestTestfile.cmake -exec sed -n 's|^add_test(\[=*\[\([^]]*\)\]=*\] .*"[^"]*/\(test_[a-z0-9_]*\)".*|\1 \2|p' {} + |
        awk 'NR == FNR { chosen[$1]; next } $1 in chosen { print $2 }' \
            <(ctest --test-dir "$tests" --show-only "$@" | sed -n 's/^ *Test *#[0-9]*: \([^ ]*\).*/\1/p') - | sort -u
}

log_of() {
    mkdir -p "$root/build/logs"
    printf '%s/build/logs/%s.log\n' "$root" "$1"
}

show_and_die() {
    tail -n 60 "$2" >&2
    die "$1 failed; the whole output is in $2"
}
