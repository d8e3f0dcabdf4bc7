// SPDX-License-Identifier: BSD-3-Clause
// Backend "utofu" over the emulation: what is refused, what runs out, and who dies. The emulation
// reads its settings once per process, so each case runs in a child.
#include "backend/utofu/utofu.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <thread>

#include "backend/registry/transports.hpp"
#include "backend/utofu/control_block.hpp"

namespace trefoil {
namespace {

using Clock = std::chrono::steady_clock;

struct Setting {
    const char* name;
    const char* value;
};

/// What `body` tells in a child with these settings; an Error tells its status and words.
std::string in_child(std::initializer_list<Setting> settings,
                     const std::function<std::string()>& body) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
        for (const Setting& each : settings) {
            setenv(each.name, each.value, 1);
        }
        std::string text;
        try {
            text = body();
        } catch (const Error& error) {
            text =
                "error " + std::to_string(static_cast<int>(error.status())) + ": " + error.what();
        }
        [[maybe_unused]] const auto written = write(ends[1], text.data(), text.size());
        _exit(0);
    }
    close(ends[1]);
    std::string text;
    std::array<char, 4096> piece{};
    for (ssize_t got = 1; got > 0;) {
        got = read(ends[0], piece.data(), piece.size());
        text.append(piece.data(), static_cast<std::size_t>(got > 0 ? got : 0));
    }
    close(ends[0]);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    if (status != 0) {
        text += " (the child ended with status " + std::to_string(status) + ")";
    }
    return text;
}

std::string opened(const std::vector<std::vector<Port>>& groups, bool alone = false,
                   std::size_t bytes = 4096) {
    BackendConfig config;
    config.groups = groups;
    config.alone_in_process = alone;
    const auto all = open_backend("utofu", config);
    all.front()->allocate(bytes);
    return "opened " + all.front()->port_text(groups.front().front());
}

void expect_words(const std::string& text, std::initializer_list<const char*> words) {
    for (const char* word : words) {
        EXPECT_NE(text.find(word), std::string::npos) << "\"" << word << "\" is not in: " << text;
    }
}

const std::vector<std::vector<Port>> four_ports{{Port{0}, Port{1}, Port{2}, Port{3}}};

TEST(Utofu, SaysWhereItsPortsAre) {
    const std::string text =
        in_child({{"EMULATED_TOFU_NODE", "3"}, {"EMULATED_TOFU_SHAPE", "2.2.1.1.1.1"}},
                 [] { return opened({{Port{2}}}); });
    expect_words(text, {"opened uTofu network interface 2 at 1.1.0.0.0.0"});
}

TEST(Utofu, SaysWhenARegistrationIsRefused) {
    const std::string text =
        in_child({{"EMULATED_TOFU_REGISTRATIONS", "5"}}, [] { return opened(four_ports); });
    expect_words(
        text, {"error 9", "register 4096 bytes for port", "network interface", "OUT_OF_RESOURCE"});
}

TEST(Utofu, UsesOtherInterfacesWhenOneIsFull) {
    const std::string text = in_child({{"EMULATED_TOFU_VCQS", "1"}}, [] {
        return opened({{Port{0}, Port{6}, Port{12}}}) + opened(four_ports);
    });
    expect_words(text, {"opened", "opened uTofu network interface 0"});
}

TEST(Utofu, SaysWhenNoVirtualControlQueueIsLeft) {
    const std::string text =
        in_child({{"EMULATED_TOFU_VCQS", "1"}, {"EMULATED_TOFU_INTERFACES", "3"}},
                 [] { return opened(four_ports); });
    expect_words(text, {"error 9", "no virtual control queue is left for port", "FULL",
                        "on 3 network interfaces", "TREFOIL_BACKEND"});
}

TEST(Utofu, SaysWhenTheMachineHasNoInterface) {
    const std::string text =
        in_child({{"EMULATED_TOFU_INTERFACES", "0"}}, [] { return opened(four_ports); });
    expect_words(text, {"error 3", "no network interface", "compute node"});
}

TEST(Utofu, RefusesSettingsThatAreNone) {
    expect_words(in_child({{"TREFOIL_UTOFU_NOTICES", "many"}}, [] { return opened(four_ports); }),
                 {"error 1", "TREFOIL_UTOFU_NOTICES=many", "between 16 and"});
    expect_words(in_child({{"TREFOIL_UTOFU_NOTICES", "16"}}, [] { return opened(four_ports); }),
                 {"error 1", "TREFOIL_UTOFU_NOTICES=16 is too little for 8 ports"});
    expect_words(
        in_child({{"TREFOIL_UTOFU_THREAD_SAFE", "yes"}}, [] { return opened(four_ports); }),
        {"error 1", "TREFOIL_UTOFU_THREAD_SAFE=yes is neither 0 nor 1"});
}

