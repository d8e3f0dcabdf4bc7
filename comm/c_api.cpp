// SPDX-License-Identifier: BSD-3-Clause
// The C interface: argument checks, one caller at a time, and every exception turned into a status.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>

#include "comm/communicator.hpp"
#include "trefoil/trefoil.h"

using trefoil::Error;
using trefoil::Status;

struct trefoil_comm {
    std::unique_ptr<trefoil::Communicator> communicator;
    std::atomic_flag entered = ATOMIC_FLAG_INIT;
    int rank = 0, ranks = 0;
};

namespace {

static_assert(static_cast<int>(Status::internal) == TREFOIL_ERROR_INTERNAL);
static_assert(static_cast<int>(trefoil::DataType::complex_double) == TREFOIL_COMPLEX_DOUBLE);
static_assert(static_cast<int>(trefoil::Operation::logical_xor) == TREFOIL_LXOR);
static_assert(trefoil::datatype_count == TREFOIL_COMPLEX_DOUBLE + 1);
static_assert(trefoil::operation_count == TREFOIL_LXOR + 1);

thread_local std::string last_error;

trefoil_status_t failed(Status status, const char* message) noexcept {
    try {
        last_error = message;
    } catch (...) {
        last_error.clear();
    }
    return static_cast<trefoil_status_t>(status);
}

/// Runs `work`; turns what it throws into a status and this thread's last error.
template <typename Work>
trefoil_status_t guarded(Work&& work) noexcept {
    try {
        work();
        return TREFOIL_SUCCESS;
    } catch (const Error& error) {
        return failed(error.status(), error.what());
    } catch (const std::bad_alloc&) {
        return failed(Status::out_of_memory, "out of memory");
    } catch (const std::exception& error) {
        return failed(Status::internal, error.what());
    } catch (...) {
        return failed(Status::internal, "an unknown exception; please report this");
    }
}

void require(bool condition, const char* message) {
    if (!condition) {
        throw Error(Status::invalid_argument, message);
    }
}

/// Holds the communicator for one call; a second thread is refused, not queued.
class Entry {
  public:
    explicit Entry(trefoil_comm_t comm) : comm_(comm) {
        require(comm != nullptr, "the communicator is NULL");
        if (comm->entered.test_and_set(std::memory_order_acquire)) {
            throw Error(Status::busy,
                        "another thread is inside this communicator; one call at a time, or one "
                        "communicator per thread");
        }
    }
    ~Entry() { comm_->entered.clear(std::memory_order_release); }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    trefoil::Communicator& operator*() const { return *comm_->communicator; }
    trefoil::Communicator* operator->() const { return comm_->communicator.get(); }

  private:
    trefoil_comm_t comm_;
};

trefoil::DataType checked(trefoil_datatype_t type) {
    require(static_cast<unsigned>(type) < trefoil::datatype_count,
            "the datatype is none of trefoil_datatype_t");
    return static_cast<trefoil::DataType>(type);
}

trefoil::Operation checked(trefoil_op_t op) {
    require(static_cast<unsigned>(op) < trefoil::operation_count, "the op is none of trefoil_op_t");
    return static_cast<trefoil::Operation>(op);
}

/// No machine gives a process more than 57 bits of addresses, half of them its own.
constexpr std::size_t most_bytes =
    static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) >>
    (sizeof(std::size_t) > 4 ? 7 : 0);

std::size_t checked_bytes(std::size_t count, trefoil::DataType type) {
    require(count <= most_bytes / trefoil::size_of(type),
            "count times the element size exceeds the address space");
    return count * trefoil::size_of(type);
}

trefoil::Collective checked_collective(const char* name) {
    require(name != nullptr, "the collective's name is NULL");
    for (const auto collective : {trefoil::Collective::allreduce, trefoil::Collective::barrier}) {
        if (to_string(collective) == name) {
            return collective;
        }
    }
    throw Error(Status::not_found, "no collective is named \"" + std::string(name) +
                                       "\"; there are allreduce and barrier");
}

