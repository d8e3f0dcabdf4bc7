// SPDX-License-Identifier: BSD-3-Clause
// Opens and closes UCX contexts, workers and endpoints.
#include "backend/ucx/rail.hpp"

#include <chrono>
#include <mutex>
#include <thread>

#include "backend/system/plain_locale.hpp"
#include "backend/system/room_to_map.hpp"
#include "backend/ucx/discovery.hpp"
#include "topo/patience.hpp"

namespace trefoil::ucx {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::microseconds settling{500};

// Numbers of active messages.
constexpr unsigned payload = 0;
constexpr unsigned farewell = 1;

ucs_status_t ignore(void*, const void*, std::size_t, void*, std::size_t,
                    const ucp_am_recv_param_t*) {
    return UCS_OK;
}

// Keeps what is never freed reachable, so that leak checkers can tell it from a leak.
void remember(void* object) {
    static std::mutex mutex;
    static auto& objects = *new std::vector<void*>;
    const std::scoped_lock lock(mutex);
    objects.push_back(object);
}

/// Those of its event sets, pipes and sockets. Where it can open none, or start no thread, UCX 1.13
/// ends the process.
constexpr int files_of_a_rail = 16;

Context open_context(const ucp_config_t& config, const std::string& transports) {
    ucp_params_t parameters{};
    parameters.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
    parameters.features = UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_WAKEUP;
    parameters.mt_workers_shared = 0;
    ucp_context_h context = nullptr;
    const ucs_status_t status =
        library().init_version(UCP_API_MAJOR, UCP_API_MINOR, &parameters, &config, &context);
    if (status == UCS_ERR_NO_DEVICE) {
        throw Error(Status::not_found,
                    "UCX finds no device for the transports \"" + transports +
                        "\" (TREFOIL_PROVIDER, UCX_TLS, UCX_NET_DEVICES); here it has: " +
                        transport_names(resources()));
    }
    check(status, "open a context for the transports \"" + transports + "\"");
    return Context(context);
}

// Serialized, because the thread that sets a group up hands it to its owner thread afterwards.
Worker open_worker(ucp_context_h context) {
    ucp_worker_params_t parameters{};
    parameters.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_FLAGS;
    parameters.thread_mode = UCS_THREAD_MODE_SERIALIZED;
    parameters.flags = UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK;
    ucp_worker_h worker = nullptr;
    check(library().worker_create(context, &parameters, &worker), "create a worker");
    return Worker(worker);
}

std::string address_of(ucp_worker_h worker) {
    ucp_address_t* address = nullptr;
    std::size_t bytes = 0;
    check(library().worker_get_address(worker, &address, &bytes), "get a worker's address");
    std::string copy(reinterpret_cast<const char*>(address), bytes);
    library().worker_release_address(worker, address);
    return copy;
}

void note_loss(void* endpoint, ucp_ep_h, ucs_status_t status) {
    Endpoint& lost = *static_cast<Endpoint*>(endpoint);
    lost.lost = status;
    *lost.any_is_lost = true;
}

}  // namespace

Rail::Rail(const std::string& transports, std::string device, ucp_am_recv_callback_t handler,
           void* argument)
    : device_(std::move(device)) {
    require_room_for_files_and_a_thread("UCX", files_of_a_rail);
    const PlainLocale locale;
    const Config config = read_config(transports, device_);
    transports_ = transports_of(*config);
    context_ = open_context(*config, transports_);
    worker_ = open_worker(context_.get());
    address_ = address_of(worker_.get());
    handle(payload, handler, argument);
    handle(farewell, ignore, nullptr);
    if (library().worker_get_efd(worker_.get(), &event_fd_) != UCS_OK) {
        event_fd_ = -1;
    }
}

void Rail::handle(unsigned message, ucp_am_recv_callback_t handler, void* argument) {
    ucp_am_handler_param_t parameters{};
    parameters.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                            UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    parameters.id = message;
    parameters.flags = UCP_AM_FLAG_WHOLE_MSG;
    parameters.cb = handler;
    parameters.arg = argument;
    check(library().worker_set_am_recv_handler(worker_.get(), &parameters),
          "receive active messages");
}

