// SPDX-License-Identifier: BSD-3-Clause
// The chooser: what is forced, set or modelled is in the choice, whole, and the rest is filled in.
#include "comm/plan/chooser.hpp"

#include <gtest/gtest.h>

#include "algorithms/registry/registry.hpp"
#include "comm/plan/single_copy.hpp"
#include "tests/comm/plan/build_options.hpp"
#include "topo/error.hpp"

namespace trefoil::test {
namespace {

constexpr std::size_t large = std::size_t{1} << 20;

TorusMap map_of(const char* torus) {
    return make_torus_map({"test", torus, {}}, Torus::parse(torus).ranks());
}

Request allreduce_of(std::size_t bytes) {
    return {.collective = Collective::allreduce, .type = DataType::uint8, .count = bytes};
}

TEST(Chooser, LosesNothingOfWhatTheModelChooses) {
    const TorusMap map = map_of("3x3");
    const Algorithm& algorithm = find_algorithm(Collective::bcast, "linear");
    for (const BuildOptions& options : options_with_one_field_set()) {
        const Chooser chooser(map, {}, [&](auto&&...) {
            return AlgorithmChoice{{&algorithm, options}};
        });
        const Request request{.collective = Collective::bcast, .count = 7, .root = options.root};
        EXPECT_EQ(chooser.choose(request, {}), (Choice{&algorithm, options}));
    }
}

TEST(Chooser, LosesNothingOfWhatIsForced) {
    const TorusMap map = map_of("4x4");
    for (const auto& [collective, text] : {std::pair{Collective::reduce_scatter, "swing:send"},
                                           {Collective::allgather, "bine:permute:single-port"},
                                           {Collective::bcast, "spanning-trees:pieces-12"},
                                           {Collective::alltoall, "sdx:radix-4:class"},
                                           {Collective::alltoall, "bruck:ports-3"},
                                           {Collective::alltoall, "t4:signals"}}) {
        Chooser chooser(map, {});
        chooser.force(collective, text);
        const Choice choice =
            chooser.choose({.collective = collective, .count = 100}, {.vectors = true});
        EXPECT_EQ(choice, parse_choice(collective, text)) << to_string(choice);
        EXPECT_EQ(to_string(choice), text);
    }
}

TEST(Chooser, TakesWhatIsForcedElsewhereAndKeepsItApartFromThen) {
    const TorusMap map = map_of("4x4"), line = map_of("16");
    constexpr Collective bcast = Collective::bcast, allgather = Collective::allgather;
    Chooser first(map, {});
    first.force(bcast, "spanning-trees:pieces-12");
    Chooser like(map, {}), other_torus(line, {});
    like.force_as(first);
    other_torus.force_as(first);
    EXPECT_EQ(like.forced(bcast), first.forced(bcast));
    EXPECT_EQ(other_torus.forced(bcast),
              refusal(first.forced(bcast), line.torus).empty() ? first.forced(bcast) : Choice{});
    like.force(bcast, "linear");
    first.force(allgather, "bine:permute");
    EXPECT_EQ(first.forced(bcast), parse_choice(bcast, "spanning-trees:pieces-12"));
    EXPECT_EQ(like.forced(bcast), parse_choice(bcast, "linear"));
    EXPECT_EQ(like.forced(allgather), Choice{});
}

TEST(Chooser, TakesRulesForRangesOfSizesBeforeThoseForAll) {
    const TorusMap map = map_of("3x3");
    const auto name_of = [&](const Chooser& chooser, std::size_t bytes) {
        return chooser.choose(allreduce_of(bytes), {}).algorithm->name;
    };
    const Algorithm& other = find_algorithm(Collective::allreduce, "bucket");
    Chooser chooser(map, {}, [&](auto&&...) { return AlgorithmChoice{{&other, {}}}; });
    chooser.force_list("allreduce:1K-2K=swing-b,allreduce:4K-=ring:single-port,bcast:-9=linear");
    EXPECT_EQ(name_of(chooser, 1023), "bucket") << "outside of ranges the model chooses";
    EXPECT_EQ(name_of(chooser, 1024), "swing-b");
    EXPECT_EQ(name_of(chooser, 2048), "swing-b");
    EXPECT_EQ(name_of(chooser, 2049), "bucket");
    EXPECT_EQ(name_of(chooser, 4096), "ring");
    EXPECT_TRUE(chooser.choose(allreduce_of(4096), {}).options.single_port);
    EXPECT_EQ(chooser.choose({.collective = Collective::bcast, .count = 9}, {}).algorithm->name,
              "linear");

    Chooser mixed(map, {}, [&](auto&&...) { return AlgorithmChoice{{&other, {}}}; });
    mixed.force_list("allreduce:1K-2K=auto,ring");
    EXPECT_EQ(name_of(mixed, 512), "ring");
    EXPECT_EQ(name_of(mixed, 1024), "bucket") << "a range may be given back to the model";
    mixed.force(Collective::allreduce, "swing-b");
    EXPECT_EQ(name_of(mixed, 1024), "swing-b") << "who names one for all sizes has the last word";
}

/// With a tuning file for that one job.
Settings tuned_for_job(const TuningKey& key, const std::string& rules) {
    Settings settings;
    settings.backend = key.backend;
    settings.ranks_per_node = key.ranks_per_node;
    settings.tuning_file = std::make_shared<const TuningFile>(parse_tuning_file(
        R"({"format": "trefoil-tuning", "version": 1, "entries": [{"torus": ")" + key.torus +
            R"(", "ranks_per_node": )" + std::to_string(key.ranks_per_node) + R"(, "ports": )" +
            std::to_string(key.ports) + R"(, "backend": ")" + key.backend + R"(", "rules": [)" +
            rules + "]}]}",
        "test"));
    return settings;
}

