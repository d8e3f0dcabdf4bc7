// SPDX-License-Identifier: BSD-3-Clause
// The C interface: argument checks, one caller at a time, and every exception turned into a status.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <string>

#include "comm/api/c_guard.hpp"
#include "comm/api/c_handles.hpp"
#include "comm/api/c_log.hpp"
#include "comm/api/c_structs.hpp"
#include "topo/device_memory.hpp"
#include "topo/per_thread.hpp"

using trefoil::Error;
using trefoil::Status;
using namespace trefoil::c_api;

namespace {

static_assert(static_cast<int>(Status::internal) == TREFOIL_ERROR_INTERNAL);
static_assert(static_cast<int>(trefoil::last_status) == TREFOIL_ERROR_ABORTED);
static_assert(static_cast<int>(trefoil::DataType::complex_double) == TREFOIL_COMPLEX_DOUBLE);
static_assert(static_cast<int>(trefoil::DataType::short_int) == TREFOIL_SHORT_INT);
static_assert(static_cast<int>(trefoil::Operation::maxloc) == TREFOIL_MAXLOC);
static_assert(trefoil::datatype_count == TREFOIL_SHORT_INT + 1);
static_assert(static_cast<int>(trefoil::Operation::average) == TREFOIL_AVG);
static_assert(trefoil::operation_count == TREFOIL_AVG + 1);
static_assert(static_cast<int>(trefoil::last_evidence) == TREFOIL_EVIDENCE_ABORTED);

struct LastError {
    std::string text;
    Status status = Status::success;
    trefoil::Blame blame;
};

/// What has failed in each thread last.
trefoil::PerThread<LastError>& last_errors() {
    static trefoil::PerThread<LastError> errors;
    return errors;
}

}  // namespace

namespace trefoil::c_api {

trefoil_status_t failed(Status status, const char* message, const Blame& blame) noexcept {
    try {
        LastError& last = last_errors().own();
        last.status = status;
        last.blame = blame;
        last.text = message;
    } catch (const std::bad_alloc&) {
        if (LastError* const last = last_errors().find()) {
            last->text.clear();
        }
    }
    return static_cast<trefoil_status_t>(status);
}

const char* last_error() noexcept {
    const LastError* const last = last_errors().find();
    return last == nullptr ? "" : last->text.c_str();
}

}  // namespace trefoil::c_api

