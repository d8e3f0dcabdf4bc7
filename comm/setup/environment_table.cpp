// SPDX-License-Identifier: BSD-3-Clause
// The table of environment variables: what users read of each, how it becomes a setting, and what
// ranks compare.
#include <optional>
#include <span>

#include "algorithms/schedule/algorithm.hpp"
#include "comm/setup/environment.hpp"
#include "comm/setup/environment_reading.hpp"
#include "threads/kernels/reduce.hpp"
#include "topo/core_list.hpp"
#include "topo/patience.hpp"
#include "topo/sizes.hpp"

namespace trefoil {

namespace {

void read_switch(const char* name, bool& target) {
    std::string value = target ? "1" : "0";
    read_text(name, value);
    if (value != "0" && value != "1") {
        refuse_value(name, value, "give 0 or 1");
    }
    target = value == "1";
}

void phase_sync(const char* name, Settings& s) {
    std::string value(to_string(s.phase_sync));
    read_text(name, value);
    for (const PhaseSync sync : {PhaseSync::none, PhaseSync::signals, PhaseSync::barrier}) {
        if (value == to_string(sync)) {
            s.phase_sync = sync;
            return;
        }
    }
    refuse_value(name, value, "give none, signals or barrier");
}

void pin(const char* name, Settings& s) {
    const std::string pin = environment_variable(name).value_or("auto");
    s.pin = pin != "none";
    if (pin != "none" && pin != "auto") {
        const auto cores = parse_core_list(pin);
        if (!cores) {
            refuse_value(name, pin, "give none, auto or a list of cores, e.g. 0,2,4-7");
        }
        s.pin_cores = *cores;
    }
}

void port_threads_by(const char* name, Settings& s) {
    const std::string who = environment_variable(name).value_or("dedicated");
    if (who != "dedicated" && who != "openmp" && who != "caller") {
        refuse_value(name, who, "give dedicated, openmp or caller");
    }
    s.port_threads_by = who == "openmp"   ? PortThreadsBy::openmp
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
        refuse_value(name, *value,
                     "give bytes, " + std::to_string(least) + " to " + std::to_string(most) + ": " +
                         std::string(size_syntax));
    }
    target = *bytes;
}

template <auto setting>
void text(const char* name, Settings& s) {
    read_text(name, s.*setting);
}

template <auto setting>
void on_or_off(const char* name, Settings& s) {
    read_switch(name, s.*setting);
}

template <auto setting, std::size_t least>
void bytes(const char* name, Settings& s) {
    read_bytes(name, s.*setting, least);
}

void torus(const char* name, Settings& s) {
    read_text(name, s.torus);
    if (!s.torus.empty()) {
        s.torus_source = name;
    }
}

void model(const char* name, Settings& s) {
    if (const auto value = environment_variable(name)) {
        try {
            s.cost_model = parse_cost_model(*value);
        } catch (const Error& error) {
            refuse_value(name, *value, error.what());
        }
    }
}

void instructions(const char* name, Settings&) {
    if (const auto value = environment_variable(name); value && !instructions_named(*value)) {
        refuse_value(name, *value, "this processor has " + names_of_instructions());
    }
}

void faults(const char* name, Settings& s) {
    if (const auto value = environment_variable(name)) {
        try {
            s.faults = parse_faults(*value);
        } catch (const Error& error) {
            refuse_value(name, *value, error.what());
        }
    }
}

void port_threads(const char* name, Settings& s) {
    read_number(name, s.port_threads, 0, 1024,
                "give a number of threads, 0 (the calling thread) to twice the dimensions");
}

constexpr std::string_view links_names[] = {"given", "asked", "measured"};

void links(const char* name, Settings& s) {
    if (const auto value = environment_variable(name)) {
        const auto* const found = std::ranges::find(links_names, *value);
        if (found == std::end(links_names)) {
            refuse_value(name, *value, "give given, asked or measured");
        }
        s.links = static_cast<LinksBy>(found - std::begin(links_names));
    }
}

std::string links_shown(const Settings& s) {
    return s.links == LinksBy::given ? std::string()
                                     : std::string(links_names[static_cast<std::size_t>(s.links)]);
}

void own_patience(const char* name, Settings&) {
    if (const auto factor = environment_variable(name);
        factor && patience_factor(factor->c_str()) == 0) {
        refuse_value(name, *factor, "give a number from 0.1 to 100, e.g. 2");
    }
    (void)patience();  // reads it now: later threads may change the environment
}

void stall_warning(const char* name, Settings& s) {
    s.warns_as_asked = read_seconds(name, s.stall_warning);
}

/// TREFOIL_LOG_FILE, too.
void log_request(const char*, Settings& s) {
    s.log = log_request_from_environment();
}

void trace_events(const char* name, Settings& s) {
    read_number(name, s.trace_events, std::size_t{1}, std::size_t{1} << 30,
                "give how many events a thread keeps, at least 1, e.g. 65536");
}

// What ranks compare: empty where it is the default.
std::string as_text(const std::string& text) {
    return text;
}
std::string as_text(bool on) {
    return on ? "1" : "0";
}
std::string as_text(std::size_t number) {
    return std::to_string(number);
}

template <auto setting>
std::string shown(const Settings& s) {
    return s.*setting == Settings().*setting ? std::string() : as_text(s.*setting);
}

std::string model_shown(const Settings& s) {
    return s.cost_model ? to_string(*s.cost_model) : std::string();
}

/// Ranks may have copies of the file at different places.
std::string tuning_shown(const Settings& s) {
    return s.tuning_file == nullptr ? std::string()
                                    : "file of checksum " + std::to_string(s.tuning_file->checksum);
}

std::string phase_sync_shown(const Settings& s) {
    return s.phase_sync == PhaseSync::none ? std::string() : std::string(to_string(s.phase_sync));
}

std::string tell_shown(const Settings& s) {
    return s.tell.empty() ? "" : "set";
}

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
     "file of lines HOST x y: the coordinates of the ranks; goes before TREFOIL_TORUS",
     text<&Settings::hostfile>},
    {"TREFOIL_TORUS", "torus", "automatic",
     "sizes of the torus, e.g. 3x3, ranks row-major; 4mx3: the first dimension is a line, as in a "
     "mesh; 3x3x2h: nodes of two ranks; 2d or 3d: balanced with so many dimensions; automatic: of "
     "utofu the machine's where the job has a box of it, else balanced; where each of several "
     "hosts has as many ranks, hosts are nodes",
     torus},
    {"TREFOIL_BACKEND", "name", "automatic",
     "memory, utofu, ofi or ucx; automatic: memory when all ranks can map memory of each other, "
     "else utofu where the machine has it, else ofi",
     text<&Settings::backend>, shown<&Settings::backend>},
    {"TREFOIL_PROVIDER", "name", "automatic",
     "of ofi: net, tcp;ofi_rxm, ...; of ucx: transports as in UCX_TLS", text<&Settings::provider>,
     shown<&Settings::provider>},
    {"TREFOIL_UTOFU_NOTICES", "count", "2048",
     "of utofu: places of the queue of notices of a network interface; Trefoil keeps so little "
     "under way that no queue overflows; 16 to 2097152"},
    {"TREFOIL_UTOFU_THREAD_SAFE", "0|1", "automatic",
     "of utofu: 1: port groups of one process share its network interfaces, which costs time; "
     "automatic: where ranks are threads, or threads outnumber interfaces"},
    {"TREFOIL_ALGORITHM", "name or list", "auto",
     "algorithm of allreduce, or of any, for all sizes or for a range of bytes: "
     "allreduce:64K-1M=swing-b,bcast=bine-dd; `trefoil info` lists them; the same on all ranks",
     text<&Settings::algorithm>, shown<&Settings::algorithm>},
    {"TREFOIL_MODEL", "list", "automatic",
     "what auto takes steps, hops and links to cost, such as step=2us,hop=200ns,rate=25gbit, a "
     "byte that alltoall gathers from several places before it is sent, such as copy=0.1ns, per "
     "byte that a rank reads straight from a peer's memory, such as pull=0.1ns, "
     "per byte that a rank of an allreduce reduces, such as reduce=0.05ns, and "
     "what ranks that share cores take for a wait, a message and a byte, such as "
     "wait=10us,message=20us,byte=2ns; forward=5us for a message that a node forwards by its "
     "processors; busiest=0.2us for a message of the rank that sends most; inside nodes of several "
     "ranks, inside-step=0.3us,inside-message=0us,inside-byte=0.2ns; the same on all ranks",
     model, model_shown},
    {"TREFOIL_TUNING", "path", "",
     "a file of measurements of this machine, which auto follows; the rules of TREFOIL_ALGORITHM "
     "and the numbers of TREFOIL_MODEL override it; the same on all ranks",
     text<&Settings::tuning>, tuning_shown},
    {"TREFOIL_LEARN", "0|1", "0",
     "1: the first blocking calls of each collective and size try algorithms alternately, and "
     "the fastest one is kept; rank 0 writes the results into the file of TREFOIL_TUNING, which "
     "need not be there before; the same on all ranks",
     on_or_off<&Settings::learn>, shown<&Settings::learn>},
    {"TREFOIL_REPRODUCIBLE", "0|1", "0",
     "1: always reduce in rank order, so that results do not depend on algorithm and torus",
     on_or_off<&Settings::reproducible>, shown<&Settings::reproducible>},
    {"TREFOIL_SINGLE_COPY", "0|1", "1",
     "1: ranks of one host move large vectors straight from each other's memory where they can, by "
     "the algorithm single-copy; auto takes it where that is fast: in one process, or where the "
     "kernel copies at two fifths of the processor's speed. More than two ranks may show images of "
     "their vectors in shared memory, by shared-copy. The same on all ranks",
     on_or_off<&Settings::single_copy>, shown<&Settings::single_copy>},
    {"TREFOIL_CHECK", "0|1", "0",
     "1: compare all ranks' calls (collective, counts, type, operation, root, in place, algorithm) "
     "before each of them moves anything, and say which rank makes which call; for debugging: two "
     "or three collectives instead of one; the same on all ranks",
     on_or_off<&Settings::check_calls>, shown<&Settings::check_calls>},
    {"TREFOIL_CHECKSUM", "0|1", "0",
     "1: every message carries the checksum (CRC-32C) of its bytes, which its receiver computes "
     "again; for links that are in doubt; turns single copy off; the same on all ranks",
     on_or_off<&Settings::checksums>, shown<&Settings::checksums>},
    {"TREFOIL_INSTRUCTIONS", "name", "automatic",
     "for tests and debugging only: the instruction set that reduces: baseline, or another one "
     "that the processor has (avx2, avx512, avx512-fp16; neon-fp16, sve); automatic: the best; "
     "they differ in no bit of any result",
     instructions},
    {"TREFOIL_FAULTS", "faults", "",
     "for tests and debugging only: faults that this rank injects into its puts, as "
     "seed:KIND=VALUE,...; delay=MICROSECONDS (each put and arrival is late by up to this), "
     "again=TIMES "
     "(a put is refused up to this often), stall=PUTS (after that many puts all are refused for "
     "ever), "
     "close=PUTS (after that many nothing gets to one peer), fail=CHANCE (a put "
     "fails), drop=CHANCE (it never arrives), twice=CHANCE (its notification arrives twice), "
     "flip=CHANCE (one bit of it is changed; TREFOIL_CHECKSUM finds that), rank=RANK (this rank "
     "alone; may be repeated). Not of single copy, which puts nothing",
     faults},
    {"TREFOIL_PHASE_SYNC", "none|signals|barrier", "none",
     "of alltoall by algorithms that go along the rings of a torus: signals (barriers where there "
     "are none) or barriers between its phases, for networks in which messages that meet block "
     "each other; the same on all ranks",
     phase_sync, phase_sync_shown},
    {"TREFOIL_NICS", "list", "nearest",
     "NICs of the ports: names, addresses or patterns in turn (mlx5_*), per direction "
     "(+0=eth1,-0=eth2), never (^docker0)",
     text<&Settings::nics>},
    {"TREFOIL_LINKS", "given|asked|measured", "given",
     "what a job knows of its links: given, what the torus says; asked, also which NICs are down "
     "and how fast the others are; measured, also how long messages between neighbours take; the "
     "same on all ranks",
     links, links_shown},
    {"TREFOIL_PORT_THREADS", "count", "automatic",
     "threads that drive the ports, 0 (the calling thread) to twice the dimensions; automatic: as "
     "many as cores are free",
     port_threads},
    {"TREFOIL_PORT_THREADS_BY", "dedicated|openmp|caller", "dedicated",
     "whose threads drive ports: Trefoil's own, idle OpenMP threads of the program, or none",
     port_threads_by},
    {"TREFOIL_PIN", "none|auto|cores", "auto",
     "pin port threads inside the process's own mask, near their NICs; or to these cores "
     "(0,2,4-7)",
     pin},
    {"TREFOIL_TIMEOUT", "seconds", "120",
     "a call that makes no progress for this long fails; of a program under MPI only if it is set"},
    {"TREFOIL_PATIENCE", "factor", "1",
     "what Trefoil's own short waits are multiplied by, such as those until a rank that has ended "
     "is named: more than 1 on slow or emulated processors; 0.1 to 100",
     own_patience},
    {"TREFOIL_STALL_WARN", "seconds", "10",
     "a call that stalls for this long says what it waits for; of a program under MPI only if it "
     "is "
     "set",
     stall_warning},
    {"TREFOIL_DUMP", "signal", "",
     "a signal, such as SIGUSR1, that makes a rank say in the log what it does: its calls in "
     "flight and what they wait for",
     text<&Settings::dump>},
    {"TREFOIL_TELL", "path|log", "",
     "each rank answers `trefoil info --job`, which shows which ranks wait for which; rank 0 "
     "writes the address to this file, or to the log",
     text<&Settings::tell>, tell_shown},
    {"TREFOIL_LANDING_BYTES", "bytes", "4M",
     "landing memory per connection, for all segments in flight; the same on all ranks",
     bytes<&Settings::landing_bytes, 16384>, shown<&Settings::landing_bytes>},
    {"TREFOIL_SEGMENT_BYTES", "bytes", "1M",
     "large vectors are cut into segments of at most this; the same on all ranks",
     bytes<&Settings::segment_bytes, 1024>, shown<&Settings::segment_bytes>},
    {"TREFOIL_PLAN_BYTES", "bytes", "16M",
     "what a communicator keeps of earlier calls, for the next calls like them; those that were "
     "not used for longest go first",
     bytes<&Settings::plan_bytes, 0>},
    {"TREFOIL_DIRECT_FROM", "bytes", "automatic",
     "persistent calls whose vector has this many bytes or more receive messages straight in "
     "their buffers where that is possible, without a copy from landing memory; automatic: 1M over "
     "ofi, "
     "elsewhere never; the same on all ranks",
     bytes<&Settings::direct_from, 0>, shown<&Settings::direct_from>},
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
     "transport, memory, call, trace, mpi)",
     log_request},
    {"TREFOIL_LOG_FILE", "path", "stderr",
     "the file of the log, with the time of day: %r stands for the rank, %p for the process, %h "
     "for the host"},
    {"TREFOIL_TRACE", "path", "",
     "write a timeline for Perfetto when a communicator is destroyed, a file per rank: %r stands "
     "for the rank, else out.json becomes out.0.json, ...",
     text<&Settings::trace>},
    {"TREFOIL_TRACE_EVENTS", "count", "65536",
     "events of the timeline that each port thread keeps, the last ones, 64 bytes each",
     trace_events},
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

}  // namespace trefoil