TEST(Chooser, GoesByTheTuningFileWhereItSuitsAndNothingIsForced) {
    const TorusMap map = map_of("3x3"), elsewhere = map_of("9");
    const Settings settings =
        tuned_for_job({"3x3", 9, 4, "memory"},
                      R"({"collective": "allreduce", "algorithm": "trivance-l", "to": 1024},
           {"collective": "allreduce", "algorithm": "single-copy", "from": 1025, "to": 4096},
           {"collective": "allreduce", "algorithm": "hamiltonian", "from": 1048576},
           {"collective": "alltoall", "algorithm": "bruck"})");
    Chooser chooser(map, settings);
    const auto by = [](const Chooser& from, const Request& request, bool reaches_all) {
        return from.decide(request, {.vectors = reaches_all}).by;
    };
    EXPECT_EQ(chooser.choose(allreduce_of(large), {.vectors = true}).algorithm->name, "hamiltonian")
        << "before single copy";
    EXPECT_EQ(by(chooser, allreduce_of(8), false), DecidedBy::tuning) << "integers: any order";
    EXPECT_EQ(by(chooser, {.type = DataType::float32, .count = 2}, false), DecidedBy::model)
        << "ranks would get different sums";
    EXPECT_EQ(by(chooser, allreduce_of(2048), true), DecidedBy::tuning);
    EXPECT_EQ(by(chooser, allreduce_of(2048), false), DecidedBy::model) << "it cannot run";
    const std::vector<std::size_t> counts(9, 8);
    const Request pairs{
        .collective = Collective::alltoall, .counts = counts, .send_counts = counts};
    EXPECT_EQ(by(chooser, {.collective = Collective::alltoall, .count = 8}, false),
              DecidedBy::tuning);
    EXPECT_EQ(by(chooser, pairs, false), DecidedBy::model) << "it forwards blocks";
    EXPECT_EQ(by(Chooser(elsewhere, settings), allreduce_of(8), false), DecidedBy::model);
    chooser.force_list("allreduce:-16=ring");
    EXPECT_EQ(by(chooser, allreduce_of(8), false), DecidedBy::name) << "the user's rule goes first";
    EXPECT_EQ(by(chooser, allreduce_of(17), false), DecidedBy::tuning);
}

TEST(Chooser, TellsWhatWasLearnedFromWhatWasMeasured) {
    const TorusMap map = map_of("3x3");
    const Settings settings = tuned_for_job(
        {"3x3", 9, 4, "memory"},
        R"({"collective": "allreduce", "algorithm": "ring", "to": 1024, "learned": true},
           {"collective": "allreduce", "algorithm": "bucket", "from": 1025, "learned": false})");
    Chooser chooser(map, settings);
    EXPECT_EQ(chooser.decide(allreduce_of(8), {}).by, DecidedBy::learned) << "in a job before";
    EXPECT_EQ(chooser.decide(allreduce_of(8), {}).reason(),
              "it was learned in such calls (TREFOIL_LEARN)");
    EXPECT_EQ(chooser.decide(allreduce_of(large), {}).by, DecidedBy::tuning);
    TuningRule rule;
    rule.algorithm = &find_algorithm(Collective::allreduce, "swing-b");
    rule.learned = true;
    chooser.learn(rule);
    const Decision learned = chooser.decide(allreduce_of(large), {});
    EXPECT_EQ(learned.by, DecidedBy::learned) << "in this job";
    EXPECT_EQ(learned.choice.algorithm->name, "swing-b");
    EXPECT_THROW(
        (void)tuned_for_job({"3x3", 9, 4, "memory"},
                            R"({"collective": "allreduce", "algorithm": "ring", "learned": 1})"),
        Error);
}

