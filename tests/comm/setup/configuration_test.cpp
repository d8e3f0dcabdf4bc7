// SPDX-License-Identifier: BSD-3-Clause
// The configuration: what ranks must give alike, where the torus comes from, what is decided.
#include "comm/setup/configuration.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>

namespace trefoil::configuration_test {
namespace {

Job job_of(const std::vector<std::string>& hosts) {
    std::vector<RankProcess> processes;
    for (const std::string& host : hosts) {
        processes.push_back({host, "network", "space", 1, {0}, {}});
    }
    return {0, processes};
}

TEST(Configuration, ComparesWhatMustBeEqual) {
    const std::vector<std::function<void(Settings&)>> changes{
        [](Settings& s) { s.torus = "2x2"; },
        [](Settings& s) {
            s.coordinates = {0, 1};
        },
        [](Settings& s) { s.backend = "ofi"; },
        [](Settings& s) { s.provider = "net"; },
        [](Settings& s) { s.algorithm = "ring"; },
        [](Settings& s) { s.algorithm = "allreduce:1K-2K=ring"; },
        [](Settings& s) { s.cost_model = memory_cost_model; },
        [](Settings& s) {
            s.tuning_file = std::make_shared<const TuningFile>(TuningFile{"a", 1, {}});
        },
        [](Settings& s) {
            s.tuning_file = std::make_shared<const TuningFile>(TuningFile{"a", 2, {}});
        },
        [](Settings& s) { s.learn = true; },
        [](Settings& s) { s.reproducible = true; },
        [](Settings& s) { s.check_calls = true; },
        [](Settings& s) { s.checksums = true; },
        [](Settings& s) { s.tell = "log"; },
        [](Settings& s) { s.single_copy = false; },
        [](Settings& s) { s.phase_sync = PhaseSync::signals; },
        [](Settings& s) { s.landing_bytes = 1 << 16; },
        [](Settings& s) { s.direct_from = 4096; },
        [](Settings& s) { s.segment_bytes = 1 << 16; }};
    std::set<std::string> texts{text_to_compare({}, {}, 4)};
    for (const auto& change : changes) {
        Settings settings;
        change(settings);
        const std::string text = text_to_compare(settings, {}, 4);
        EXPECT_TRUE(texts.insert(text).second) << text;
    }
    HostFile file = parse_host_file("a 0\nb 1\n", "hosts");
    EXPECT_TRUE(texts.insert(text_to_compare({}, file, 4)).second);
    ++file.checksum;
    EXPECT_TRUE(texts.insert(text_to_compare({}, file, 4)).second);
}

TEST(Configuration, LeavesToEachRankWhatConcernsItAlone) {
    Settings settings;
    settings.nics = "eth0";
    settings.port_threads = 2;
    settings.pin = false;
    settings.rank = 3;
    settings.trace = "out.json";
    settings.timeout = std::chrono::milliseconds(5);
    EXPECT_EQ(text_to_compare(settings, {}, 4), text_to_compare({}, {}, 4));
}

TEST(Configuration, ToriComeFromTheCallerThenTheHostFileThenTheSettings) {
    Settings settings;
    settings.torus = "2";
    settings.torus_source = "TREFOIL_TORUS";
    Job job = job_of({"b", "a"});
    EXPECT_EQ(torus_request(settings, {}, job).source, "TREFOIL_TORUS");
    EXPECT_EQ(torus_request(settings, {}, job).torus, "2");
    settings.hostfile = "hosts";
    const HostFile file = parse_host_file("a 0\nb 1\n", "hosts");
    const TorusRequest by_host = torus_request(settings, file, job);
    EXPECT_EQ(by_host.source, "host file hosts");
    EXPECT_EQ(by_host.coordinates, (std::vector<std::vector<Rank>>{{1}, {0}}));
    settings.coordinates = {1};
    std::vector<RankProcess> processes = job.processes();
    processes[0].coordinates = {1};
    processes[1].coordinates = {0};
    const TorusRequest by_caller = torus_request(settings, file, {0, processes});
    EXPECT_EQ(by_caller.source, "the caller's coordinates");
    EXPECT_EQ(by_caller.coordinates, (std::vector<std::vector<Rank>>{{1}, {0}}));
}

TEST(Configuration, DecidesWhatNobodyAskedFor) {
    Settings together, apart, asked;
    complete(together, job_of({"a", "a"}), Torus({2}));
    EXPECT_EQ(together.backend, "memory");
    EXPECT_TRUE(offers_single_copy(together));
    complete(apart, job_of({"a", "b"}), Torus({2}));
    EXPECT_EQ(apart.backend, "ofi");
    EXPECT_FALSE(offers_single_copy(apart));
    EXPECT_NE(to_string(*together.cost_model), to_string(*apart.cost_model));
    asked.backend = "ucx";
    asked.cost_model = parse_cost_model("step=7us,wait=1us");
    complete(asked, job_of({"a", "a"}), Torus({2}));
    EXPECT_EQ(asked.backend, "ucx");
    EXPECT_EQ(to_string(*asked.cost_model), to_string(parse_cost_model("step=7us,wait=1us")));
}

}  // namespace
}  // namespace trefoil::configuration_test
