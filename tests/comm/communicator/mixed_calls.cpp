// SPDX-License-Identifier: BSD-3-Clause
// Drawing calls alike on all ranks, and how each rank ends them on its own.
#include "mixed_calls.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include "call_in_flight.hpp"
#include "random_calls.hpp"

namespace trefoil::test {

namespace {

constexpr std::size_t most_persistent = 16;

/// A call of this rank; a persistent one is used again.
struct Running {
    Running(trefoil_comm_t comm, const CollectiveCase& what, trefoil_datatype_t type,
            const Operation& operation)
        : call(comm, what, type, operation) {}

    CallInFlight call;
    trefoil_request_t request = TREFOIL_REQUEST_NULL;
    bool persistent = false;
    bool pending = false;
};

using Group = std::vector<std::shared_ptr<Running>>;

Torus torus_of(trefoil_comm_t comm) {
    int dimensions = 0;
    std::array<int, 16> sizes{};
    trefoil_comm_torus(comm, &dimensions, sizes.data(), static_cast<int>(sizes.size()));
    return Torus(std::vector<Rank>(sizes.begin(), sizes.begin() + dimensions));
}

// Operations as programs make them, of elements of int64.
void add_to(const void* in, void* inout, std::size_t count, void* /*context*/) {
    const auto* const from = static_cast<const std::int64_t*>(in);
    auto* const to = static_cast<std::int64_t*>(inout);
    for (std::size_t i = 0; i < count; ++i) {
        to[i] += from[i];
    }
}
/// Associative, but it does not commute: whatever is reduced out of order shows.
void keep_first(const void* in, void* inout, std::size_t count, void* /*context*/) {
    std::memcpy(inout, in, count * sizeof(std::int64_t));
}

class Mixer {
  public:
    Mixer(const std::vector<trefoil_comm_t>& comms, const Mix& mix)
        : comms_(comms), mix_(mix), shared_(mix.seed) {
        int rank = 0;
        trefoil_comm_rank(comms[0], &rank);
        own_.seed(mix.seed * 7919 + static_cast<unsigned>(rank));
        create({add_to, Result::sum, true});
        create({keep_first, Result::first, false});
        for (const trefoil_comm_t comm : comms) {
            tori_.push_back(torus_of(comm));
            names_.push_back(algorithms_for(tori_.back()));
        }
    }

    Mixed run() {
        for (number_ = 0; number_ < mix_.calls && going_on(); ++number_) {
            while (pending_.size() >= mix_.in_flight && going_on()) {
                wait_for(one());
            }
            begin_one();
            result_.most = std::max(result_.most, pending_.size());
            do_something();
        }
        while (!pending_.empty() && going_on()) {
            wait_for(one());
        }
        for (const auto& running : persistent_) {
            if (going_on()) {
                expect(trefoil_request_free(&running->request), *running, "free");
            }
        }
        for (const Operation& operation : operations_) {
            if (operation.is_created() && going_on() &&
                trefoil_op_free(operation.op) != TREFOIL_SUCCESS) {
                result_.wrong = std::string("op_free: ") + trefoil_last_error(nullptr);
            }
        }
        return std::move(result_);
    }

  private:
    bool going_on() const { return result_.wrong.empty(); }

    struct Created {
        trefoil_reduce_fn function;
        Result result;
        bool commutes;
    };
    void create(const Created& created) {
        Operation operation{TREFOIL_SUM, created.result};
        if (trefoil_op_create(created.function, nullptr, sizeof(std::int64_t),
                              created.commutes ? 1 : 0, &operation.op) != TREFOIL_SUCCESS) {
            result_.wrong = std::string("op_create: ") + trefoil_last_error(nullptr);
        }
        operations_.push_back(operation);
    }
    /// Scans have no average.
    Operation draw_operation(Collective collective) {
        const Operation drawn = operations_[shared_() % operations_.size()];
        const bool scans = collective == Collective::scan || collective == Collective::exscan;
        return drawn.result == Result::average && scans ? Operation{} : drawn;
    }

    void blame(const Running& running, const std::string& what) {
        if (going_on()) {
            result_.wrong = what + " (" + running.call.text() +
                            (running.persistent ? ", persistent" : "") + ", when " +
                            std::to_string(number_) + " calls of seed " +
                            std::to_string(mix_.seed) + " had begun)";
        }
    }
    bool expect(trefoil_status_t status, const Running& running, const char* what) {
        if (status != TREFOIL_SUCCESS) {
            blame(running, std::string(what) + ": " + trefoil_last_error(nullptr));
        }
        return status == TREFOIL_SUCCESS;
    }

    /// What comes from shared_ is drawn alike on all ranks, whatever has happened here.
    void begin_one() {
        const std::size_t c = shared_() % comms_.size();
        CollectiveCase what = draw(shared_, names_[c], tori_[c].ranks());
        const std::size_t vectors = traits_of(what.collective).has_blocks()
                                        ? static_cast<std::size_t>(tori_[c].ranks())
                                        : 1;
        const std::size_t most = 1 + (std::size_t{4} << mix_.most_log) / vectors;
        what.count %= most;
        for (std::size_t& count : what.counts) {
            count %= most;
        }
        constexpr std::array types{TREFOIL_INT8,  TREFOIL_UINT16, TREFOIL_INT32,
                                   TREFOIL_INT64, TREFOIL_FLOAT,  TREFOIL_DOUBLE};
        const trefoil_datatype_t type = types[shared_() % types.size()];
        const Operation operation = draw_operation(what.collective);
        const std::size_t way = shared_() % 8;
        if (way == 0 && !persistent_.empty()) {
            start_again(*persistent_[shared_() % persistent_.size()], what.salt);
            return;
        }
        set_algorithm(comms_[c], what);
        auto running = std::make_shared<Running>(comms_[c], what, type, operation);
        running->persistent = way == 1 && persistent_.size() < most_persistent;
        const auto make = [&] {
            return running->persistent ? running->call.prepare(&running->request)
                                       : running->call.begin(&running->request);
        };
        trefoil_status_t status = make();
        if (status == TREFOIL_ERROR_UNSUPPORTED) {  // for this call, on all ranks alike
            what.algorithm = "auto";
            set_algorithm(comms_[c], what);
            status = make();
        }
        if (!expect(status, *running, running->persistent ? "init" : "begin")) {
            return;
        }
        if (running->persistent) {
            persistent_.push_back(running);
            start(*running);
        } else {
            add(running);
        }
    }