TEST(Chooser, TakesAnAlgorithmByNodeFromTheTuningFile) {
    const TorusMap map = map_of("3x3x2h");
    const char* const rule = R"({"collective": "allreduce", "algorithm": "ring:by-node"})";
    const Settings settings = tuned_for_job({"3x3x2h", 2, 6, "ofi"}, rule);
    EXPECT_EQ("ring:by-node", to_string(Chooser(map, settings).choose(allreduce_of(large), {})));
    EXPECT_THROW((void)tuned_for_job({"3x3", 1, 4, "ofi"}, rule), Error) << "there are no nodes";
    EXPECT_THROW((void)tuned_for_job({"3x3x2h", 2, 6, "ofi"},
                                     R"({"collective": "allreduce", "algorithm": "ring:by-nod"})"),
                 Error);
}

TEST(Chooser, TakesRulesToAnotherTorusAsFarAsTheySuit) {
    const TorusMap map = map_of("3x3"), same = map_of("3x3"), two = map_of("2");
    Chooser chooser(map, {}), like(same, {}), other(two, {});
    chooser.force_list("allreduce:1K-2K=ring,allreduce:4K-8K=trivance-b,allreduce=bucket");
    like.force_as(chooser);
    other.force_as(chooser);
    for (const std::size_t bytes : {512, 1024, 4096}) {
        const Choice& forced = chooser.forced(allreduce_of(bytes));
        EXPECT_EQ(like.forced(allreduce_of(bytes)), forced);
        const bool suits = refusal(forced, two.torus).empty();
        EXPECT_EQ(other.forced(allreduce_of(bytes)).algorithm == nullptr, !suits) << bytes;
    }
}

TEST(Chooser, RefusesRulesThatMakeNoSenseAndNamesThePart) {
    const TorusMap map = map_of("3x3");
    const auto refused = [&](const std::string& list, std::initializer_list<const char*> parts) {
        Chooser chooser(map, {});
        chooser.force(Collective::allreduce, "ring");
        try {
            chooser.force_list(list);
            ADD_FAILURE() << list << " was taken";
        } catch (const Error& error) {
            for (const char* const part : parts) {
                EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
                    << list << ": " << error.what();
            }
        }
        EXPECT_EQ(chooser.choose(allreduce_of(8), {}).algorithm->name, "ring")
            << "nothing else has changed";
    };
    refused("bcast=linear,allreduce:1K-2K=swing-x", {"allreduce:1K-2K=swing-x", "swing-b"});
    refused("allreduze:1K-2K=swing-b", {"allreduze:1K-2K=swing-b", "allreduce"});
    refused("allreduce:2K-1K=swing-b", {"\"2K-1K\"", "ends below its beginning"});
    refused("allreduce:1K=swing-b", {"allreduce:1K=swing-b", "\"1K\" is not a range"});
    refused("allreduce:1K-2Q=swing-b", {"\"1K-2Q\" is not a range"});
    refused("allreduce:=swing-b", {"\"\" is not a range"});
    refused("allreduce:1K-2K=", {"allreduce:1K-2K="});
    refused("allreduce:1K-2K=swing-b:nonsense", {"allreduce:1K-2K=swing-b", "nonsense"});
    refused("allreduce:1K-2K=swing-b,bcast:1K-2K=linear,allreduce:2K-3K=ring",
            {"\"allreduce:2K-3K=ring\"", "\"allreduce:1K-2K=swing-b\"", "in common"});
    refused("barrier:1K-2K=dissemination", {"barrier moves no data"});
}

