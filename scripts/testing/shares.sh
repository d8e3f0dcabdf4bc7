# SPDX-License-Identifier: BSD-3-Clause
# The stages of scripts/test, and the shares into which what is not quick is divided.

failed=()
left_out=()
stage_names=()
stage_seconds=()

# stage NAME COMMAND...: runs it and remembers how long it took.
stage() {
    local name=$1 began=$SECONDS
    shift
    "$@"
    stage_names+=("$name")
    stage_seconds+=($((SECONDS - began)))
}

report_stages() {
    local i total=$((SECONDS > 0 ? SECONDS : 1))
    printf '%-36s %10s %6s\n' stage time share
    for i in "${!stage_names[@]}"; do
        printf '%-36s %10s %5d%%\n' "${stage_names[i]}" "$(in_minutes "${stage_seconds[i]}")" $((stage_seconds[i] * 100 / total))
    done
    printf '%-36s %10s\n' "in all" "$(in_minutes "$total")"
}

# Tests that are no part of every run: `long` takes minutes, `turn` waits for its share.
readonly quick=(--label-exclude '^(long|turn|files)$')

# How many slots ctest has: three a core. tests/CMakeLists.txt says which test takes how many.
readonly slots=$((3 * $(nproc)))

# A quick test that takes longer on idle cores fails.
readonly quick_seconds=10

# run_tests NAME PRESET [ctest arguments]: as many at a time as there are slots. Where some fail the rest of the stages go on,
# so that one run shows everything; `failed` remembers.
run_tests() {
    local name=$1 preset=$2 log junit code=0
    shift 2
    log=$(log_of "test-$name")
    junit=$root/build/junit/$name.xml
    say "testing build/$preset ($name)"
    mkdir -p "$root/build/junit"
    with_progress "$log" "${wrapper[@]}" ctest --test-dir "$root/build/$preset" --output-on-failure --no-tests=error \
        --output-junit "$junit" --parallel "$slots" "$@" || code=$?
    if ((code != 0)); then
        failed+=("tests in build/$preset ($name)")
        grep -avE '^ *(Start +[0-9]+:|[0-9]+/[0-9]+ Test +#.*( Passed|Skipped) )' "$log" || true
    else
        grep -aE 'tests? passed,|Total Test time' "$log" || true
    fi
    if grep -a 'RegularExpression::compile' "$log"; then  # and ctest leaves the pattern out
        failed+=("a pattern of the tests in build/$preset ($name)")
    fi
    [[ ! -s $junit ]] || python3 "$root/scripts/testing/times.py" --slowest 10 "$junit"
}
wrapper=()

# What makes a build from nothing fast: files of a folder are compiled as one, and headers that tests share are precompiled.
# What only a file of its own shows, such as a missing include, the share `files` finds.
readonly quickly=(-DTREFOIL_PRECOMPILE=ON -DTREFOIL_UNITE=ON -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld)

# What no quick test uses is built for its share.
readonly whole=(-DTREFOIL_WITH_BENCHMARK=ON -DTREFOIL_WITH_SIMGRID=ON)

# build_dev [options of cmake]. Lines for a debugger would be an eighth of the compiler's time.
build_dev() {
    configure dev "${quickly[@]}" -DTREFOIL_TESTS= -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 \
        -DTREFOIL_WITH_BENCHMARK=OFF -DTREFOIL_WITH_SIMGRID=OFF "$@"
    build dev
}

quick_tests() {
    grep -q repository_format "$root/build/dev/tests/repository/CTestTestfile.cmake" ||
        left_out+=("the test repository_format, without clang-format 14")
    run_tests quick dev "${quick[@]}"
    local slow
    mapfile -t slow < <(python3 "$root/scripts/testing/times.py" --above $((quick_seconds * 3 / 2)) "$root/build/junit/quick.xml")
    local name
    for name in "${slow[@]:0:3}"; do
        is_quick_alone "$name"
    done
}

# is_quick_alone TEST: a quick test that took long beside others is run again alone (the slowest few). If it still takes long, and
# nothing else kept the cores busy, it fails.
is_quick_alone() {
    local verdict code=0
    verdict=$(python3 "$root/scripts/testing/alone.py" --limit "$quick_seconds" -- \
        ctest --test-dir "$root/build/dev" --tests-regex "^$1\$") || code=$?
    say "$1 took more than $quick_seconds s; alone: $verdict"
    # How fast CI's machine is today is nobody's fault; there the line above must do.
    if ((code != 0)) && [[ -z ${CI:-} ]]; then
        failed+=("$1: a quick test takes at most $quick_seconds s on idle cores; make it faster, or give it the label turn or long")
    fi
}

