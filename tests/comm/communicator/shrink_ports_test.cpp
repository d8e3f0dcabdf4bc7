// SPDX-License-Identifier: BSD-3-Clause
// Ports that have to end after an error, as their messages cannot be stopped: their rank hears so
// when it shrinks, and the others go on without it.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <set>

#include "backend/ports/forwarding_group.hpp"
#include "backend/registry/transports.hpp"
#include "shrink_calls.hpp"
#include "tests/backend/registry/transports_to_test.hpp"

namespace trefoil::test {
namespace {

/// Providers of libfabric that keep messages to the dead for ever, or until those are read: then
/// the ports of those who have sent them end.
std::vector<Case> cases_that_may_end_ports() {
    const std::string threads = "TREFOIL_PORT_THREADS", provider = "TREFOIL_PROVIDER";
    if (!is_built("ofi")) {
        return {};
    }
    return {{"ofi_shm", "ofi", "3x3", {{provider, "shm"}}},
            {"ofi_rxm", "ofi", "3x3", {{provider, "tcp;ofi_rxm"}}},
            {"ofi_rxm_threads", "ofi", "3x3", {{provider, "tcp;ofi_rxm"}, {threads, "2"}}}};
}

class ShrinkWherePortsMayEnd : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Transports, ShrinkWherePortsMayEnd,
                         testing::ValuesIn(cases_that_may_end_ports()),
                         [](const testing::TestParamInfo<Case>& one) { return one.param.name; });

constexpr int left_out = 77;

/// Rank 4 has died. As often as it takes: whose ports have ended leaves, perhaps after the others
/// have agreed.
int go_on_with_whoever_is_left(int rank, trefoil_comm_t comm, Last last) {
    if (last_call(comm, last) == ok) {
        return wrong("a call without the dead succeeded", comm);
    }
    for (int attempt = 0; attempt < 5; ++attempt) {
        trefoil_comm_t made = nullptr;
        const trefoil_status_t status = trefoil_comm_shrink(comm, &made);
        if (status == TREFOIL_ERROR_PEER_LOST) {
            return left_out;
        }
        if (status != ok) {
            return wrong("shrink", comm);
        }
        comm = made;
        int ranks = 0;
        (void)trefoil_comm_size(comm, &ranks);
        std::vector<int> members(static_cast<std::size_t>(ranks), -1);
        if (trefoil_allgather(&rank, members.data(), 1, TREFOIL_INT32, comm) != ok ||
            !checked_calls(comm, 20, 5).empty() || trefoil_barrier(comm) != ok) {
            continue;
        }
        const std::set<int> all(members.begin(), members.end());
        const bool right = all.size() == members.size() && all.contains(rank) && !all.contains(4) &&
                           *all.begin() >= 0 && *all.rbegin() < 9;
        return right ? 0 : wrong("others are left than may be", comm);
    }
    return wrong("no communicator of the living", comm);
}

TEST_P(ShrinkWherePortsMayEnd, TheOthersGoOn) {
    for (const Last last : {Last::barrier, Last::large}) {
        const Job job = start(GetParam(), 9, [&](int rank, trefoil_comm_t comm) {
            if (!checked_calls(comm, 10, 1).empty() || trefoil_barrier(comm) != ok) {
                return wrong("before", comm);
            }
            if (rank == 4) {
                raise(SIGKILL);
            }
            return go_on_with_whoever_is_left(rank, comm, last);
        });
        const std::vector<int> codes = codes_of(job, std::chrono::seconds(90));
        EXPECT_EQ(codes[4], -SIGKILL);
        EXPECT_GT(std::count(codes.begin(), codes.end(), 0), 0) << "nobody has gone on";
        for (std::size_t r = 0; r < codes.size(); ++r) {
            EXPECT_TRUE(r == 4 || codes[r] == 0 || codes[r] == left_out)
                << "rank " << r << ": " << codes[r];
        }
    }
}

/// Backend "memory" which keeps all messages from some moment on.
std::atomic<bool> keeps_messages{false};

class KeepingGroup final : public ForwardingGroup {
  public:
    using ForwardingGroup::ForwardingGroup;
    PutResult put(const Put& put) override {
        return keeps_messages ? PutResult::queued : ForwardingGroup::put(put);
    }
};

/// Not before a test asks for it: tests over every transport of this program would take it for one.
const char* keeping() {
    static const bool registered = [] {
        Transport transport = find_transport("memory");
        transport.name = "keeping";
        transport.open = [](const BackendConfig& config) {
            std::vector<std::unique_ptr<PortGroup>> groups;
            for (auto& group : open_backend("memory", config)) {
                groups.push_back(std::make_unique<KeepingGroup>(std::move(group)));
            }
            return groups;
        };
        register_transport(transport);
        return true;
    }();
    return registered ? "keeping" : nullptr;
}

// Its buffers are its own again after an error, so its ports had to end; it hears what to do.
TEST(ShrinkWherePortsEnd, ItsRankIsLeftOut) {
    const Job job = start(
        4, "4", keeping(),
        [](int rank, trefoil_comm_t comm) {
            if (trefoil_barrier(comm) != ok) {
                return wrong("the first barrier", comm);
            }
            if (rank == 3) {
                raise(SIGKILL);
            }
            keeps_messages = rank == 1;
            if (last_call(comm, Last::large) == ok) {
                return wrong("a call without the dead succeeded", comm);
            }
            trefoil_comm_t made = nullptr;
            const trefoil_status_t status = trefoil_comm_shrink(comm, &made);
            const std::string text = trefoil_last_error(nullptr);
            if (rank == 1) {
                const bool told =
                    text.find("the ports of this rank have ended") != std::string::npos;
                return status == TREFOIL_ERROR_PEER_LOST && made == nullptr && told
                           ? 0
                           : wrong("whose ports have ended", comm);
            }
            if (status != ok || !consists_of(made, rank, {0, 2})) {
                return wrong("without the one whose ports have ended", comm);
            }
            const std::string calls = checked_calls(made, 10, 3);
            return calls.empty() && trefoil_comm_destroy(made) == ok ? 0
                                                                     : wrong(calls.c_str(), made);
        },
        // This barrier connects rank 1 with rank 3.
        {{"TREFOIL_TIMEOUT", "3"}, {"TREFOIL_ALGORITHM", "barrier=dissemination"}});
    const StoreServer store;
    job.meet_at(store.port());
    const auto deadline = Clock::now() + std::chrono::seconds(40);
    for (std::size_t r = 0; r < job.pids.size(); ++r) {
        EXPECT_EQ(finish(job.pids[r], deadline), r == 3 ? -SIGKILL : 0) << "rank " << r;
    }
}

}  // namespace
}  // namespace trefoil::test