TEST(Chooser, FillsInWhatIsLeftOpen) {
    const TorusMap map = make_torus_map({"test", "3", {{2}, {0}, {1}}}, 3);
    Settings settings;
    Chooser chooser(map, settings);
    chooser.force(Collective::bcast, "spanning-trees");
    const Request request{.collective = Collective::bcast, .count = large, .root = 1};
    const Choice choice = chooser.choose(request, {});
    EXPECT_EQ(choice.options.pieces,
              pieces_for(choice, map.torus, large, selection_basis(settings)));
    EXPECT_GT(choice.options.pieces, 1U);
    EXPECT_EQ(choice.options.root, map.position_of[1]) << "algorithms know places";
    EXPECT_EQ(chooser.forced(Collective::bcast).options.pieces, 0U) << "what is forced stays";
}

TEST(Chooser, TakesThePhaseSyncOfTheSettingsUnlessOneIsNamed) {
    const TorusMap map = map_of("4x4");
    Settings settings;
    settings.phase_sync = PhaseSync::signals;
    Chooser chooser(map, settings);
    const Request request{.collective = Collective::alltoall, .count = 10};
    const auto sync_of = [&](const char* text) {
        chooser.force(Collective::alltoall, text);
        return chooser.choose(request, {}).options.sync;
    };
    EXPECT_EQ(sync_of("t4"), PhaseSync::signals);
    EXPECT_EQ(sync_of("t4:barrier"), PhaseSync::barrier);
    EXPECT_EQ(sync_of("sdx"), PhaseSync::barrier) << "it has no signals";
    EXPECT_EQ(sync_of("pairwise"), PhaseSync::none) << "it has no phases";
}

TEST(Chooser, TakesSingleCopyWhereItGainsAndNothingElseIsForced) {
    const TorusMap map = map_of("3x3");
    Chooser chooser(map, {});
    const auto takes = [&](const Chooser& from, const Request& request, bool reaches_all) {
        return from.choose(request, {.vectors = reaches_all}).algorithm->traits.reads_peers;
    };
    EXPECT_TRUE(takes(chooser, allreduce_of(large), true));
    EXPECT_FALSE(takes(chooser, allreduce_of(large), false)) << "not all reach each other's memory";
    EXPECT_FALSE(takes(chooser, allreduce_of(64 << 10), true));
    EXPECT_TRUE(takes(chooser, {.collective = Collective::bcast, .count = large}, true));
    EXPECT_FALSE(takes(chooser, {.collective = Collective::scan, .count = large}, true));
    const std::vector<std::size_t> counts(9, large);
    EXPECT_TRUE(takes(chooser, {.collective = Collective::allgather, .counts = counts}, true));
    EXPECT_TRUE(takes(chooser, {.collective = Collective::gather, .counts = counts}, true));
    EXPECT_FALSE(
        takes(chooser,
              {.collective = Collective::alltoall, .counts = counts, .send_counts = counts}, true));
    chooser.force(Collective::allreduce, "ring");
    EXPECT_FALSE(takes(chooser, allreduce_of(large), true));
    Chooser by_name(map, {});
    by_name.leave_single_copy_to_names();
    EXPECT_FALSE(takes(by_name, allreduce_of(large), true));
    Chooser made_from_it(map, {});
    made_from_it.force_as(by_name);
    EXPECT_FALSE(takes(made_from_it, allreduce_of(large), true));
    by_name.force(Collective::allreduce, "single-copy");
    EXPECT_TRUE(takes(by_name, allreduce_of(large), true));
    Settings off;
    off.single_copy = false;
    EXPECT_FALSE(takes(Chooser(map, off), allreduce_of(large), true));
}