# under_sanitizer PRESET [ctest arguments]: builds the programs of these tests alone, and runs them. With networks=OFF without
# libfabric and UCX.
networks=ON
under_sanitizer() {
    local preset=$1 regex=
    shift
    local arguments=("$@") i
    for i in "${!arguments[@]}"; do
        [[ ${arguments[i]} != --tests-regex ]] || regex=${arguments[i + 1]}
    done
    configure "$preset" "${quickly[@]}" "-DTREFOIL_TESTS=$regex" "-DTREFOIL_WITH_OFI=$networks" "-DTREFOIL_WITH_UCX=$networks"
    local targets
    mapfile -t targets < <(targets_of "$preset" "$@")
    ((${#targets[@]})) || die "no test of $preset has a program to build"
    build "$preset" "${targets[@]}"
    # ThreadSanitizer of gcc 12 does not start where addresses are randomised over more bits than it knows.
    if [[ $preset == tsan ]] && setarch -R true 2>/dev/null; then
        wrapper=(setarch -R)
    fi
    run_tests "$preset" "$preset" "$@"
    wrapper=()
}

# any_of PATTERN...: one regular expression. CTest's own know at most nine groups.
any_of() {
    local IFS='|'
    printf '%s' "$*"
}

# What never runs under a sanitizer: what does not depend on how the code is compiled (checks of the repository, and Python
# that works on schedules or compares times), long proofs of schedules, commands that print much and take minutes, and all
# collectives over strict port groups and a hostile uTofu, which take their time on purpose.
not_again=$(any_of '^repository_' '^papers_page' '^papers_commands' '^tool_(plan|sim)_(json|html|browser|export)' '^tool_traffic' \
    '^tool_sim_reference' '^tool_sim_simgrid' '^tool_circuits' '^tool_plan_circuits' '^tool_user_schedules' '^tool_machine_files' \
    '^tool_matrix_collectives' '^tool_(compare|perf|plan|sim|late)(_[0-9]+)?$' '^comm_minloc' '^comm_reproducibility' \
    '^utofu_random_calls' '^utofu_collectives' '^utofu_probe' '^table_proof$' '^alltoall_rings$' '^alltoall_sync$' '^cost$' \
    '^spanning_trees$' '^spanning_model$' '^baselines$' '_(strict|hostile)(_[0-9]+)?$')
# What else ThreadSanitizer leaves out. The made-up device runtime of comm_device_buffers is loaded and changed by several
# threads at once, which real ones are not. The others look at what is computed, or have ranks that are processes: how threads
# meet is seen where all ranks are threads of one.
never_under_tsan=$(any_of '^comm_device_buffers' '^comm_average' '^comm_shrink' '^comm_faults' '^comm_after_error' \
    '_processes(_[0-9]+)?$')
readonly not_again never_under_tsan

not_long=(--label-exclude '^long$')

# The shares. Each takes about a quarter of an hour on two cores.
readonly shares=(proofs matrix faults calls turn-tests asan-rooms asan-comm tsan fuzzing arm64 arm64-walk files gcc pages packages source trixie verbs)

# A share that is no part of the turn, as its tests are among the quick ones: for other releases of Debian.
readonly meetings=stack

# Tests of the label long are divided among these shares, and `proofs` has what no other one names.
readonly in_matrix='^(tool_matrix_|tool_bounded_memory|utofu_collectives_long)'
readonly in_faults='^(reliability_(many|faults_all|surroundings_all)|utofu_mutant|comm_(shrink|abort|after_error|faults|nodes)_long)'
readonly in_calls='^(reliability_mixed|comm_(calls_under_stress|stress|mixed_calls|property)_long|utofu_(random_calls|latency_order)_long|mpi_)'

share_proofs() { # long proofs of schedules and of the choice of algorithms, and long tests that no other share has
    build_dev "${whole[@]}"
    run_tests proofs dev --label-regex '^long$' --exclude-regex "$in_matrix|$in_faults|$in_calls|^repository_"
}
share_matrix() { # all collectives by all algorithms over every transport
    build_dev
    run_tests matrix dev --label-regex '^long$' --tests-regex "$in_matrix"
}
share_faults() { # jobs that are disturbed, whole table of faults, hostile surroundings, deliberate bugs of uTofu
    build_dev
    run_tests faults dev --label-regex '^long$' --tests-regex "$in_faults"
}
share_calls() { # random calls in flight, by the ten thousand, and MPI's waiting and huge calls
    build_dev
    run_tests calls dev --label-regex '^long$' --tests-regex "$in_calls"
}
share_turn-tests() { # tests that are no part of every run: strict and hostile port groups, all transports of UCX, browsers
    build_dev "${whole[@]}"
    run_tests turn dev --label-regex '^turn$' --exclude-regex '^(repository_|papers_page$)'
}
share_asan-rooms() { # nearly all tests of the rooms below comm under ASan and UBSan
    under_sanitizer asan-ubsan "${not_long[@]}" --exclude-regex "$not_again|^(comm|tool|mpi|reliability|network|bindings|papers)_"
}
share_asan-comm() { # those of comm and above
    under_sanitizer asan-ubsan "${not_long[@]}" --tests-regex '^(comm|tool|bindings|wrapper)' --exclude-regex "$not_again"
    # What faults do to memory: of these the quick tests do a part.
    run_tests asan-long asan-ubsan --label-regex '^long$' --tests-regex '^comm_(direct_landing|run_ahead|after_error|abort)_long$'
}
share_tsan() { # nearly all in which threads meet
    under_sanitizer tsan "${not_long[@]}" --tests-regex '^(port_threads|executor|memory|store|bootstrap|utofu_threads$|comm)' \
        --exclude-regex "$not_again|$never_under_tsan"
}
share_fuzzing() { # each fuzzer for 40 seconds
    "$root/scripts/fuzz" --seconds 40 || failed+=(fuzzing)
}
share_arm64() { # the unit tests on emulated Arm processors
    on_arm64
}
share_arm64-walk() { # a first hour on Fugaku, on emulated Arm processors; a build for Arm by clang
    on_arm64 --walk
    on_arm64 --clang --build-only
}
on_arm64() {
    local code=0
    "$root/scripts/arm64" "$@" || code=$?
    if ((code == 77)); then
        left_out+=("arm64 $*, without its packages")
    elif ((code != 0)); then
        failed+=("scripts/arm64 $*")
    fi
}
share_files() { # each file compiled alone
    configure files -DTREFOIL_UNITE=OFF
    build files
    run_tests files files --label-regex '^files$'
}
share_gcc() { # all of it compiled by gcc, and the quick tests
    configure gcc "${quickly[@]}" -DTREFOIL_TESTS=
    build gcc
    run_tests gcc gcc "${quick[@]}"
}
share_pages() { # all commands of the pages, the page of the papers, the site, an installed tree and its examples
    build_dev "${whole[@]}"
    run_tests pages dev --tests-regex '^(repository_(doc_commands_(all|long)|installed_(tree|programs)|site)|papers_page)$'
}
share_packages() { # Debian packages, and a bare Debian on which they are installed
    build_dev
    run_tests packages dev --tests-regex '^repository_(packages|bare_root)$'
}
share_source() { # a bare Debian on which the sources are built and installed, as the README says
    configure dev "${quickly[@]}"
    run_tests source dev --tests-regex '^repository_bare_source$'
}
share_trixie() { # what meets other software, on Debian 13
    local code=0
    "$root/scripts/on-debian" trixie "$root/scripts/test" --only "$meetings" || code=$?
    if ((code == 77)); then
        left_out+=("Debian 13, whose root cannot be made")
    elif ((code != 0)); then
        failed+=("scripts/test --on trixie --only $meetings")
    fi
}
share_verbs() { # RDMA in software, in one and in two virtual machines, whose image is made from Debian's packages
    configure gcc "${quickly[@]}"  # whose libraries the machine has
    build gcc trefoil_tool test_conformance
    on_verbs 540 --suite
    on_verbs 240 --hosts 2 --nics 4 --suite across-nics killed link-down
}
# on_verbs SECONDS ARGUMENT...: what has not been run when time is up is left out; what has failed by then has failed.
on_verbs() {
    local seconds=$1 code=0
    shift
    "$root/scripts/verbs" --build gcc --as-it-is --seconds "$seconds" "$@" || code=$?
    if ((code == 77)); then
        left_out+=("verbs, whose machine cannot be made")
    elif ((code == 124)) && ! grep -q FAILED "$root/build/verbs/output"; then
        left_out+=("the rest of scripts/verbs $*, as time was up")
    elif ((code != 0)); then
        failed+=("scripts/verbs $*")
    fi
}
share_stack() { # what meets other software: libfabric, UCX, launchers, MPIs, Python; not in turn, for scripts/test --on
    local chosen='^(ofi|ucx|launcher|bindings|mpi_)'
    configure gcc "${quickly[@]}" "-DTREFOIL_TESTS=$chosen"
    build gcc
    run_tests stack gcc "${quick[@]}" --tests-regex "$chosen"
}

is_share() {
    local each
    for each in "${shares[@]}" "$meetings"; do
        [[ $each != "$1" ]] || return 0
    done
    return 1
}

commits() { git -C "$root" rev-list --count HEAD 2>/dev/null || echo 0; }

share_in_turn() { printf '%s\n' "${shares[$(commits) % ${#shares[@]}]}"; }

list_shares() {
    local each
    for each in "${shares[@]}" "$meetings"; do
        printf '%-12s %s\n' "$each" "$(sed -n "s/^share_$each() { # //p" "${BASH_SOURCE[0]}")"
    done
    printf 'In turn after %d commits: %s\n' "$(commits)" "$(share_in_turn)"
}

# run_share NAME, and says which are due with the next commits.
run_share() {
    local next=() i
    for ((i = 1; i < ${#shares[@]}; ++i)); do
        next+=("${shares[($(commits) + i) % ${#shares[@]}]}")
    done
    say "share $1 of ${#shares[@]}; due with the next commits: ${next[*]}"
    stage "share $1" "share_$1"
}