namespace {

trefoil_cause_t cause_of(const Error& error) {
    const trefoil::Blame& blame = error.blame();
    const std::chrono::duration<double> since = blame.since.time_since_epoch();
    return {sizeof(trefoil_cause_t),
            since.count(),
            static_cast<trefoil_status_t>(error.status()),
            blame.culprit,
            static_cast<trefoil_evidence_t>(blame.evidence),
            blame.finder,
            blame.before ? 1 : 0,
            0};
}

void override_with(std::string& target, const char* value) {
    if (value != nullptr) {
        target = value;
    }
}

/// Throws what is wrong with the configuration; what says how long to wait is taken first.
void configure(trefoil::Settings& s, const trefoil_config_t& config) {
    require(config.timeout_seconds >= 0 && config.timeout_seconds < 1e9,
            "config.timeout_seconds must be 0 (default) or a positive number of seconds");
    if (config.timeout_seconds > 0) {
        s.timeout = std::chrono::milliseconds(
            std::max<std::int64_t>(1, static_cast<std::int64_t>(config.timeout_seconds * 1000)));
    }
    override_with(s.token, config.token);
    const bool has_torus = config.torus != nullptr && *config.torus != '\0';
    if (has_torus || config.coordinates != nullptr) {
        s.torus = has_torus ? config.torus : "";
        s.torus_source = "the caller's torus";
        s.hostfile.clear();
    }
    if (config.coordinates != nullptr) {
        require(config.dimensions >= 1 && config.dimensions <= 64,
                "config.coordinates is set; config.dimensions must be how many there are");
        s.coordinates.assign(config.coordinates, config.coordinates + config.dimensions);
    }
    s.progress = {config.progress, config.context};
    override_with(s.backend, config.backend);
    override_with(s.provider, config.provider);
    override_with(s.algorithm, config.algorithm);
    override_with(s.nics, config.nics);
    if (config.log != nullptr && *config.log != '\0') {
        s.log.wanted = trefoil::parse_log(config.log);
    }
    if (config.log_function != nullptr) {
        s.log.function = log_function(config.log_function, config.log_context);
    }
    constexpr std::size_t known =
        TREFOIL_CONFIG_ALLOW_OVERLAP | TREFOIL_CONFIG_FIND_NODE | TREFOIL_CONFIG_EXPECT_STALLS;
    require((config.flags & ~known) == 0, "config.flags has a bit that this version does not know");
    s.compare_buffers = (config.flags & TREFOIL_CONFIG_ALLOW_OVERLAP) == 0;
    s.find_node = (config.flags & TREFOIL_CONFIG_FIND_NODE) != 0;
    if ((config.flags & TREFOIL_CONFIG_EXPECT_STALLS) != 0 && !s.warns_as_asked) {
        s.stall_warning = std::chrono::years(10);
    }
    if (config.port_threads != 0) {
        require(config.port_threads >= -1, "config.port_threads is below -1");
        s.port_threads = config.port_threads == -1 ? 0 : config.port_threads;
    }
}

/// Runs `work`; keeps in `refusal` why it failed, if it is the first.
template <typename Work>
void attempt(std::optional<Error>& refusal, Work&& work) {
    try {
        work();
    } catch (...) {
        trefoil::tell_exception([&](Status status, const char* text, const trefoil::Blame& blame) {
            refusal = refusal ? refusal : Error(status, text, blame);
        });
    }
}

/// Counts the communicators that meet through a launcher: each gets a name of its own, alike on all
/// ranks, since those of one process are created in the same order everywhere. Every attempt
/// counts, so that one that a rank refuses does not shift the names of the next ones.
std::string next_name(const trefoil_config_t& config) {
    static std::atomic<unsigned> created{0};
    const bool by_launcher = config.ranks == 0 && config.allgather == nullptr;
    return by_launcher ? std::to_string(created.fetch_add(1)) : std::string();
}

/// Of one who has not met the others yet; -1: not known.
int rank_by(const trefoil_config_t& config, const trefoil::Settings& s) {
    return config.ranks != 0 ? config.rank : s.ranks != 0 ? s.rank : -1;
}

std::unique_ptr<trefoil::Bootstrap> bootstrap_of(const trefoil_config_t& config,
                                                 const trefoil::Settings& s,
                                                 const std::string& name) {
    if (config.ranks != 0) {
        require(config.ranks > 0, "config.ranks is negative");
        require(config.rank >= 0 && config.rank < config.ranks,
                "config.rank is not in 0 ... config.ranks - 1");
        require(config.allgather != nullptr || config.ranks == 1,
                "config.ranks is set, but config.allgather is NULL");
        return config.ranks == 1 ? trefoil::make_single_bootstrap()
                                 : trefoil::make_callback_bootstrap(
                                       config.rank, config.ranks, config.allgather, config.context);
    }
    require(config.allgather == nullptr, "config.allgather is set, but config.ranks is 0");
    return trefoil::make_launcher_bootstrap(trefoil::launcher_request(s, name));
}

/// Why it has failed, or "". A copy of this thread's: another thread's call may fail meanwhile.
const char* failure_of(const trefoil::Communicator& communicator) noexcept {
    static trefoil::PerThread<std::string> texts;
    try {
        return (texts.own() = communicator.failure().what()).c_str();
    } catch (const std::bad_alloc&) {
        return "";
    }
}

/// Whether a rank that is refused can meet the others all the same, to tell them.
bool can_meet(const trefoil_config_t& config, const trefoil::Settings& s) {
    return config.ranks != 0 || s.place_is_known ||
           trefoil::choose_launcher(trefoil::launcher_request(s)).launcher !=
               trefoil::Launcher::store;
}

}  // namespace