/// The measurements are in docs/performance.md, "Single copy and images".
TEST(Chooser, TakesSingleCopyFromTheSizeOnFromWhichItIsFaster) {
    constexpr std::size_t kib = 1024, mib = 1024 * kib;
    const auto by_address = [](Collective c, std::size_t bytes, Rank ranks) {
        return gaining_single_copy(c, bytes, ranks, CopiesBy::address) != nullptr;
    };
    EXPECT_FALSE(by_address(Collective::allreduce, 31 * kib, 2));
    for (const Collective c : {Collective::reduce_scatter, Collective::allgather}) {
        EXPECT_FALSE(by_address(c, 15 * kib, 2));
        EXPECT_TRUE(by_address(c, 16 * kib, 2));
    }
    for (const Collective c :
         {Collective::allreduce, Collective::reduce_scatter, Collective::allgather}) {
        EXPECT_TRUE(by_address(c, 32 * kib, 2));
        EXPECT_TRUE(by_address(c, 64 * kib, 4));
        EXPECT_FALSE(by_address(c, 64 * kib, 5)) << "13 KiB for each";
    }
    EXPECT_TRUE(by_address(Collective::reduce, 64 * kib, 2));
    EXPECT_FALSE(by_address(Collective::reduce, 64 * kib, 4));
    EXPECT_TRUE(by_address(Collective::reduce, 256 * kib, 4));
    for (const Rank ranks : {2, 4}) {
        EXPECT_EQ(by_address(Collective::scatter, 64 * kib, ranks), ranks == 2);
        EXPECT_TRUE(by_address(Collective::scatter, 256 * kib, ranks));
        for (const Collective c : {Collective::bcast, Collective::alltoall}) {
            EXPECT_FALSE(by_address(c, 64 * kib, ranks));
            EXPECT_EQ(by_address(c, 256 * kib, ranks), ranks == 4);
            EXPECT_EQ(by_address(c, 4 * mib, ranks), ranks == 4);
        }
        EXPECT_EQ(by_address(Collective::gather, 64 * kib, ranks), ranks == 2);
        EXPECT_TRUE(by_address(Collective::gather, 256 * kib, ranks));
    }
    const auto by_kernel = [](Collective c, std::size_t bytes, Rank ranks) {
        return gaining_single_copy(c, bytes, ranks, CopiesBy::kernel) != nullptr;
    };
    EXPECT_FALSE(by_kernel(Collective::allgather, 16 * kib, 2)) << "stores are faster";
    EXPECT_TRUE(by_kernel(Collective::allgather, 32 * kib, 2));
    EXPECT_FALSE(by_kernel(Collective::allgather, 64 * kib, 4));
    EXPECT_FALSE(by_kernel(Collective::alltoall, 128 * kib, 4));
    EXPECT_TRUE(by_kernel(Collective::alltoall, 256 * kib, 4));
    EXPECT_FALSE(by_kernel(Collective::allreduce, mib, 2));
    EXPECT_TRUE(by_kernel(Collective::allreduce, 2 * mib, 2));
    EXPECT_TRUE(by_kernel(Collective::bcast, mib, 2));
    EXPECT_FALSE(by_kernel(Collective::bcast, 2 * mib, 2)) << "both would copy from far memory";
    EXPECT_FALSE(by_kernel(Collective::reduce, 16 * mib, 2));
    EXPECT_TRUE(by_kernel(Collective::reduce, 2 * mib, 9));
    EXPECT_TRUE(by_kernel(Collective::gather, 128 * kib, 2));
    EXPECT_FALSE(by_kernel(Collective::gather, 128 * kib, 4));
    EXPECT_TRUE(by_kernel(Collective::gather, 256 * kib, 4));
    // The root alone for small vectors, shares for large ones.
    const auto reduce = [](std::size_t bytes, Rank ranks, CopiesBy by) {
        const Algorithm* const found = gaining_single_copy(Collective::reduce, bytes, ranks, by);
        return found == nullptr ? std::string_view{} : found->name;
    };
    EXPECT_EQ(reduce(16 * kib, 2, CopiesBy::kernel), "");
    EXPECT_EQ(reduce(32 * kib, 2, CopiesBy::kernel), "single-copy-root");
    EXPECT_EQ(reduce(256 * kib, 4, CopiesBy::kernel), "");
    EXPECT_EQ(reduce(512 * kib, 2, CopiesBy::address), "single-copy-root");
    EXPECT_EQ(reduce(mib, 2, CopiesBy::address), "single-copy");
}

