// SPDX-License-Identifier: BSD-3-Clause
// Requests: test, wait, start and free.
#include "comm/api/c_requests.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "comm/api/c_guard.hpp"

using namespace trefoil;
using namespace trefoil::c_api;
using State = trefoil_request::State;

namespace {

std::atomic<unsigned> process_number{0};

constexpr std::size_t at_a_time = 16;
constexpr std::uintptr_t number_mask = (std::uintptr_t{1} << trefoil_request::number_bits) - 1;
/// Chunk k has 2^k times at_a_time requests.
constexpr int most_chunks = trefoil_request::number_bits - 4;
static_assert(at_a_time << most_chunks == number_mask + 1);

constexpr std::size_t first_of(int chunk) {
    return at_a_time * ((std::size_t{1} << chunk) - 1);
}

/// All of the process. Never destroyed.
struct AllRequests {
    std::mutex mutex;  ///< guards `free`, and who adds a chunk
    std::vector<trefoil_request*> free;
    int made = 0;
    /// The release of a chunk pairs with the acquire of who looks for a request.
    std::array<std::atomic<trefoil_request*>, most_chunks> chunks{};

    void add_chunk() {
        if (made == most_chunks) {
            throw Error(Status::out_of_memory, "there are too many requests; free some of them");
        }
        const std::size_t length = at_a_time << made;
        free.reserve(first_of(made + 1));  // so that no one that comes back needs memory
        auto* const chunk = new trefoil_request[length];
        for (std::size_t i = length; i-- > 0;) {
            chunk[i].bits = (number_mask + 1) | (first_of(made) + i + 1);
            free.push_back(chunk + i);
        }
        chunks[static_cast<std::size_t>(made++)].store(chunk, std::memory_order_release);
    }
    /// Null: there is none of this handle, or not any more.
    trefoil_request* find(trefoil_request_t handle) const noexcept {
        const auto bits = reinterpret_cast<std::uintptr_t>(handle);
        const std::size_t number = bits & number_mask;
        const int k = number == 0
                          ? most_chunks
                          : static_cast<int>(std::bit_width((number - 1) / at_a_time + 1)) - 1;
        if (k >= most_chunks) {
            return nullptr;
        }
        trefoil_request* const chunk =
            chunks[static_cast<std::size_t>(k)].load(std::memory_order_acquire);
        if (chunk == nullptr) {
            return nullptr;
        }
        trefoil_request* const found = chunk + (number - 1 - first_of(k));
        return found->handle() == handle ? found : nullptr;
    }
};

AllRequests& all_requests() {
    static auto* const instance = new AllRequests;
    return *instance;
}

}  // namespace

namespace trefoil::c_api {

unsigned this_process_number() noexcept {
    static const int registered = pthread_atfork(
        nullptr, nullptr, [] { process_number.fetch_add(1, std::memory_order_relaxed); });
    (void)registered;
    return process_number.load(std::memory_order_relaxed);
}

RequestPool::~RequestPool() {
    AllRequests& all = all_requests();
    const std::lock_guard lock(all.mutex);
    for (trefoil_request* const request : all_) {
        const State state = request->state.load(std::memory_order_relaxed);
        const bool has_user = state == State::inactive || state == State::active;
        clear(*request, has_user ? State::orphan : State::free);
        if (!has_user) {
            all.free.push_back(request);
        }
    }
}

trefoil_request& RequestPool::take() {
    if (free_ == nullptr) {
        collect_forgotten();
        free_ = returned_.take_all();
    }
    if (free_ == nullptr) {
        AllRequests& all = all_requests();
        const std::lock_guard lock(all.mutex);
        all_.reserve(all_.size() + at_a_time);
        if (all.free.size() < at_a_time) {
            all.add_chunk();
        }
        for (std::size_t i = 0; i < at_a_time; ++i) {
            trefoil_request* const request = all.free.back();
            all.free.pop_back();
            all_.push_back(request);
            request->next = free_;
            free_ = request;
        }
    }
    trefoil_request& request = *free_;
    free_ = request.next;
    request.comm = &comm_;
    return request;
}

void RequestPool::collect_forgotten() noexcept {
    for (trefoil_request* request = forgotten_.take_all(); request != nullptr;) {
        trefoil_request* const next = request->next;
        if (comm_.communicator->is_over(request->call)) {
            give_back(*request);
        } else {
            forgotten_.push(*request);
        }
        request = next;
    }
}

void RequestPool::clear(trefoil_request& request, State state) noexcept {
    request.call.plan.reset();
    request.call.persistent.reset();
    request.call.operation.reset();
    request.call.holds.store(Holds::nothing, std::memory_order_relaxed);
    request.state.store(state, std::memory_order_relaxed);
}

void RequestPool::give_back(trefoil_request& request) noexcept {
    request.retire();
    clear(request, State::free);
    returned_.push(request);
}

trefoil_request_t RequestPool::begin(bool persistent, const Request& asked, const void* send,
                                     void* recv) {
    trefoil_request& request = take();
    request.persistent = persistent;
    try {
        comm_.communicator->prepare(request.call, asked, send, recv, persistent);
        if (persistent) {
            request.state.store(State::inactive, std::memory_order_relaxed);
        } else {
            start(request);
        }
    } catch (...) {
        give_back(request);
        throw;
    }
    return request.handle();
}

void RequestPool::start(trefoil_request& request) {
    comm_.communicator->start(request.call);
    request.state.store(State::active, std::memory_order_relaxed);
}

void RequestPool::end(trefoil_request& request) noexcept {
    if (request.persistent) {
        request.call.operation.reset();
        request.call.holds.store(Holds::nothing, std::memory_order_relaxed);
        request.state.store(State::inactive, std::memory_order_relaxed);
    } else {
        give_back(request);
    }
}

void RequestPool::forget(trefoil_request& request) noexcept {
    if (request.state.load(std::memory_order_relaxed) == State::active) {
        request.retire();
        request.call.holds.store(Holds::until_over, std::memory_order_relaxed);
        request.state.store(State::forgotten, std::memory_order_relaxed);
        forgotten_.push(request);
    } else {
        give_back(request);
    }
}

}  // namespace trefoil::c_api

