// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes the conversation with a PMI process manager, who may say anything.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include "backend/bootstrap/pmi_client.hpp"
#include "backend/bootstrap/pmi_wire.hpp"
#include "tests/fuzz/target.hpp"

FUZZ_TARGET(pmi) {
    using namespace trefoil;
    const std::string_view text = fuzz::text_of(data, size);
    const pmi::Words words = pmi::parse_line(text);
    for (const auto& [key, value] : words) {
        (void)pmi::number_in(words, key);
        if (const auto bytes = pmi::from_hex(value)) {
            fuzz::require(pmi::from_hex(pmi::to_hex(*bytes)) == bytes, "hexadecimal digits");
        }
        if (pmi::announced_values(value)) {
            (void)pmi::digits_of(value);
        }
    }
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) {
        return 0;
    }
    const std::size_t said = std::min<std::size_t>(size, 32768);  // what a socket surely takes
    fuzz::require(write(ends[1], data, said) == static_cast<ssize_t>(said), "a socket is full");
    shutdown(ends[1], SHUT_WR);
    fuzz::refuses([&] {
        const auto until = pmi::Client::Clock::now() + std::chrono::milliseconds(200);
        pmi::Client client(ends[0]);  // closes it
        client.greet(until);
        client.put("key", "value", until);
        client.barrier(until);
        (void)client.get("key", until);
        client.say_good_bye(until);
    });
    close(ends[1]);
    return 0;
}
