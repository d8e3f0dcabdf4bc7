// SPDX-License-Identifier: BSD-3-Clause
// Reads the environment; a value that cannot be read ends the process rather than being ignored.
#include "tests/backend/utofu/emulation/options.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

namespace emulated_tofu {

namespace {

template <typename Number>
void read_number(const char* name, Number& value) {
    const char* const text = std::getenv(name);
    if (text == nullptr || *text == '\0') {
        return;
    }
    const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
    if (error != std::errc() || *end != '\0') {
        misuse("%s=%s is no number", name, text);
    }
}

bool read_switch(const char* name) {
    int value = 0;
    read_number(name, value);
    return value != 0;
}

}  // namespace

void misuse(const char* format, ...) {
    std::array<char, 512> text{};
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text.data(), text.size(), format, arguments);
    va_end(arguments);
    std::fprintf(stderr, "emulated uTofu: process %d: MISUSE: %s\n", static_cast<int>(getpid()),
                 text.data());
    std::fflush(stderr);
    std::abort();
}

Options read_options() {
    Options o;
    const char* const directory = std::getenv("EMULATED_TOFU_DIRECTORY");
    o.directory = directory != nullptr && *directory != '\0'
                      ? directory
                      : "/dev/shm/emulated_tofu." + std::to_string(getuid());
    o.seed = std::random_device{}();
    read_number("EMULATED_TOFU_SEED", o.seed);
    read_number("EMULATED_TOFU_HOSTILE", o.hostile);
    o.busy = o.hostile > 0 ? 10 : 0;
    read_number("EMULATED_TOFU_INTERFACES", o.interfaces);
    read_number("EMULATED_TOFU_VCQS", o.vcqs);
    read_number("EMULATED_TOFU_PUTS", o.puts);
    read_number("EMULATED_TOFU_NOTICES", o.notices);
    read_number("EMULATED_TOFU_BUSY", o.busy);
    read_number("EMULATED_TOFU_UNREQUESTED", o.unrequested);
    read_number("EMULATED_TOFU_LONGEST_PUT", o.longest_put);
    read_number("EMULATED_TOFU_PIGGYBACK", o.piggyback);
    read_number("EMULATED_TOFU_REGISTRATIONS", o.registrations);
    read_number("EMULATED_TOFU_LATENCY", o.latency);
    read_number("TREFOIL_RANK", o.node);
    read_number("EMULATED_TOFU_NODE", o.node);
    o.unordered = read_switch("EMULATED_TOFU_UNORDERED");
    o.strict_threads = read_switch("EMULATED_TOFU_STRICT_THREADS");
    o.leaks = read_switch("EMULATED_TOFU_LEAKS");
    if (const char* const edata = std::getenv("EMULATED_TOFU_EDATA")) {
        o.truncate_edata = std::strcmp(edata, "truncate") == 0;
        if (!o.truncate_edata && std::strcmp(edata, "refuse") != 0) {
            misuse("EMULATED_TOFU_EDATA=%s is neither refuse nor truncate", edata);
        }
    }
    if (const char* const shape = std::getenv("EMULATED_TOFU_SHAPE")) {
        if (std::sscanf(shape, "%u.%u.%u.%u.%u.%u", &o.shape[0], &o.shape[1], &o.shape[2],
                        &o.shape[3], &o.shape[4], &o.shape[5]) != 6) {
            misuse("EMULATED_TOFU_SHAPE=%s is not of the form X.Y.Z.A.B.C", shape);
        }
    }
    return o;
}

}  // namespace emulated_tofu