// No error handling mode: the transports over shared memory have none, and asking for it would
// make UCX pass them over in favour of sockets. Those that notice a lost peer tell all the
// same.
Endpoint& Rail::connect(const std::string& worker_address) {
    const auto refused = refused_.find(worker_address);
    const auto [place, is_new] = endpoints_.try_emplace(worker_address);
    Endpoint& endpoint = place->second;
    if (!is_new) {
        return endpoint;
    }
    endpoint.any_is_lost = &any_is_lost_;
    ucp_ep_params_t parameters{};
    parameters.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    parameters.address = reinterpret_cast<const ucp_address_t*>(worker_address.data());
    parameters.err_handler.cb = note_loss;
    parameters.err_handler.arg = &endpoint;
    const ucs_status_t status =
        refused != refused_.end()
            ? refused->second
            : library().ep_create(worker_.get(), &parameters, &endpoint.handle);
    if (status != UCS_OK) {
        refused_.emplace(worker_address, status);
        endpoints_.erase(place);
    }
    const bool at_the_peer = status == UCS_ERR_UNREACHABLE || status == UCS_ERR_REJECTED ||
                             status == UCS_ERR_CONNECTION_RESET || status == UCS_ERR_SHMEM_SEGMENT;
    check(status,
          "connect to a peer with the transports \"" + transports_ +
              "\" (do all ranks use the same UCX_TLS, and can these reach the peer's host?)",
          at_the_peer ? Status::peer_lost : Status::system_error);
    return endpoint;
}

// Sends a last message through the endpoints that were used, or the others; true when all are off.
bool Rail::bid_farewell(bool used, Clock::time_point deadline) {
    ucp_request_param_t parameters{};
    std::vector<ucs_status_ptr_t> requests;
    for (const auto& [address, endpoint] : endpoints_) {
        if (endpoint.used == used) {
            requests.push_back(library().am_send_nbx(endpoint.handle, farewell, nullptr, 0, nullptr,
                                                     0, &parameters));
        }
    }
    bool done = true;
    for (const ucs_status_ptr_t request : requests) {
        if (!UCS_PTR_IS_PTR(request)) {
            continue;
        }
        while (library().request_check_status(request) == UCS_INPROGRESS &&
               Clock::now() < deadline) {
            if (library().worker_progress(worker_.get()) == 0) {
                std::this_thread::yield();
            }
        }
        done = done && library().request_check_status(request) != UCS_INPROGRESS;
        library().request_free(request);
    }
    return done;
}

// What was accepted has to leave. A flush would not do: over sockets it asks the peer for an
// answer, and the peer may be closing another of its groups, waiting for another of ours. A last
// message that is accepted has pushed all before it on the way; nothing is lost with it. An
// endpoint that was never used may still be connecting, which takes the peer's help. Bounded,
// because a peer may be dead. The rounds afterwards read what came meanwhile: unread bytes in a
// socket would make the kernel reset the connection, which can take our last bytes with it.
void Rail::drain(Clock::time_point deadline) {
    const bool sent = bid_farewell(true, deadline);
    const bool connected = bid_farewell(false, Clock::now() + patience().drain_of_connecting);
    drained_ = sent && connected;
    const Clock::time_point end = Clock::now() + settling;
    do {
        progress();
    } while (Clock::now() < end);
}

// UCX 1.13 ends the process when a worker is destroyed whose connection requests wait for a peer,
// or whose answers to a peer's found no way to it. Peers do go without an answer. Such workers, and
// their contexts, stay; they are few, and nobody progresses them any more.
void Rail::close() {
    if (drained_ && !abandoned_) {
        worker_.reset();
    } else if (worker_) {
        remember(worker_.release());
    }
}

Rail::~Rail() {
    close();
    if (!drained_ || abandoned_) {
        remember(context_.release());
    }
}

}  // namespace trefoil::ucx
