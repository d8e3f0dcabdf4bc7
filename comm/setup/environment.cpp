// SPDX-License-Identifier: BSD-3-Clause
// The table of environment variables and the parsing of their values.
#include "comm/setup/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "algorithms/schedule/algorithm.hpp"
#include "algorithms/schedule/nearest_names.hpp"
#include "threads/kernels/reduce.hpp"
#include "topo/core_list.hpp"
#include "topo/error.hpp"
#include "topo/patience.hpp"
#include "topo/sizes.hpp"
#include "topo/variable.hpp"

namespace trefoil {

namespace {

constexpr EnvironmentVariable table[] = {
    {"TREFOIL_LAUNCHER", "auto|store|pmix|pmi|single", "auto",
     "how the ranks meet; auto: by TREFOIL_STORE, else PMIx, else PMI-1, else one rank alone"},
    {"TREFOIL_RANK", "rank", "0", "this process's rank; with TREFOIL_SIZE and TREFOIL_STORE"},
    {"TREFOIL_SIZE", "count", "1", "number of ranks of the job"},
    {"TREFOIL_STORE", "host:port", "",
     "where the ranks meet: a store that `trefoil run` serves, else rank 0"},
    {"TREFOIL_TOKEN", "text", "",
     "a secret of the job, the same on all ranks, which its store requires; `trefoil run` "
     "makes one for each job"},
    {"TREFOIL_JOB", "name", "default", "separates jobs that share one store"},
    {"TREFOIL_LOCAL_RANK", "rank", "", "this process's number on its host; set by `trefoil run`"},
    {"TREFOIL_LOCAL_SIZE", "count", "", "ranks of the job on this host; set by `trefoil run`"},
    {"TREFOIL_HOSTFILE", "path", "",
     "file of lines HOST x y: the coordinates of the ranks; goes before TREFOIL_TORUS"},
    {"TREFOIL_TORUS", "torus", "automatic",
     "sizes of the torus, e.g. 3x3, ranks row-major; 4mx3: the first dimension is a line, as in a "
     "mesh; 3x3x2h: nodes of two ranks; 2d or 3d: balanced with so many dimensions; automatic: of "
     "utofu the machine's where the job has a box of it, else balanced; where each of several "
     "hosts has as many ranks, hosts are nodes"},
    {"TREFOIL_BACKEND", "name", "automatic",
     "memory, utofu, ofi or ucx; automatic: memory when all ranks can map memory of each other, "
     "else utofu where the machine has it, else ofi"},
    {"TREFOIL_PROVIDER", "name", "automatic",
     "of ofi: net, tcp;ofi_rxm, ...; of ucx: transports as in UCX_TLS"},
    {"TREFOIL_UTOFU_NOTICES", "count", "2048",
     "of utofu: places of the queue of notices of a network interface; Trefoil keeps so little "
     "under way that no queue overflows; 16 to 2097152"},
    {"TREFOIL_UTOFU_THREAD_SAFE", "0|1", "automatic",
     "of utofu: 1: port groups of one process share its network interfaces, which costs time; "
     "automatic: where ranks are threads, or threads outnumber interfaces"},
    {"TREFOIL_ALGORITHM", "name or list", "auto",
     "algorithm of allreduce, or of any, for all sizes or for a range of bytes: "
     "allreduce:64K-1M=swing-b,bcast=bine-dd; `trefoil info` lists them; the same on all ranks"},
    {"TREFOIL_MODEL", "list", "automatic",
     "what auto takes steps, hops and links to cost, such as step=2us,hop=200ns,rate=25gbit, a "
     "byte that alltoall gathers from several places before it is sent, such as copy=0.1ns, per "
     "byte that a rank reads straight from a peer's memory, such as pull=0.1ns, "
     "per byte that a rank of an allreduce reduces, such as reduce=0.05ns, and "
     "what ranks that share cores take for a wait, a message and a byte, such as "
     "wait=10us,message=20us,byte=2ns; forward=5us for a message that a node forwards by its "
     "processors; busiest=0.2us for a message of the rank that sends most; inside nodes of several "
     "ranks, inside-step=0.3us,inside-message=0us,inside-byte=0.2ns; the same on all ranks"},
    {"TREFOIL_TUNING", "path", "",
     "a file of measurements of this machine, which auto follows; the rules of TREFOIL_ALGORITHM "
     "and the numbers of TREFOIL_MODEL override it; the same on all ranks"},
    {"TREFOIL_LEARN", "0|1", "0",
     "1: the first blocking calls of each collective and size try algorithms alternately, and "
     "the fastest one is kept; rank 0 writes the results into the file of TREFOIL_TUNING, which "
     "need not be there before; the same on all ranks"},
    {"TREFOIL_REPRODUCIBLE", "0|1", "0",
     "1: always reduce in rank order, so that results do not depend on algorithm and torus"},
    {"TREFOIL_SINGLE_COPY", "0|1", "1",
     "1: ranks of one host move large vectors straight from each other's memory where they can, by "
     "the algorithm single-copy; auto takes it where that is fast: in one process, or where the "
     "kernel copies at two fifths of the processor's speed. More than two ranks may show images of "
     "their vectors in shared memory, by shared-copy. The same on all ranks"},
    {"TREFOIL_CHECK", "0|1", "0",
     "1: compare all ranks' calls (collective, counts, type, operation, root, in place, algorithm) "
     "before each of them moves anything, and say which rank makes which call; for debugging: two "
     "or three collectives instead of one; the same on all ranks"},
    {"TREFOIL_CHECKSUM", "0|1", "0",
     "1: every message carries the checksum (CRC-32C) of its bytes, which its receiver computes "
     "again; for links that are in doubt; turns single copy off; the same on all ranks"},
    {"TREFOIL_INSTRUCTIONS", "name", "automatic",
     "for tests and debugging only: the instruction set that reduces: baseline, or another one "
     "that the processor has (avx2, avx512, avx512-fp16; neon-fp16, sve); automatic: the best; "
     "they differ in no bit of any result"},
    {"TREFOIL_FAULTS", "faults", "",
     "for tests and debugging only: faults that this rank injects into its puts, as "
     "seed:KIND=VALUE,...; delay=MICROSECONDS (each put and arrival is late by up to this), "
     "again=TIMES "
     "(a put is refused up to this often), stall=PUTS (after that many puts all are refused for "
     "ever), "
     "close=PUTS (after that many nothing gets to one peer), fail=CHANCE (a put "
     "fails), drop=CHANCE (it never arrives), twice=CHANCE (its notification arrives twice), "
     "flip=CHANCE (one bit of it is changed; TREFOIL_CHECKSUM finds that), rank=RANK (this rank "
     "alone; may be repeated). Not of single copy, which puts nothing"},
    {"TREFOIL_PHASE_SYNC", "none|signals|barrier", "none",
     "of alltoall by algorithms that go along the rings of a torus: signals (barriers where there "
     "are none) or barriers between its phases, for networks in which messages that meet block "
     "each other; the same on all ranks"},
    {"TREFOIL_NICS", "list", "nearest",
     "NICs of the ports: names, addresses or patterns in turn (mlx5_*), per direction "
     "(+0=eth1,-0=eth2), never (^docker0)"},
    {"TREFOIL_PORT_THREADS", "count", "automatic",
     "threads that drive the ports, 0 (the calling thread) to twice the dimensions; automatic: as "
     "many as cores are free"},
    {"TREFOIL_PORT_THREADS_BY", "dedicated|openmp|caller", "dedicated",
     "whose threads drive ports: Trefoil's own, idle OpenMP threads of the program, or none"},
    {"TREFOIL_PIN", "none|auto|cores", "auto",
     "pin port threads inside the process's own mask, near their NICs; or to these cores "
     "(0,2,4-7)"},
    {"TREFOIL_TIMEOUT", "seconds", "120",
     "a call that makes no progress for this long fails; of a program under MPI only if it is set"},
    {"TREFOIL_PATIENCE", "factor", "1",
     "what Trefoil's own short waits are multiplied by, such as those until a rank that has ended "
     "is named: more than 1 on slow or emulated processors; 0.1 to 100"},
    {"TREFOIL_STALL_WARN", "seconds", "10",
     "a call that stalls for this long says what it waits for; of a program under MPI only if it "
     "is "
     "set"},
    {"TREFOIL_DUMP", "signal", "",
     "a signal, such as SIGUSR1, that makes a rank say in the log what it does: its calls in "
     "flight and what they wait for"},
    {"TREFOIL_TELL", "path|log", "",
     "each rank answers `trefoil info --job`, which shows which ranks wait for which; rank 0 "
     "writes the address to this file, or to the log"},
    {"TREFOIL_LANDING_BYTES", "bytes", "4M",
     "landing memory per connection, for all segments in flight; the same on all ranks"},
    {"TREFOIL_SEGMENT_BYTES", "bytes", "1M",
     "large vectors are cut into segments of at most this; the same on all ranks"},
    {"TREFOIL_PLAN_BYTES", "bytes", "16M",
     "what a communicator keeps of earlier calls, for the next calls like them; those that were "
     "not used for longest go first"},
    {"TREFOIL_DIRECT_FROM", "bytes", "automatic",
     "persistent calls whose vector has this many bytes or more receive messages straight in "
     "their buffers where that is possible, without a copy from landing memory; automatic: 1M over "
     "ofi, "
     "elsewhere never; the same on all ranks"},
    {"TREFOIL_MPI", "on|off|list", "on",
     "of the MPI layer: what Trefoil runs, e.g. allreduce,bcast:1Ki-4Mi (bytes) or ^barrier; the "
     "same on all ranks"},
    {"TREFOIL_MPI_TUNE", "off|exact|all", "exact",
     "of the MPI layer: which calls it tries with Trefoil and MPI alternately, to keep the faster; "
     "exact: those whose result has the same bits either way, so no sums of floating-point "
     "numbers among three ranks or more; the same on all ranks"},
    {"TREFOIL_MPI_EARLY", "auto|count", "auto",
     "of the MPI layer: how many small calls of each communicator MPI runs first; 0: none; auto: "
     "1000, and as many more until a set-up takes a small part of the time since MPI_Init; the "
     "same on all ranks"},
    {"TREFOIL_MPI_REPORT", "0|1", "0",
     "of the MPI layer: 1: print at MPI_Finalize what Trefoil ran, what MPI ran, and why"},
    {"TREFOIL_SIMGRID", "path", "beside trefoil",
     "of `trefoil sim --engine simgrid`: the program trefoil-simgrid"},
    {"TREFOIL_RELAY", "path", "built last",
     "of `scripts/torusnet --delay`: the program trefoil-relay, which gives links a distance"},
    {"TREFOIL_LOG", "level or list", "warning",
     "what Trefoil says, besides the errors that calls return: error, warning, info or debug, for "
     "all topics or for those that follow, such as info,choice,transport (setup, choice, "
     "transport, memory, call, trace, mpi)"},
    {"TREFOIL_LOG_FILE", "path", "stderr",
     "the file of the log, with the time of day: %r stands for the rank, %p for the process, %h "
     "for the host"},
    {"TREFOIL_TRACE", "path", "",
     "write a timeline for Perfetto when a communicator is destroyed, a file per rank: %r stands "
     "for the rank, else out.json becomes out.0.json, ..."},
    {"TREFOIL_TRACE_EVENTS", "count", "65536",
     "events of the timeline that each port thread keeps, the last ones, 64 bytes each"},
};

struct Renamed {
    std::string_view old_name, name;
};
/// Variables, and options of the command.
constexpr Renamed renamed[] = {
    {"TREFOIL_DIRECT", "TREFOIL_SINGLE_COPY"},
    {"TREFOIL_TEAM", "TREFOIL_PORT_THREADS_BY"},
    {"--team", "--port-threads-by"},
};

[[noreturn]] void refuse(const char* name, std::string_view value, const std::string& mend) {
    throw Error(Status::invalid_argument,
                std::string(name) + "=" + std::string(value) + " is not valid: " + mend);
}

void read_text(const char* name, std::string& target) {
    if (const auto value = environment_variable(name)) {
        target = *value;
    }
}

template <typename T>
bool read_number(const char* name, T& target, T least, T most, const char* mend) {
    const auto value = environment_variable(name);
    if (!value) {
        return false;
    }
    T number{};
    const char* end = value->data() + value->size();
    const auto [stop, error] = std::from_chars(value->data(), end, number);
    // So written, the comparison refuses "nan" too.
    if (error != std::errc() || stop != end || !(number >= least && number <= most)) {
        refuse(name, *value, mend);
    }
    target = number;
    return true;
}

/// Whether it is set.
bool read_seconds(const char* name, std::chrono::milliseconds& target) {
    double seconds = 0;
    const bool is_set =
        read_number(name, seconds, 0.001, 1e6, "give seconds, more than 0, e.g. 30 or 0.5");
    if (is_set) {
        target = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
    }
    return is_set;
}

void read_switch(const char* name, bool& target) {
    std::string value = target ? "1" : "0";
    read_text(name, value);
    if (value != "0" && value != "1") {
        refuse(name, value, "give 0 or 1");
    }
    target = value == "1";
}

void read_phase_sync(PhaseSync& target) {
    std::string value(to_string(target));
    read_text("TREFOIL_PHASE_SYNC", value);
    for (const PhaseSync sync : {PhaseSync::none, PhaseSync::signals, PhaseSync::barrier}) {
        if (value == to_string(sync)) {
            target = sync;
            return;
        }
    }
    refuse("TREFOIL_PHASE_SYNC", value, "give none, signals or barrier");
}

void read_launcher(std::optional<Launcher>& target) {
    const auto value = environment_variable("TREFOIL_LAUNCHER");
    if (value && *value != "auto") {
        target = launcher_named(*value);
        if (!target) {
            refuse("TREFOIL_LAUNCHER", *value, "give auto, store, pmix, pmi or single");
        }
    }
}

void read_pin(Settings& s) {
    const std::string pin = environment_variable("TREFOIL_PIN").value_or("auto");
    s.pin = pin != "none";
    if (pin != "none" && pin != "auto") {
        const auto cores = parse_core_list(pin);
        if (!cores) {
            refuse("TREFOIL_PIN", pin, "give none, auto or a list of cores, e.g. 0,2,4-7");
        }
        s.pin_cores = *cores;
    }
}

void read_port_threads_by(PortThreadsBy& target) {
    const std::string who = environment_variable("TREFOIL_PORT_THREADS_BY").value_or("dedicated");
    if (who != "dedicated" && who != "openmp" && who != "caller") {
        refuse("TREFOIL_PORT_THREADS_BY", who, "give dedicated, openmp or caller");
    }
    target = who == "openmp"   ? PortThreadsBy::openmp
             : who == "caller" ? PortThreadsBy::caller
                               : PortThreadsBy::dedicated;
}

void read_bytes(const char* name, std::size_t& target, std::size_t least) {
    const auto value = environment_variable(name);
    if (!value) {
        return;
    }
    constexpr std::size_t most = std::size_t{1} << 40;
    const auto bytes = parse_bytes(*value, most);
    if (!bytes || *bytes < least) {
        refuse(name, *value,
               "give bytes, " + std::to_string(least) + " to " + std::to_string(most) + ": " +
                   std::string(size_syntax));
    }
    target = *bytes;
}

}  // namespace

std::span<const EnvironmentVariable> environment_variables() {
    return table;
}

std::vector<std::string_view> old_names() {
    std::vector<std::string_view> names;
    for (const Renamed& entry : renamed) {
        names.push_back(entry.old_name);
    }
    return names;
}

void refuse_old_name(std::string_view old_name) {
    for (const Renamed& entry : renamed) {
        if (entry.old_name == old_name) {
            throw Error(Status::invalid_argument, std::string(old_name) + " is now called " +
                                                      std::string(entry.name) +
                                                      "; its values are the same");
        }
    }
}

std::vector<std::string> unknown_variables() {
    std::vector<std::string> known;
    for (const EnvironmentVariable& v : table) {
        known.emplace_back(v.name);
    }
    const std::vector<std::string_view> old = old_names();
    std::vector<std::string> messages;
    bool ignored = false;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::string name(text.substr(0, text.find('=')));
        if (!name.starts_with("TREFOIL_") ||
            std::find(known.begin(), known.end(), name) != known.end() ||
            std::find(old.begin(), old.end(), name) != old.end()) {
            ignored |= name.starts_with("TREFOIL_") && ignores_environment();
            continue;
        }
        std::string message = "unknown environment variable " + name;
        const auto nearest = nearest_names(name, known);
        if (!nearest.empty()) {
            message += "; did you mean " + nearest[0] + "?";
        }
        messages.push_back(message);
    }
    if (ignored) {
        messages.emplace_back(
            "this program runs with other rights than its user (set-uid, or "
            "capabilities), so Trefoil ignores its environment variables; use trefoil_config_t");
    }
    return messages;
}