namespace {

trefoil_request& request_of(trefoil_request_t handle) {
    trefoil_request* const request = all_requests().find(handle);
    require(request != nullptr, "this is not a request, or it was freed");
    return *request;
}

/// Whose communicator is there.
trefoil_request& living_request_of(trefoil_request_t handle) {
    trefoil_request& request = request_of(handle);
    require(request.state.load(std::memory_order_relaxed) != State::orphan,
            "the request's communicator was destroyed; free the request");
    return request;
}

/// A request of the user's that is under way; null: there is nothing to wait for.
trefoil_request* under_way(trefoil_request_t handle) {
    if (handle == TREFOIL_REQUEST_NULL) {
        return nullptr;
    }
    trefoil_request& request = living_request_of(handle);
    if (request.state.load(std::memory_order_relaxed) == State::inactive) {
        return nullptr;
    }
    require_usable(request.comm);
    return &request;
}

void require_list(int count, const trefoil_request_t* requests) {
    require(count >= 0, "the number of requests is negative");
    require(count == 0 || requests != nullptr, "the list of requests is NULL");
}

bool is_over(trefoil_request_t handle) {
    const trefoil_request* const waited = under_way(handle);
    return waited == nullptr || waited->comm->communicator->is_over(waited->call);
}

/// Ends a call that is over, or waits for that first; throws why it has failed.
void finish(trefoil_request_t* place) {
    trefoil_request* const request = under_way(*place);
    if (request == nullptr) {
        return;
    }
    struct End {
        trefoil_request& request;
        trefoil_request_t* place;
        ~End() {
            if (!request.persistent) {
                *place = TREFOIL_REQUEST_NULL;
            }
            request.comm->requests->end(request);
        }
    } const end{*request, place};
    request->comm->communicator->wait(request->call);
}

/// Ends all of them; throws why the first one has failed.
void finish_all(int count, trefoil_request_t* requests) {
    std::exception_ptr first;
    for (int i = 0; i < count; ++i) {
        try {
            finish(requests + i);
        } catch (...) {
            first = first ? first : std::current_exception();
        }
    }
    if (first) {
        std::rethrow_exception(first);
    }
}

/// One of each of the communicators that the requests are of.
std::vector<Communicator*> communicators_of(int count, const trefoil_request_t* requests) {
    std::vector<Communicator*> found;
    for (int i = 0; i < count; ++i) {
        if (const trefoil_request* const request = under_way(requests[i])) {
            Communicator* const communicator = request->comm->communicator.get();
            const auto alike = [&](const Communicator* one) {
                return one->engine() == communicator->engine();
            };
            if (std::none_of(found.begin(), found.end(), alike)) {
                found.push_back(communicator);
            }
        }
    }
    return found;
}

void start(trefoil_request_t* place) {
    require(place != nullptr && *place != TREFOIL_REQUEST_NULL, "there is no request to start");
    trefoil_request& request = living_request_of(*place);
    require(request.state.load(std::memory_order_relaxed) == State::inactive,
            request.persistent
                ? "the request is under way already; wait for it before it is started again"
                : "a nonblocking call has begun already; only what an _init function made is "
                  "started");
    const Entry entry(request.comm);
    request.comm->requests->start(request);
}

}  // namespace