    void set_algorithm(trefoil_comm_t comm, const CollectiveCase& what) {
        const std::string name(to_string(what.collective));
        (void)trefoil_comm_set_algorithm(comm, name.c_str(),
                                         mix_.names_algorithms ? what.algorithm.c_str() : "auto");
    }

    void start(Running& running) {
        if (expect(trefoil_start(&running.request), running, "start")) {
            add(*std::find_if(persistent_.begin(), persistent_.end(),
                              [&](const auto& one) { return one.get() == &running; }));
        }
    }
    void start_again(Running& running, std::int64_t salt) {
        if (running.pending) {
            wait_for(running);
        }
        if (going_on()) {
            running.call.fill(salt);
            start(running);
        }
    }
    void add(const std::shared_ptr<Running>& running) {
        running->pending = true;
        pending_.push_back(running);
    }

    Running& one() { return *pending_[own_() % pending_.size()]; }

    /// Up to `most` that are pending, each once.
    Group some(std::size_t most) {
        Group group = pending_;
        std::shuffle(group.begin(), group.end(), own_);
        group.resize(std::min(group.size(), 1 + own_() % most));
        return group;
    }

    void has_ended(Running& running) {
        if ((running.request == TREFOIL_REQUEST_NULL) == running.persistent) {
            blame(running, "the request is not as it should be");
        }
        const std::string wrong = running.call.check();
        if (!wrong.empty()) {
            blame(running, wrong);
        }
        running.pending = false;
        ++result_.calls;
        if (mix_.ended && going_on()) {
            mix_.ended();
        }
        std::erase_if(pending_, [&](const auto& one) { return one.get() == &running; });
    }

    void wait_for(Running& running) {
        if (expect(trefoil_wait(&running.request), running, "wait")) {
            has_ended(running);
        }
    }

    /// call(count, requests) ends those of `group` that ended() then says.
    template <typename Call>
    trefoil_status_t with_requests(const Group& group, Call&& call) {
        std::vector<trefoil_request_t> requests;
        for (const auto& running : group) {
            requests.push_back(running->request);
        }
        const trefoil_status_t status = call(static_cast<int>(requests.size()), requests.data());
        for (std::size_t i = 0; i < group.size(); ++i) {
            group[i]->request = requests[i];
        }
        return status;
    }

    void test_one() {
        const Group group = some(1);
        int done = 0;
        if (expect(trefoil_test(&group[0]->request, &done), *group[0], "test") && done != 0) {
            has_ended(*group[0]);
        }
    }
    void test_some() {
        const Group group = some(4);
        int done = 0;
        const auto status = with_requests(group, [&](int count, auto* requests) {
            return trefoil_testall(count, requests, &done);
        });
        if (expect(status, *group[0], "testall") && done != 0) {
            all_ended(group);
        }
    }
    void wait_for_any() {
        const Group group = some(6);
        int index = -1;
        const auto status = with_requests(group, [&](int count, auto* requests) {
            return trefoil_waitany(count, requests, &index);
        });
        if (!expect(status, *group[0], "waitany")) {
            return;
        }
        if (index < 0 || index >= static_cast<int>(group.size())) {
            blame(*group[0], "waitany tells index " + std::to_string(index));
            return;
        }
        has_ended(*group[static_cast<std::size_t>(index)]);
    }
    void wait_for_some() {
        const Group group = some(5);
        if (expect(with_requests(group, trefoil_waitall), *group[0], "waitall")) {
            all_ended(group);
        }
    }
    void all_ended(const Group& group) {
        for (const auto& running : group) {
            has_ended(*running);
        }
    }

    void do_something() {
        if (pending_.empty() || !going_on()) {
            return;
        }
        switch (own_() % 12) {
            case 0:
                return test_some();
            case 1:
                return wait_for_any();
            case 2:
                return wait_for_some();
            case 3:
                return wait_for(one());
            case 4:
                (void)trefoil_progress(comms_[own_() % comms_.size()]);
                return;
            case 5:
                if (mix_.stalls && own_() % 4 == 0) {
                    std::this_thread::sleep_for(std::chrono::microseconds(own_() % 1500));
                }
                return;
            case 6:
            case 7:
                return test_one();
            default:
                return;
        }
    }

    const std::vector<trefoil_comm_t>& comms_;
    Mix mix_;
    std::mt19937 shared_, own_;
    std::vector<Operation> operations_{{TREFOIL_SUM, Result::sum},
                                       {TREFOIL_MIN, Result::min},
                                       {TREFOIL_MAX, Result::max},
                                       {TREFOIL_AVG, Result::average}};
    std::vector<Torus> tori_;
    std::vector<std::vector<NamedAlgorithm>> names_;
    Group pending_;
    Group persistent_;  ///< in the order in which all ranks have made them
    std::size_t number_ = 0;
    Mixed result_;
};

}  // namespace

Mixed run_mixed_calls(const std::vector<trefoil_comm_t>& comms, const Mix& mix) {
    return Mixer(comms, mix).run();
}

}  // namespace trefoil::test