extern "C" {

trefoil_status_t trefoil_comm_create(const trefoil_config_t* config, trefoil_comm_t* comm) {
    if (comm != nullptr) {
        *comm = nullptr;
    }
    return guarded([&] {
        constexpr trefoil_config_t nothing_set = TREFOIL_CONFIG_INITIALIZER;
        const trefoil_config_t given =
            config == nullptr ? nothing_set : read_struct(config, "config", nothing_set);
        const std::string name = next_name(given);
        // The others may wait already: they are met and told before this rank gives up.
        std::optional<Error> refusal;
        trefoil::Settings settings = trefoil::settings_from_environment(refusal);
        attempt(refusal, [&] { configure(settings, given); });
        // The communicator makes its own when its rank is known.
        const trefoil::LogScope scope(
            std::make_shared<trefoil::Log>(settings.log, rank_by(given, settings)));
        attempt(refusal,
                [&] { require(comm != nullptr, "the place for the communicator is NULL"); });
        attempt(refusal, [] { trefoil::look_for_device_runtimes(); });
        if (refusal && !can_meet(given, settings)) {
            throw Error(*refusal);
        }
        auto bootstrap = bootstrap_of(given, settings, name);
        *comm = new_handle(std::make_unique<trefoil::Communicator>(std::move(settings),
                                                                   std::move(bootstrap), refusal));
    });
}

trefoil_status_t trefoil_comm_destroy(trefoil_comm_t comm) {
    if (comm == nullptr) {
        return TREFOIL_SUCCESS;
    }
    return guarded([&] {
        {
            const Entry entry(comm);
            if (const auto calls = entry->calls_in_flight(); calls > 0) {
                throw Error(Status::busy, std::to_string(calls) +
                                              (calls == 1 ? " call is" : " calls are") +
                                              " in flight on this communicator; wait for the "
                                              "requests before it is destroyed");
            }
        }
        end_handle(comm);
    });
}

trefoil_status_t trefoil_comm_rank(trefoil_comm_t comm, int* rank) {
    return guarded([&] {
        require_there(comm);
        require(rank != nullptr, "the place for the rank is NULL");
        *rank = comm->rank;
    });
}

trefoil_status_t trefoil_comm_size(trefoil_comm_t comm, int* ranks) {
    return guarded([&] {
        require_there(comm);
        require(ranks != nullptr, "the place for the size is NULL");
        *ranks = comm->ranks;
    });
}

trefoil_status_t trefoil_comm_torus(trefoil_comm_t comm, int* dimensions, int* sizes,
                                    int capacity) {
    return guarded([&] {
        require_there(comm);
        require(dimensions != nullptr, "the place for the number of dimensions is NULL");
        require(sizes == nullptr || capacity >= 0, "the capacity is negative");
        const trefoil::Torus& torus = comm->communicator->torus();
        *dimensions = torus.dimensions();
        for (int j = 0; sizes != nullptr && j < std::min(capacity, torus.dimensions()); ++j) {
            sizes[j] = torus.size(j);
        }
    });
}

trefoil_status_t trefoil_comm_ranks_per_node(trefoil_comm_t comm, int* ranks) {
    return guarded([&] {
        require_there(comm);
        require(ranks != nullptr, "the place for the number of ranks is NULL");
        *ranks = comm->communicator->torus().per_node();
    });
}

trefoil_status_t trefoil_comm_torus_source(trefoil_comm_t comm, const char** source) {
    return guarded([&] {
        require_there(comm);
        require(source != nullptr, "the place for the source is NULL");
        *source = comm->communicator->torus_map().source.c_str();
    });
}

trefoil_status_t trefoil_comm_coordinates(trefoil_comm_t comm, int rank, int* coordinates,
                                          int capacity) {
    return guarded([&] {
        require_there(comm);
        require(rank >= 0 && rank < comm->ranks, "the rank is not in 0 ... ranks - 1");
        require(coordinates != nullptr, "the place for the coordinates is NULL");
        const trefoil::TorusMap& map = comm->communicator->torus_map();
        const trefoil::Torus& torus = map.torus;
        require(capacity >= torus.dimensions(), "the capacity is below the number of dimensions");
        for (int j = 0; j < torus.dimensions(); ++j) {
            coordinates[j] = torus.coordinate(map.position_of[rank], j);
        }
    });
}

trefoil_status_t trefoil_comm_failure(trefoil_comm_t comm, const char** text) {
    return guarded([&] {
        require_there(comm);
        require(text != nullptr, "the place for the text is NULL");
        *text = failure_of(*comm->communicator);
    });
}

trefoil_status_t trefoil_comm_transport(trefoil_comm_t comm, const char** backend,
                                        const char** provider) {
    return guarded([&] {
        require_there(comm);
        if (backend != nullptr) {
            *backend = comm->communicator->backend().c_str();
        }
        if (provider != nullptr) {
            *provider = comm->communicator->provider().c_str();
        }
    });
}

trefoil_status_t trefoil_comm_resources(trefoil_comm_t comm, trefoil_resources_t* resources) {
    return guarded([&] {
        const Entry entry(comm);
        const trefoil::Communicator::Resources held = entry->resources();
        const trefoil_resources_t told{
            sizeof told,          held.peers,          held.connections_in,
            held.connections_out, held.landing_bytes,  held.staging_bytes,
            held.plan_bytes,      held.received_bytes, held.copied_bytes};
        write_struct(resources, "resources", told);
    });
}

trefoil_status_t trefoil_comm_port(trefoil_comm_t comm, int port, trefoil_port_t* sent) {
    return guarded([&] {
        const Entry entry(comm);
        const int ports = entry->torus().ports();
        if (port < 0 || port >= ports) {
            refuse("the port is " + std::to_string(port) + "; this torus has ports 0 ... " +
                   std::to_string(ports - 1));
        }
        const trefoil::Communicator::PortUse use = entry->port_use(trefoil::Port{port});
        write_struct(sent, "sent", trefoil_port_t{sizeof *sent, use.puts, use.bytes, use.nic});
    });
}

const char* trefoil_status_string(trefoil_status_t status) {
    switch (status) {
        case TREFOIL_SUCCESS:
            return "success";
        case TREFOIL_ERROR_INVALID_ARGUMENT:
            return "invalid argument";
        case TREFOIL_ERROR_UNSUPPORTED:
            return "unsupported";
        case TREFOIL_ERROR_NOT_FOUND:
            return "not found";
        case TREFOIL_ERROR_MISMATCH:
            return "mismatch";
        case TREFOIL_ERROR_TIMEOUT:
            return "timeout";
        case TREFOIL_ERROR_PEER_LOST:
            return "peer lost";
        case TREFOIL_ERROR_BUSY:
            return "communicator busy";
        case TREFOIL_ERROR_OUT_OF_MEMORY:
            return "out of memory";
        case TREFOIL_ERROR_SYSTEM:
            return "system error";
        case TREFOIL_ERROR_INTERNAL:
            return "internal error";
        case TREFOIL_ERROR_ABORTED:
            return "aborted by a rank";
    }
    return "unknown status";
}

const char* trefoil_last_error(trefoil_comm_t comm) {
    const char* const failure =
        comm == nullptr || comm->communicator == nullptr ? "" : failure_of(*comm->communicator);
    return *failure != '\0' ? failure : last_error();
}

trefoil_status_t trefoil_last_cause(trefoil_comm_t comm, trefoil_cause_t* cause) {
    return guarded([&] {
        const LastError* const own = last_errors().find();
        Error last(own == nullptr ? Status::success : own->status, "",
                   own == nullptr ? trefoil::Blame() : own->blame);
        if (comm != nullptr && comm->communicator != nullptr) {
            const Error failure = comm->communicator->failure();
            last = failure.status() == Status::success ? last : failure;
        }
        write_struct(cause, "cause", cause_of(last));
    });
}

size_t trefoil_datatype_size(trefoil_datatype_t datatype) {
    return static_cast<unsigned>(datatype) < trefoil::datatype_count
               ? trefoil::size_of(static_cast<trefoil::DataType>(datatype))
               : 0;
}

const char* trefoil_version_string(void) {
    return TREFOIL_VERSION_STRING;
}

int trefoil_version(void) {
    return TREFOIL_VERSION;
}

}  // extern "C"