/// Fields of a configuration of an older, shorter struct are absent: `size` says how much is there.
trefoil_config_t complete(const trefoil_config_t* config) {
    trefoil_config_t result = TREFOIL_CONFIG_INITIALIZER;
    if (config != nullptr) {
        require(config->size >= sizeof(std::size_t) && config->size <= sizeof result,
                "config->size is not sizeof(trefoil_config_t); start from "
                "TREFOIL_CONFIG_INITIALIZER");
        std::memcpy(&result, config, config->size);
    }
    return result;
}

void override_with(std::string& target, const char* value) {
    if (value != nullptr) {
        target = value;
    }
}

trefoil::Settings settings_of(const trefoil_config_t& config) {
    trefoil::Settings s = trefoil::settings_from_environment();
    override_with(s.torus, config.torus);
    override_with(s.backend, config.backend);
    override_with(s.provider, config.provider);
    override_with(s.algorithm, config.algorithm);
    override_with(s.nics, config.nics);
    if (config.port_threads != 0) {
        require(config.port_threads >= -1, "config.port_threads is below -1");
        s.port_threads = config.port_threads == -1 ? 0 : config.port_threads;
    }
    require(config.timeout_seconds >= 0 && config.timeout_seconds < 1e9,
            "config.timeout_seconds must be 0 (default) or a positive number of seconds");
    if (config.timeout_seconds > 0) {
        s.timeout = std::chrono::milliseconds(
            std::max<std::int64_t>(1, static_cast<std::int64_t>(config.timeout_seconds * 1000)));
    }
    return s;
}

std::unique_ptr<trefoil::Bootstrap> bootstrap_of(const trefoil_config_t& config,
                                                 const trefoil::Settings& s) {
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
    // Communicators of one process are created in the same order on all ranks.
    static std::atomic<unsigned> created{0};
    return trefoil::make_launcher_bootstrap(
        trefoil::launcher_request(s, std::to_string(created.fetch_add(1))));
}

}  // namespace

