// SPDX-License-Identifier: BSD-3-Clause
// Which scenes there are, and how their calls end.
#include "tests/reliability/calls/scenes.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "trefoil/communicators.h"

namespace trefoil::calls {

namespace {

constexpr std::size_t most_groups = 4;
constexpr std::size_t most_in_flight = 16;
constexpr std::size_t large = 1 << 16;  // bytes of a call that is not repeated often
constexpr int looks = 1000;             // before a test becomes a wait

/// Nothing has begun, so the communicator can go on.
bool goes_on(trefoil_status_t status) {
    return status == TREFOIL_SUCCESS || status == TREFOIL_ERROR_INVALID_ARGUMENT ||
           status == TREFOIL_ERROR_UNSUPPORTED || status == TREFOIL_ERROR_NOT_FOUND ||
           status == TREFOIL_ERROR_BUSY;
}

}  // namespace

Scenes::Scenes(trefoil_comm_t first, unsigned seed, const Names& names, bool with_auto,
               const Plant& plant, Record& record)
    : shared_(seed), names_(names), with_auto_(with_auto), plant_(plant), record_(record) {
    groups_.push_back(std::make_unique<Group>(first, "all"));
    own_.seed(seed * 7919 + static_cast<unsigned>(groups_[0]->rank));
    for (auto o = static_cast<std::size_t>(first_created); o < operations; ++o) {
        const Created one = created(static_cast<Operation>(o));
        trefoil_op_t made = TREFOIL_SUM;
        const auto status =
            trefoil_op_create(one.function, nullptr, one.bytes, one.commutes ? 1 : 0, &made);
        failed_ = failed_ || status != TREFOIL_SUCCESS;
        created_.push_back(made);
    }
}

Scenes::~Scenes() {
    for (const trefoil_op_t operation : created_) {
        (void)trefoil_op_free(operation);
    }
}

bool Scenes::run(std::size_t calls) {
    while (number_ < calls && !failed_) {
        const std::size_t scene = below(32);
        if (scene < 8) {
            one();
        } else if (scene < 11) {
            repeated();
        } else if (scene < 14) {
            changing();
        } else if (scene < 20) {
            in_flight();
        } else if (scene < 25) {
            persistent();
        } else if (scene < 28) {
            mistake();
        } else if (scene < 29) {
            wrong_name();
        } else if (scene < 31 && groups_.size() < most_groups) {
            make_group();
        } else {
            end_group();
        }
        for (const auto& group : groups_) {
            quiet(*group, false);
        }
    }
    while (groups_.size() > 1 && !failed_) {
        end_group();
    }
    quiet(*groups_[0], true);
    return !failed_;
}

/// What a group has sent. After a barrier nearly all acknowledgements are among it, but those for
/// which there was no connection yet wait for the next put.
void Scenes::quiet(const Group& group, bool last) {
    for (int i = 0; i < 3 && last && !failed_; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        send_to_neighbours(group);
    }
    name_first(group, "barrier");
    failed_ = failed_ || trefoil_barrier(group.comm) != TREFOIL_SUCCESS;
    if (!failed_) {
        record_.sent(number_, group);
    }
}

/// Puts through all ports: of more bytes than are stored where memory is shared.
void Scenes::send_to_neighbours(const Group& group) {
    constexpr std::size_t bytes = 80 << 10;
    std::vector<std::byte> send(bytes * group.neighbours.size()), recv(send.size());
    name_first(group, "neighbor_alltoall");
    const auto status =
        trefoil_neighbor_alltoall(send.data(), recv.data(), bytes, TREFOIL_INT8, group.comm);
    failed_ = !goes_on(status);
}

/// An algorithm that is the same in both libraries, as that of auto may not be.
void Scenes::name_first(const Group& group, const char* collective) {
    const std::vector<std::string>& names = names_[collective];
    if (!names.empty()) {
        (void)trefoil_comm_set_algorithm(group.comm, collective, names[0].c_str());
    }
}

const Group& Scenes::draw_group() {
    const std::size_t drawn = below(2 * most_groups);
    return *groups_[drawn < groups_.size() ? drawn : 0];
}

std::string Scenes::set_algorithm(const Group& group, const Call& call) {
    const Traits& traits = traits_of(call.collective);
    const char* const collective = call.base_name ? traits.base : traits.name;
    const std::vector<std::string>& names = names_[traits.base];
    if (with_auto_ && call.salt % 4 == 0) {
        return trefoil_comm_set_algorithm(group.comm, collective, "auto") == TREFOIL_SUCCESS
                   ? "auto"
                   : "refused";
    }
    for (std::size_t i = 0; i < names.size();
         ++i) {  // those that do not suit the torus are refused
        const std::string& name = names[(call.algorithm + i) % names.size()];
        if (trefoil_comm_set_algorithm(group.comm, collective, name.c_str()) == TREFOIL_SUCCESS) {
            return name;
        }
    }
    return "refused";
}

Scenes::Running Scenes::prepare(const Group& group, const Call& call) {
    return {std::make_unique<OwnCall>(group, call, created_)};
}

void Scenes::begins(Running& running, const std::string& algorithm) {
    const OwnCall& call = *running.call;
    running.number = ++number_;
    record_.call(number_, text_of(call.call(), algorithm, call.count(), call.group().ranks) +
                              ", on " + call.group().name);
    if (plant_.changes_values(number_)) {
        running.call->fill(call.call().salt + 1);
    }
}

void Scenes::ended(Running& running, trefoil_status_t status) {
    const bool flip = plant_.is("flip", running.number) && groups_[0]->rank == 0;
    record_.ended(running.number, status, running.call->outcome(status, flip));
    failed_ = failed_ || !goes_on(status);
    if (plant_.is("traffic", running.number)) {
        (void)trefoil_barrier(groups_[0]->comm);
    }
}

void Scenes::blocking(const Group& group, const Call& call) {
    const std::string algorithm = set_algorithm(group, call);
    Running running = prepare(group, call);
    begins(running, algorithm);
    ended(running, running.call->make());
}

void Scenes::one() {
    const Group& group = draw_group();
    blocking(group, draw_call(shared_));
}

/// The same call with other values: from the second one on it has a plan.
void Scenes::repeated() {
    const Group& group = draw_group();
    const Call call = draw_call(shared_);
    const std::size_t times = 2 + below(call.bytes > large ? 3 : 40);
    const std::string algorithm = set_algorithm(group, call);
    Running running = prepare(group, call);
    for (std::size_t i = 0; i < times && !failed_; ++i) {
        running.call->fill(mix(call.salt + i));
        begins(running, algorithm);
        ended(running, running.call->make());
    }
}

/// Another size each time, by the same algorithm.
void Scenes::changing() {
    const Group& group = draw_group();
    Call call = draw_call(shared_);
    const std::size_t times = 2 + below(8);
    for (std::size_t i = 0; i < times && !failed_; ++i) {
        blocking(group, call);
        draw_again(shared_, call);
    }
}

void Scenes::in_flight() {
    const std::size_t many = 2 + below(most_in_flight - 1);
    std::vector<Running> calls(many);
    Flight flight;
    for (Running& running : calls) {
        const Group& group = draw_group();
        Call call = draw_call(shared_);
        call.form = Form::nonblocking;
        const std::string algorithm = set_algorithm(group, call);
        running = prepare(group, call);
        begins(running, algorithm);
        const trefoil_status_t status = running.call->make();
        if (status == TREFOIL_SUCCESS) {
            flight.push_back(&running);
        } else {
            ended(running, status);
        }
    }
    end_all(flight);
}

/// Up to three requests, all of which are started a few times. Where one is refused, as on some of
/// the communicators of a split, the others draw the same.
void Scenes::persistent() {
    std::vector<Prepared> requests(1 + below(3));
    const int starts = 2 + static_cast<int>(below(4));
    for (Prepared& one : requests) {
        const Group& group = draw_group();
        Call call = draw_call(shared_);
        call.form = Form::persistent;
        one.algorithm = set_algorithm(group, call);
        one.running = prepare(group, call);
        one.status = one.running.call->make();
    }
    for (int start = 1; start <= starts && !failed_; ++start) {
        start_all(requests, start);
    }
    for (Prepared& one : requests) {
        if (one.status == TREFOIL_SUCCESS) {
            const trefoil_status_t status = trefoil_request_free(&one.running.call->request);
            failed_ = failed_ || status != TREFOIL_SUCCESS;
        }
    }
}

void Scenes::start_all(std::vector<Prepared>& prepared, int start) {
    const bool together = below(2) == 0, beside = below(4) == 0;
    std::vector<trefoil_request_t> requests;
    Flight flight;
    for (Prepared& one : prepared) {
        one.running.call->fill(mix(shared_()));
        begins(one.running, one.algorithm + ", start " + std::to_string(start));
        if (one.status == TREFOIL_SUCCESS) {
            flight.push_back(&one.running);
            requests.push_back(one.running.call->request);
        } else {
            ended(one.running, one.status);
        }
    }
    trefoil_status_t status = TREFOIL_SUCCESS;
    if (together && !requests.empty()) {
        status = trefoil_startall(static_cast<int>(requests.size()), requests.data());
    }
    for (std::size_t i = 0; i < requests.size() && !together && status == TREFOIL_SUCCESS; ++i) {
        status = trefoil_start(&requests[i]);
    }
    if (status != TREFOIL_SUCCESS) {
        for (Running* running : flight) {
            ended(*running, status);
        }
        return;
    }
    if (beside) {
        one();
    }
    end_all(flight);
}

/// In an order that each rank draws for itself; also after a failure, which ends all of them.
void Scenes::end_all(Flight flight) {
    std::shuffle(flight.begin(), flight.end(), own_);
    while (!flight.empty()) {
        end_some(flight);
    }
}

void Scenes::end_some(Flight& flight) {
    enum Way : std::uint8_t { any, looked_at, together, alone };
    const std::size_t way = own_() % 4;
    const std::size_t some =
        way == alone ? 1 : std::min<std::size_t>(flight.size(), 1 + own_() % 5);
    std::vector<trefoil_request_t> requests;
    for (std::size_t i = 0; i < some; ++i) {
        requests.push_back(flight[i]->call->request);
    }
    const int count = static_cast<int>(some);
    int index = -1, done = 0;
    trefoil_status_t status = TREFOIL_SUCCESS;
    for (int look = 0; look < looks && way == looked_at && done == 0; ++look) {
        status = trefoil_testall(count, requests.data(), &done);
    }
    if (done == 0) {
        status = way == any     ? trefoil_waitany(count, requests.data(), &index)
                 : way == alone ? trefoil_wait(requests.data())
                                : trefoil_waitall(count, requests.data());
    }
    for (std::size_t i = some; i-- > 0;) {
        Running& running = *flight[i];
        running.call->request = requests[i];
        if (way != any || static_cast<int>(i) == index || index < 0) {
            ended(running, status);
            flight.erase(flight.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
}

void Scenes::mistake() {
    const Group& group = draw_group();
    Call call = draw_mistake(shared_);
    call.form = static_cast<Form>(below(3));
    const std::string algorithm = set_algorithm(group, call);
    Running running = prepare(group, call);
    begins(running, algorithm);
    const trefoil_status_t status = running.call->make();
    ended(running, status);
    if (status == TREFOIL_SUCCESS && call.form != Form::blocking) {
        (void)trefoil_request_free(&running.call->request);
    }
}

/// Of something that has no buffers.
void Scenes::control(const std::string& text, trefoil_status_t status, std::uint64_t result) {
    record_.call(++number_, text);
    record_.ended(number_, status, {result, "", false});
    failed_ = failed_ || !goes_on(status);
}

void Scenes::wrong_name() {
    const bool collective = below(2) == 0;
    const char* const wrong[] = {"no-such-algorithm", "ring:no-such-modifier", "ring:pieces-0", ""};
    const char* const name = wrong[below(4)];
    const trefoil_comm_t comm = draw_group().comm;
    control(std::string("set_algorithm ") + (collective ? "of no collective" : name),
            trefoil_comm_set_algorithm(comm, collective ? "allsum" : "allreduce",
                                       collective ? "ring" : name),
            0);
}

void Scenes::make_group() {
    const Group& parent = draw_group();
    const std::size_t way = below(3);
    const std::size_t colours = 2 + below(2);
    std::vector<std::size_t> order(static_cast<std::size_t>(groups_[0]->ranks));
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = order.size() - 1; i > 0; --i) {
        std::swap(order[i], order[below(i + 1)]);
    }
    const auto dimensions = static_cast<std::size_t>(parent.ports) / 2;
    std::vector<int> keep(dimensions);
    if (dimensions > 0) {
        keep[order[0] % dimensions] = 1;
    }
    const std::size_t place = order[static_cast<std::size_t>(parent.rank)];
    trefoil_comm_t made = nullptr;
    const trefoil_status_t status =
        way == 0 ? trefoil_comm_dup(parent.comm, &made)
        : way == 1 || dimensions == 0
            ? trefoil_comm_split(parent.comm, static_cast<int>(place % colours),
                                 static_cast<int>(place), &made)
            : trefoil_comm_sub(parent.comm, keep.data(), &made);
    const char* const ways[] = {"dup", "split", "sub"};
    const std::string name = std::string(ways[way]) + " " + std::to_string(++made_);
    if (status == TREFOIL_SUCCESS) {
        groups_.push_back(std::make_unique<Group>(made, name));
    }
    const Group& newest = *groups_.back();
    control(name + " of " + parent.name, status,
            static_cast<std::uint64_t>(newest.rank * 1000 + newest.ranks));
}

/// Nobody needs this rank any more in what it destroys.
void Scenes::end_group() {
    if (groups_.size() < 2) {
        return;
    }
    const std::size_t which = 1 + below(groups_.size() - 1);
    quiet(*groups_[which], true);
    trefoil_status_t status = trefoil_barrier(groups_[0]->comm);
    status = status == TREFOIL_SUCCESS ? trefoil_comm_destroy(groups_[which]->comm) : status;
    control("destroy " + groups_[which]->name, status, 0);
    groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(which));
}

}  // namespace trefoil::calls
