// SPDX-License-Identifier: BSD-3-Clause
// The kinds of rounds, and numbers whose results are known.
#include "rounds.hpp"

#include <unistd.h>

#include <array>

#include "strike.hpp"

namespace trefoil::test {

namespace {

/// Of rounds, in seconds: nobody may run for ever.
constexpr double longest = 90;
constexpr std::size_t large = 300'000;
/// Calls in flight at a time, and persistent ones.
constexpr std::size_t window = 8;

}  // namespace

int fail(trefoil_status_t status, const char* call, const char* text, const char* word) {
    report(word, std::to_string(status) + " " + call + " " + text);
    return exit_failed;
}

Rounds::Rounds(trefoil_comm_t comm, unsigned seed) : comm_(comm), random_(seed), seed_(seed) {
    trefoil_comm_rank(comm, &rank_);
    trefoil_comm_size(comm, &ranks_);
}

Rounds::~Rounds() {
    for (trefoil_request_t& request : requests_) {
        trefoil_request_free(&request);
    }
}

int Rounds::run(const std::string& kind, const char* stop_file,
                const std::function<void()>& between) {
    const double begin = monotonic_seconds();
    for (;;) {
        const int bad = round_of(kind);
        if (bad != 0) {
            return bad;
        }
        if (between) {
            between();
        }
        int stop =
            rank_ == 0 && (access(stop_file, F_OK) == 0 || monotonic_seconds() - begin > longest);
        const auto status =
            trefoil_allreduce(TREFOIL_IN_PLACE, &stop, 1, TREFOIL_INT32, TREFOIL_MAX, comm_);
        if (status != TREFOIL_SUCCESS) {
            return ended(status, "allreduce");
        }
        if (stop != 0) {
            report("done", std::to_string(number_));
            return 0;
        }
    }
}

int Rounds::until_failure(const std::string& kind) {
    expects_failure_ = true;
    const double begin = monotonic_seconds();
    int bad = 0;
    while (bad == 0 && monotonic_seconds() - begin < longest) {
        bad = round_of(kind);
    }
    if (bad == 0) {
        report("wrong", "no call has failed without the dead");
    }
    return bad == 0 ? exit_wrong : bad == exit_failed ? 0 : bad;
}

int Rounds::round_of(const std::string& kind) {
    ++number_;
    int bad = 0;
    if (kind == "small") {
        for (int i = 0; i < 20 && bad == 0; ++i) {
            bad = allreduce(draw(64));
        }
    } else if (kind == "large") {
        bad = allreduce({large - 1 - random_() % 1000, 0});
    } else if (kind == "rooted") {
        bad = bcast(draw(20'000));
        bad = bad != 0 ? bad : reduce(draw(20'000));
        bad = bad != 0 ? bad : gather(draw(2'000));
    } else if (kind == "nonblocking") {
        bad = in_flight();
    } else if (kind == "persistent") {
        bad = persistent();
    } else {
        bad = mixed();
    }
    return bad;
}

Rounds::Call Rounds::draw(std::size_t most) {
    const std::size_t count = 1 + random_() % most;
    return {count, static_cast<int>(random_() % static_cast<unsigned>(ranks_))};
}

int Rounds::mixed() {
    const std::size_t most = number_ % 8 == 0 ? large : number_ % 2 == 1 ? 64 : 20'000;
    // As few roots as programs have.
    const Call call{1 + random_() % most,
                    static_cast<int>((seed_ + random_() % 2 * 4) % static_cast<unsigned>(ranks_))};
    int bad = allreduce(call);
    bad = bad != 0 ? bad : bcast(call);
    bad = bad != 0 ? bad : reduce(call);
    return bad != 0 ? bad : alltoall(call);
}

int Rounds::allreduce(const Call& call) {
    fill(data_, call.count);
    const auto status = trefoil_allreduce(TREFOIL_IN_PLACE, data_.data(), call.count, TREFOIL_INT32,
                                          TREFOIL_SUM, comm_);
    const int bad = ended(status, "allreduce");
    return bad != 0 ? bad : check(data_, "allreduce", [this](std::size_t i) { return sum_at(i); });
}

int Rounds::bcast(const Call& call) {
    fill(data_, call.count);
    const int bad =
        ended(trefoil_bcast(data_.data(), call.count, TREFOIL_INT32, call.root, comm_), "bcast");
    return bad != 0 ? bad
                    : check(data_, "bcast", [&](std::size_t i) { return value(call.root, i); });
}

int Rounds::reduce(const Call& call) {
    fill(data_, call.count);
    result_.assign(call.count, 0);
    const auto status = trefoil_reduce(data_.data(), result_.data(), call.count, TREFOIL_INT32,
                                       TREFOIL_SUM, call.root, comm_);
    const int bad = ended(status, "reduce");
    return bad != 0 || rank_ != call.root
               ? bad
               : check(result_, "reduce", [this](std::size_t i) { return sum_at(i); });
}

int Rounds::gather(const Call& call) {
    fill(data_, call.count);
    result_.assign(call.count * static_cast<std::size_t>(ranks_), 0);
    const auto status =
        trefoil_gather(data_.data(), result_.data(), call.count, TREFOIL_INT32, call.root, comm_);
    const int bad = ended(status, "gather");
    return bad != 0 || rank_ != call.root ? bad : check(result_, "gather", [&](std::size_t i) {
        return value(static_cast<int>(i / call.count), i % call.count);
    });
}

int Rounds::alltoall(const Call& call) {
    const std::size_t each = call.count / static_cast<std::size_t>(ranks_) + 1;
    fill(data_, each * static_cast<std::size_t>(ranks_));
    result_.assign(data_.size(), 0);
    const auto status = trefoil_alltoall(data_.data(), result_.data(), each, TREFOIL_INT32, comm_);
    const int bad = ended(status, "alltoall");
    return bad != 0 ? bad : check(result_, "alltoall", [&](std::size_t i) {
        return value(static_cast<int>(i / each), static_cast<std::size_t>(rank_) * each + i % each);
    });
}

void Rounds::fill(InFlight& flight) {
    fill(flight.send, flight.call.count);
    flight.recv.assign(flight.call.count, 0);
    if (!flight.sums) {
        flight.recv = flight.send;
    }
}

int Rounds::check(const InFlight& flight, const char* what) const {
    return check(flight.recv, what, [&](std::size_t i) {
        return flight.sums ? sum_at(i) : value(flight.call.root, i);
    });
}

int Rounds::in_flight() {
    flights_.resize(window);
    std::array<trefoil_request_t, window> requests{};
    trefoil_status_t status = TREFOIL_SUCCESS;
    for (std::size_t i = 0; i < window && status == TREFOIL_SUCCESS; ++i) {
        InFlight& flight = flights_[i];
        flight.call = draw(i % 4 == 3 ? 100'000 : i % 2 == 1 ? 5'000 : 64);
        flight.sums = i % 3 != 2;
        fill(flight);
        status = flight.sums
                     ? trefoil_iallreduce(flight.send.data(), flight.recv.data(), flight.call.count,
                                          TREFOIL_INT32, TREFOIL_SUM, comm_, &requests[i])
                     : trefoil_ibcast(flight.recv.data(), flight.call.count, TREFOIL_INT32,
                                      flight.call.root, comm_, &requests[i]);
    }
    // All end in any case: an error in beginning one leaves the others in flight.
    const int begun =
        status == TREFOIL_SUCCESS ? 0 : fail(status, "begin", trefoil_last_error(comm_));
    const auto all = trefoil_waitall(static_cast<int>(window), requests.data());
    int bad = begun != 0 ? begun : ended(all, "waitall");
    for (std::size_t i = 0; i < window && bad == 0; ++i) {
        bad = check(flights_[i], "call in flight");
    }
    return bad;
}

int Rounds::prepare() {
    flights_.resize(window);
    for (std::size_t i = 0; i < window; ++i) {
        InFlight& flight = flights_[i];
        flight.call = draw(i % 4 == 3 ? 100'000 : i % 2 == 1 ? 5'000 : 64);
        flight.sums = true;
        fill(flight);
        trefoil_request_t request = TREFOIL_REQUEST_NULL;
        const auto status =
            trefoil_allreduce_init(flight.send.data(), flight.recv.data(), flight.call.count,
                                   TREFOIL_INT32, TREFOIL_SUM, comm_, &request);
        if (status != TREFOIL_SUCCESS) {
            return ended(status, "init");
        }
        requests_.push_back(request);
    }
    return 0;
}

int Rounds::persistent() {
    int bad = requests_.empty() ? prepare() : 0;
    for (InFlight& flight : flights_) {
        flight.recv.assign(flight.call.count, 0);
    }
    const int count = static_cast<int>(requests_.size());
    bad = bad != 0 ? bad : ended(trefoil_startall(count, requests_.data()), "startall");
    bad = bad != 0 ? bad : ended(trefoil_waitall(count, requests_.data()), "waitall");
    for (std::size_t i = 0; i < flights_.size() && bad == 0; ++i) {
        bad = check(flights_[i], "persistent call");
    }
    return bad;
}

int Rounds::ended(trefoil_status_t status, const char* call) const {
    if (status == TREFOIL_SUCCESS) {
        return 0;
    }
    const char* const text = trefoil_last_error(comm_);
    return fail(status, call, text, expects_failure_ ? "expected" : "failed");
}

int Rounds::sum_at(std::size_t i) const {
    int sum = 0;
    for (int r = 0; r < ranks_; ++r) {
        sum += value(r, i);
    }
    return sum;
}

void Rounds::fill(std::vector<int>& data, std::size_t count) const {
    data.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        data[i] = value(rank_, i);
    }
}

template <typename Expected>
int Rounds::check(const std::vector<int>& data, const char* call, Expected expected) const {
    for (std::size_t i = 0; i < data.size(); ++i) {
        if (data[i] != expected(i)) {
            report("wrong", std::string(call) + " at " + std::to_string(i) + " of " +
                                std::to_string(data.size()));
            return exit_wrong;
        }
    }
    return 0;
}

}  // namespace trefoil::test
