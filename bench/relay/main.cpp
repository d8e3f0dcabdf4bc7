// SPDX-License-Identifier: BSD-3-Clause
// `trefoil-relay`: gives the links of an emulated torus (scripts/torusnet --delay) their distance.
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <iostream>

#include "bench/relay/relay.hpp"

namespace {

volatile std::sig_atomic_t stop = 0;

void on_signal(int /*number*/) {
    stop = 1;
}

void take_signals() {
    sigset_t blocked;
    sigemptyset(&blocked);
    struct sigaction action {};
    action.sa_handler = on_signal;
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        sigaddset(&blocked, number);
        sigaction(number, &action, nullptr);
    }
    sigprocmask(SIG_BLOCK, &blocked, nullptr);
}

/// Before all ordinary programs: a frame that is late is late for everybody behind it. True if
/// that was allowed.
bool go_first() {
    sched_param first{};
    first.sched_priority = 1;
    return sched_setscheduler(0, SCHED_FIFO, &first) == 0;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{
        "Delays every frame on the links of a network namespace.\n"
        "Reads the links from standard input, one per line: interface, node, interface, node\n"
        "(r0p0 10.77.0 r1m0 10.77.1), says \"ready\", and runs until a signal ends it or the\n"
        "interfaces are gone. scripts/torusnet up --delay starts it."};
    double rate = 0;
    std::int64_t delay = 0;
    std::string report;
    app.add_option("--rate", rate, "Bits per second of each direction; 0: unlimited (default)")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--delay", delay, "Nanoseconds")->required()->check(CLI::NonNegativeNumber);
    app.add_option("--report", report, "A Unix socket that reports what was sent, and how late")
        ->required();
    CLI11_PARSE(app, argc, argv);
    try {
        take_signals();
        trefoil::relay::Relay relay(trefoil::relay::read_links(std::cin, rate, delay), report);
        fmt::print("ready{}\n", go_first() ? "" : ", without priority");
        std::fflush(stdout);
        relay.run(stop);
    } catch (const std::exception& error) {
        fmt::print(stderr, "trefoil-relay: {}\n", error.what());
        return 1;
    }
    return 0;
}