TEST(Utofu, GroupsThatShareNoInterfaceRefuseToShare) {
    const auto twice = [] {
        BackendConfig config;
        config.groups = four_ports;
        config.alone_in_process = true;
        const auto first = open_backend("utofu", config);
        return opened(four_ports);
    };
    expect_words(in_child({}, twice), {"error 2", "for themselves", "TREFOIL_UTOFU_THREAD_SAFE=1"});
    expect_words(in_child({{"TREFOIL_UTOFU_THREAD_SAFE", "1"}}, twice), {"opened"});
    // A group that has ended leaves nothing behind.
    expect_words(in_child({}, [] { return opened(four_ports, true) + opened(four_ports, true); }),
                 {"opened"});
}

TEST(Utofu, RefusesMorePeersThanItsQueueBears) {
    // 12 peers, each a group of its own; the queue of notices bears few.
    const std::string text = in_child({{"TREFOIL_UTOFU_NOTICES", "170"}}, [] {
        BackendConfig config;
        config.groups.assign(1, {Port{0}});
        config.peers = 12;
        auto middle = open_backend("utofu", config);
        std::vector<std::unique_ptr<PortGroup>> others;
        for (int i = 0; i < 12; ++i) {
            others.push_back(std::move(open_backend("utofu", config)[0]));
            others.back()->connect(Port{0}, middle[0]->address(Port{0}));
        }
        return std::string("connected all");
    });
    expect_words(text, {"error 2", "cannot connect", "2 peers already", "TREFOIL_UTOFU_NOTICES"});
}

TEST(Utofu, ReportsAPeerThatHasDied) {
    const std::string text = in_child({{"EMULATED_TOFU_HOSTILE", "0"}}, [] {
        std::array<int, 2> ends{};
        if (pipe(ends.data()) != 0) {
            return std::string("no pipe");
        }
        BackendConfig config;
        config.groups = {{Port{0}, Port{1}}};
        const pid_t peer = fork();
        if (peer == 0) {
            const auto group = std::move(open_backend("utofu", config)[0]);
            const std::string mine = group->address(Port{1});
            const std::string memory = group->describe(group->allocate(4096));
            const std::string both = mine + memory;
            const std::array<std::size_t, 2> sizes{mine.size(), memory.size()};
            if (write(ends[1], sizes.data(), sizeof sizes) < 0 ||
                write(ends[1], both.data(), both.size()) < 0) {
                _exit(1);
            }
            std::this_thread::sleep_for(std::chrono::seconds(30));
            _exit(0);
        }
        std::array<std::size_t, 2> sizes{};
        std::string both;
        if (read(ends[0], sizes.data(), sizeof sizes) == sizeof sizes) {
            both.resize(sizes[0] + sizes[1]);
            if (read(ends[0], both.data(), both.size()) < 0) {
                both.clear();
            }
        }
        const auto group = std::move(open_backend("utofu", config)[0]);
        const LocalMemory memory = group->allocate(4096);
        const Peer there = group->connect(Port{0}, both.substr(0, sizes[0]));
        const RemoteMemory target = group->import_memory(both.substr(sizes[0]));
        kill(peer, SIGKILL);
        int status = 0;
        waitpid(peer, &status, 0);
        std::array<Event, 4> events;
        const auto end = Clock::now() + std::chrono::seconds(10);
        for (std::uint64_t i = 0; Clock::now() < end; ++i) {
            group->put({.port = Port{0},
                        .peer = there,
                        .source = memory.data,
                        .descriptor = memory.descriptor,
                        .target = target,
                        .bytes = 1000,
                        .notification = 1,
                        .cookie = i});
            const std::size_t count = group->poll(events);
            for (std::size_t k = 0; k < count; ++k) {
                if (events[k].kind == Event::Kind::failed) {
                    return "failed: " + group->error_text();
                }
            }
        }
        return std::string("nothing failed");
    });
    expect_words(text, {"failed: uTofu: a put has not reached its peer", "MRQ_PEER"});
}

TEST(Utofu, WindowsFitIntoTheQueueOfNotices) {
    for (std::uint32_t notices : {10U, 64U, 292U, 2048U, 8192U}) {
        for (std::uint32_t peers : {1U, 3U, 8U, 100U, 252U, 5000U}) {
            const utofu::Capacity capacity = utofu::capacity_for(notices, peers);
            EXPECT_LE(capacity.streams * (capacity.window + utofu::other_notices), notices);
            EXPECT_LE(capacity.streams, utofu::most_streams);
            EXPECT_GE(capacity.window, utofu::least_window);
            EXPECT_GE(capacity.streams, 1U);
        }
    }
    EXPECT_EQ(utofu::capacity_for(9, 1).streams, 0U);
}

}  // namespace
}  // namespace trefoil