TEST(Chooser, TakesImagesWhereManyReadThem) {
    constexpr std::size_t kib = 1024, mib = 1024 * kib;
    const auto name = [](Collective c, std::size_t bytes, Rank ranks, const PeerAccess& access,
                         CopiesBy by = CopiesBy::kernel) {
        const Algorithm* const found = gaining_reader(c, bytes, ranks, access, by);
        return found == nullptr ? std::string_view{} : found->name;
    };
    const PeerAccess images{.images = true}, both{.vectors = true, .images = true};
    for (const Rank ranks : {4, 9}) {
        EXPECT_EQ(name(Collective::allreduce, 128 * kib, ranks, images), "shared-copy");
        EXPECT_EQ(name(Collective::allreduce, 127 * kib, ranks, images), "");
        EXPECT_EQ(name(Collective::allgather, 128 * kib, ranks, both), "shared-copy");
        EXPECT_EQ(name(Collective::allgather, 127 * kib, ranks, images), "");
    }
    EXPECT_EQ(name(Collective::allreduce, 256 * kib, 3, images), "");
    EXPECT_EQ(name(Collective::allreduce, mib, 3, images), "shared-copy");
    EXPECT_EQ(name(Collective::allreduce, 16 * mib, 2, images), "")
        << "a slot takes no more copies";
    EXPECT_EQ(name(Collective::allreduce, 16 * mib, 2, both), "single-copy");
    EXPECT_EQ(name(Collective::allgather, mib, 3, images), "");
    EXPECT_EQ(name(Collective::bcast, mib, 4, images), "");
    EXPECT_EQ(name(Collective::bcast, 64 * kib, 7, images), "");
    EXPECT_EQ(name(Collective::bcast, 127 * kib, 5, images), "");
    EXPECT_EQ(name(Collective::bcast, 128 * kib, 5, both), "shared-copy");
    EXPECT_EQ(name(Collective::bcast, 64 * kib, 9, images), "shared-copy");
    EXPECT_EQ(name(Collective::bcast, 63 * kib, 9, images), "");
    EXPECT_EQ(name(Collective::scatter, mib, 9, images), "") << "each byte has one reader";
    EXPECT_EQ(name(Collective::allreduce, mib, 4, both, CopiesBy::address), "single-copy");
    EXPECT_EQ(name(Collective::allreduce, mib, 65, images), "");
    const TorusMap map = map_of("3x3");
    Chooser chooser(map, {});
    EXPECT_EQ(chooser.choose(allreduce_of(large), images).algorithm->name, "shared-copy");
    chooser.force(Collective::allreduce, "shared-copy");
    EXPECT_EQ(chooser.choose(allreduce_of(1), images).algorithm->name, "shared-copy");
    EXPECT_THROW((void)chooser.choose(allreduce_of(1), {.vectors = true}), Error);
    Settings off;
    off.single_copy = false;
    EXPECT_FALSE(
        Chooser(map, off).choose(allreduce_of(large), images).algorithm->traits.reads_peers);
}

TEST(Chooser, RefusesSingleCopyByNameWhereItCannotBe) {
    const TorusMap map = map_of("3x3");
    Chooser chooser(map, {});
    chooser.force(Collective::allreduce, "single-copy");
    EXPECT_EQ(chooser.choose(allreduce_of(1), {.vectors = true}).algorithm,
              &find_algorithm(Collective::allreduce, "single-copy"));
    try {
        chooser.choose(allreduce_of(large), {});
        FAIL() << "it was chosen";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::unsupported);
        EXPECT_STREQ(error.what(),
                     "single-copy reads the memory of other ranks, which the transport or the "
                     "kernel does not let all ranks do; use auto or another algorithm");
    }
}

TEST(Chooser, RefusesWhatDoesNotSuitTheCall) {
    const TorusMap map = map_of("4x4");
    Chooser chooser(map, {});
    chooser.force(Collective::alltoall, "sdx");
    const std::vector<std::size_t> counts(16, 3);
    EXPECT_THROW(
        chooser.choose(
            {.collective = Collective::alltoall, .counts = counts, .send_counts = counts}, {}),
        Error);
    EXPECT_THROW(chooser.force(Collective::allreduce, "nonsense"), Error);
}

TEST(Chooser, KnowsWhichCallsMustGoInRankOrder) {
    const TorusMap map = map_of("3");
    Settings reproducible;
    reproducible.reproducible = true;
    Chooser chooser(map, reproducible);
    chooser.force(Collective::allreduce, "ring");
    const Request request = allreduce_of(8);
    const Choice ring = chooser.choose(request, {});
    EXPECT_THROW(chooser.require_rank_order(request, ring), Error);
    EXPECT_NO_THROW(Chooser(map, {}).require_rank_order(request, ring));
    chooser.force(Collective::allreduce, "auto");
    EXPECT_NO_THROW(chooser.require_rank_order(request, chooser.choose(request, {})));
    const TorusMap turned = make_torus_map({"test", "3", {{2}, {0}, {1}}}, 3);
    const Chooser turned_chooser(turned, reproducible);
    EXPECT_THROW(turned_chooser.require_rank_order(request, turned_chooser.choose(request, {})),
                 Error)
        << "the algorithm's order is that of the places";
}

}  // namespace
}  // namespace trefoil::test