extern "C" {

trefoil_status_t trefoil_comm_create(const trefoil_config_t* config, trefoil_comm_t* comm) {
    if (comm != nullptr) {
        *comm = nullptr;
    }
    return guarded([&] {
        require(comm != nullptr, "the place for the communicator is NULL");
        const trefoil_config_t given = complete(config);
        trefoil::Settings settings = settings_of(given);
        auto bootstrap = bootstrap_of(given, settings);
        auto handle = std::make_unique<trefoil_comm>();
        handle->communicator =
            std::make_unique<trefoil::Communicator>(std::move(settings), std::move(bootstrap));
        handle->rank = handle->communicator->rank();
        handle->ranks = handle->communicator->ranks();
        *comm = handle.release();
    });
}

trefoil_status_t trefoil_comm_destroy(trefoil_comm_t comm) {
    if (comm == nullptr) {
        return TREFOIL_SUCCESS;
    }
    return guarded([&] {
        { const Entry entry(comm); }
        delete comm;
    });
}

trefoil_status_t trefoil_comm_rank(trefoil_comm_t comm, int* rank) {
    return guarded([&] {
        require(comm != nullptr, "the communicator is NULL");
        require(rank != nullptr, "the place for the rank is NULL");
        *rank = comm->rank;
    });
}

trefoil_status_t trefoil_comm_size(trefoil_comm_t comm, int* ranks) {
    return guarded([&] {
        require(comm != nullptr, "the communicator is NULL");
        require(ranks != nullptr, "the place for the size is NULL");
        *ranks = comm->ranks;
    });
}

trefoil_status_t trefoil_comm_torus(trefoil_comm_t comm, int* dimensions, int* sizes,
                                    int capacity) {
    return guarded([&] {
        require(comm != nullptr, "the communicator is NULL");
        require(dimensions != nullptr, "the place for the number of dimensions is NULL");
        require(sizes == nullptr || capacity >= 0, "the capacity is negative");
        const trefoil::Torus& torus = comm->communicator->torus();
        *dimensions = torus.dimensions();
        for (int j = 0; sizes != nullptr && j < std::min(capacity, torus.dimensions()); ++j) {
            sizes[j] = torus.size(j);
        }
    });
}

trefoil_status_t trefoil_comm_transport(trefoil_comm_t comm, const char** backend,
                                        const char** provider) {
    return guarded([&] {
        require(comm != nullptr, "the communicator is NULL");
        if (backend != nullptr) {
            *backend = comm->communicator->backend().c_str();
        }
        if (provider != nullptr) {
            *provider = comm->communicator->provider().c_str();
        }
    });
}

trefoil_status_t trefoil_comm_set_algorithm(trefoil_comm_t comm, const char* collective,
                                            const char* algorithm) {
    return guarded([&] {
        const Entry entry(comm);
        require(algorithm != nullptr, "the algorithm's name is NULL");
        entry->set_algorithm(checked_collective(collective), algorithm);
    });
}

trefoil_status_t trefoil_comm_algorithm(trefoil_comm_t comm, const char* collective, size_t count,
                                        trefoil_datatype_t datatype, const char** algorithm) {
    return guarded([&] {
        const Entry entry(comm);
        require(algorithm != nullptr, "the place for the algorithm's name is NULL");
        const std::size_t bytes = checked_bytes(count, checked(datatype));
        *algorithm = entry->algorithm(checked_collective(collective), bytes).name.data();
    });
}

trefoil_status_t trefoil_allreduce(const void* send, void* recv, size_t count,
                                   trefoil_datatype_t datatype, trefoil_op_t op,
                                   trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm);
        const trefoil::DataType type = checked(datatype);
        const trefoil::Operation operation = checked(op);
        const std::size_t bytes = checked_bytes(count, type);
        if (trefoil::reduce_kernels(type, operation).reduce == nullptr) {
            throw Error(Status::unsupported, std::string(to_string(operation)) +
                                                 " makes no sense for " +
                                                 std::string(to_string(type)));
        }
        const void* from = send == TREFOIL_IN_PLACE ? recv : send;
        if (count > 0) {
            require(recv != nullptr && recv != TREFOIL_IN_PLACE, "the receive buffer is NULL");
            require(from != nullptr, "the send buffer is NULL");
            const auto a = reinterpret_cast<std::uintptr_t>(from);
            const auto b = reinterpret_cast<std::uintptr_t>(recv);
            require(a == b || a + bytes <= b || b + bytes <= a,
                    "the send and receive buffers overlap in part; give the same buffer "
                    "(in place) or disjoint ones");
        }
        entry->allreduce(from, recv, count, type, operation);
    });
}

trefoil_status_t trefoil_barrier(trefoil_comm_t comm) {
    return guarded([&] { Entry(comm)->barrier(); });
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
            return "the ranks disagree";
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
    }
    return "unknown status";
}

const char* trefoil_last_error(trefoil_comm_t comm) {
    return comm == nullptr ? last_error.c_str() : comm->communicator->failure().c_str();
}

size_t trefoil_datatype_size(trefoil_datatype_t datatype) {
    return static_cast<unsigned>(datatype) < trefoil::datatype_count
               ? trefoil::size_of(static_cast<trefoil::DataType>(datatype))
               : 0;
}

const char* trefoil_version_string(void) {
    return TREFOIL_VERSION_STRING;
}

void trefoil_version(int* major, int* minor, int* patch) {
    for (const auto& [place, value] :
         {std::pair{major, TREFOIL_VERSION_MAJOR}, std::pair{minor, TREFOIL_VERSION_MINOR},
          std::pair{patch, TREFOIL_VERSION_PATCH}}) {
        if (place != nullptr) {
            *place = value;
        }
    }
}

}  // extern "C"