namespace {

void refuse_old_names() {
    for (const std::string_view name : old_names()) {
        if (environment_variable(name.data())) {
            refuse_old_name(name);
        }
    }
}

/// The place in the job, as `trefoil run` or the user gives it.
void read_place(Settings& s) {
    constexpr Rank most = 2147483647;
    read_number("TREFOIL_SIZE", s.ranks, Rank{1}, most, "give the number of ranks, at least 1");
    read_number("TREFOIL_RANK", s.rank, Rank{0}, most, "give a rank, 0 or more");
    if (s.rank > 0 && s.rank >= s.ranks) {
        refuse("TREFOIL_RANK", std::to_string(s.rank),
               s.ranks == 0
                   ? "set TREFOIL_SIZE, too: the number of ranks"
                   : "it must be smaller than TREFOIL_SIZE (" + std::to_string(s.ranks) + ")");
    }
}

/// All that does not tell how ranks meet.
void read_the_rest(Settings& s) {
    read_text("TREFOIL_HOSTFILE", s.hostfile);
    read_text("TREFOIL_TORUS", s.torus);
    if (!s.torus.empty()) {
        s.torus_source = "TREFOIL_TORUS";
    }
    read_text("TREFOIL_BACKEND", s.backend);
    read_text("TREFOIL_PROVIDER", s.provider);
    read_text("TREFOIL_ALGORITHM", s.algorithm);
    if (const auto model = environment_variable("TREFOIL_MODEL")) {
        try {
            s.cost_model = parse_cost_model(*model);
        } catch (const Error& error) {
            refuse("TREFOIL_MODEL", *model, error.what());
        }
    }
    read_text("TREFOIL_TUNING", s.tuning);
    read_switch("TREFOIL_LEARN", s.learn);
    read_switch("TREFOIL_REPRODUCIBLE", s.reproducible);
    read_switch("TREFOIL_CHECK", s.check_calls);
    read_switch("TREFOIL_CHECKSUM", s.checksums);
    if (const auto name = environment_variable("TREFOIL_INSTRUCTIONS");
        name && !instructions_named(*name)) {
        refuse("TREFOIL_INSTRUCTIONS", *name, "this processor has " + names_of_instructions());
    }
    if (const auto faults = environment_variable("TREFOIL_FAULTS")) {
        try {
            s.faults = parse_faults(*faults);
        } catch (const Error& error) {
            refuse("TREFOIL_FAULTS", *faults, error.what());
        }
    }
    read_switch("TREFOIL_SINGLE_COPY", s.single_copy);
    read_phase_sync(s.phase_sync);
    read_text("TREFOIL_NICS", s.nics);
    read_number("TREFOIL_PORT_THREADS", s.port_threads, 0, 1024,
                "give a number of threads, 0 (the calling thread) to twice the dimensions");
    read_port_threads_by(s.port_threads_by);
    read_pin(s);
    if (const auto factor = environment_variable("TREFOIL_PATIENCE");
        factor && patience_factor(factor->c_str()) == 0) {
        refuse("TREFOIL_PATIENCE", *factor, "give a number from 0.1 to 100, e.g. 2");
    }
    (void)patience();  // reads it now: later threads may change the environment
    s.warns_as_asked = read_seconds("TREFOIL_STALL_WARN", s.stall_warning);
    read_bytes("TREFOIL_LANDING_BYTES", s.landing_bytes, 16384);
    read_bytes("TREFOIL_SEGMENT_BYTES", s.segment_bytes, 1024);
    read_bytes("TREFOIL_PLAN_BYTES", s.plan_bytes, 0);
    read_bytes("TREFOIL_DIRECT_FROM", s.direct_from, 0);
    s.log = log_request_from_environment();
    read_text("TREFOIL_DUMP", s.dump);
    read_text("TREFOIL_TELL", s.tell);
    read_text("TREFOIL_TRACE", s.trace);
    read_number("TREFOIL_TRACE_EVENTS", s.trace_events, std::size_t{1}, std::size_t{1} << 30,
                "give how many events a thread keeps, at least 1, e.g. 65536");
}

}  // namespace