extern "C" {

trefoil_status_t trefoil_test(trefoil_request_t* request, int* done) {
    return guarded([&] {
        require(request != nullptr, "the place of the request is NULL");
        require(done != nullptr, "the place for the answer is NULL");
        *done = 0;
        if (!is_over(*request)) {
            request_of(*request).comm->communicator->progress();
            if (!is_over(*request)) {
                return;
            }
        }
        *done = 1;
        finish(request);
    });
}

trefoil_status_t trefoil_wait(trefoil_request_t* request) {
    return guarded([&] {
        require(request != nullptr, "the place of the request is NULL");
        finish(request);
    });
}

trefoil_status_t trefoil_testall(int count, trefoil_request_t* requests, int* done) {
    return guarded([&] {
        require_list(count, requests);
        require(done != nullptr, "the place for the answer is NULL");
        *done = 0;
        const auto all_over = [&] { return std::all_of(requests, requests + count, is_over); };
        if (!all_over()) {
            for (Communicator* const communicator : communicators_of(count, requests)) {
                communicator->progress();
            }
            if (!all_over()) {
                return;
            }
        }
        *done = 1;
        finish_all(count, requests);
    });
}

trefoil_status_t trefoil_waitall(int count, trefoil_request_t* requests) {
    return guarded([&] {
        require_list(count, requests);
        finish_all(count, requests);
    });
}

trefoil_status_t trefoil_waitany(int count, trefoil_request_t* requests, int* index) {
    return guarded([&] {
        require_list(count, requests);
        require(index != nullptr, "the place for the index is NULL");
        *index = -1;
        const auto over = [](trefoil_request_t one) {
            const trefoil_request* const waited = under_way(one);
            return waited != nullptr && waited->comm->communicator->is_over(waited->call);
        };
        const std::vector<Communicator*> communicators = communicators_of(count, requests);
        if (communicators.empty()) {
            return;
        }
        const auto any_over = [&] { return std::any_of(requests, requests + count, over); };
        if (communicators.size() == 1) {
            communicators[0]->wait_until(any_over);
        }
        Waiting waiting(false);
        while (!any_over()) {
            for (Communicator* const communicator : communicators) {
                communicator->progress();
            }
            std::this_thread::sleep_for(
                std::min<std::chrono::microseconds>(waiting.idle(), longest_sleep_with_progress));
        }
        *index = static_cast<int>(std::find_if(requests, requests + count, over) - requests);
        finish(requests + *index);
    });
}

trefoil_status_t trefoil_start(trefoil_request_t* request) {
    return guarded([&] { start(request); });
}

trefoil_status_t trefoil_startall(int count, trefoil_request_t* requests) {
    return guarded([&] {
        require_list(count, requests);
        for (int i = 0; i < count; ++i) {
            start(requests + i);
        }
    });
}

trefoil_status_t trefoil_request_free(trefoil_request_t* place) {
    return guarded([&] {
        require(place != nullptr, "the place of the request is NULL");
        if (*place == TREFOIL_REQUEST_NULL) {
            return;
        }
        trefoil_request& request = request_of(*place);
        *place = TREFOIL_REQUEST_NULL;
        if (request.state.load(std::memory_order_relaxed) == State::orphan) {
            AllRequests& all = all_requests();
            const std::lock_guard lock(all.mutex);
            request.retire();
            request.state.store(State::free, std::memory_order_relaxed);
            all.free.push_back(&request);
        } else {
            request.comm->requests->forget(request);
        }
    });
}

trefoil_status_t trefoil_progress(trefoil_comm_t comm) {
    return guarded([&] {
        require_usable(comm);
        comm->communicator->progress();
    });
}

trefoil_status_t trefoil_comm_in_flight(trefoil_comm_t comm, int* calls) {
    return guarded([&] {
        require_usable(comm);
        require(calls != nullptr, "the place for the number is NULL");
        *calls = static_cast<int>(comm->communicator->calls_in_flight());
    });
}

}  // extern "C"