Settings settings_from_environment() {
    std::optional<Error> refusal;
    Settings settings = settings_from_environment(refusal);
    if (refusal) {
        throw Error(*refusal);
    }
    return settings;
}

Settings settings_from_environment(std::optional<Error>& refusal) {
    Settings s;
    const auto succeeds = [&refusal](const auto& read) {
        try {
            read();
            return true;
        } catch (const Error& error) {
            refusal = refusal ? refusal : error;
            return false;
        }
    };
    succeeds(refuse_old_names);
    succeeds([&] { read_launcher(s.launcher); });
    s.place_is_known = succeeds([&] { read_place(s); });
    read_text("TREFOIL_STORE", s.store);
    read_text("TREFOIL_TOKEN", s.token);
    read_text("TREFOIL_JOB", s.job);
    succeeds([&] { read_seconds("TREFOIL_TIMEOUT", s.timeout); });
    succeeds([&] { read_the_rest(s); });
    return s;
}

LauncherRequest launcher_request(const Settings& settings, const std::string& job) {
    LauncherRequest request;
    request.launcher = settings.launcher;
    request.store = settings.store;
    request.token = settings.token;
    request.job = settings.job + "." + job;
    request.rank = settings.rank;
    request.ranks = settings.ranks;
    request.deadline = settings.timeout;
    return request;
}

}  // namespace trefoil
