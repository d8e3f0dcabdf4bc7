// SPDX-License-Identifier: BSD-3-Clause
// Presence by the launcher's store of keys. MPICH's launcher, Hydra, speaks PMI-1 with each rank,
// lines of text over the socket PMI_FD. MPICH itself makes all keys known that were put before its
// beginning ends; between its own calls the line is free.
#include "mpi/preload/presence.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "mpi/api.hpp"
#include "mpi/presence.hpp"
#include "mpi/settings.hpp"

namespace trefoil::mpi {

const char* const what_is_present = "Trefoil's layer";

namespace {

int launcher = -1;
std::string store;  ///< its name; empty: nobody can be asked for

/// The launcher's answer to one line; none: the connection has ended. MPICH waits for its answers
/// without a limit, too, and one that came later would be taken for one of those.
std::optional<std::string> ask(std::string line) {
    line += '\n';
    for (std::size_t sent = 0; sent < line.size();) {
        const ssize_t now = write(launcher, line.data() + sent, line.size() - sent);
        if (now < 0 && errno != EINTR) {
            return std::nullopt;
        }
        sent += static_cast<std::size_t>(std::max<ssize_t>(now, 0));
    }
    std::string answer;
    char one = 0;
    while (one != '\n') {
        const ssize_t got = read(launcher, &one, 1);
        if (got == 1) {
            answer += one;
        } else if (got == 0 || errno != EINTR) {
            return std::nullopt;
        }
    }
    answer.pop_back();
    return answer;
}

/// The value of a word "NAME=value" of an answer.
std::string value_of(std::string_view answer, std::string_view name) {
    std::size_t begin = 0;
    while (begin < answer.size()) {
        const std::string_view word = answer.substr(begin, answer.find(' ', begin) - begin);
        if (word.starts_with(name) && word.substr(name.size()).starts_with('=')) {
            return std::string(word.substr(name.size() + 1));
        }
        begin += word.size() + 1;
    }
    return "";
}

std::string key_of(const std::string& rank) {
    return "kvsname=" + store + " key=trefoil-layer-" + rank;
}

constexpr int tag = 0x7265;

/// Hydra's, in PMI-1, and nobody else in this process uses the line while MPI's own calls do not.
bool has_line() {
    const auto is_set = [](const char* name) { return !variable(name).empty(); };
    return is_set("MPI_LOCALNRANKS") && is_set("PMI_RANK") && !is_set("MPIR_CVAR_PMI_VERSION") &&
           !is_set("MPICH_ASYNC_PROGRESS") && !is_set("MPIR_CVAR_ASYNC_PROGRESS");
}

}  // namespace

void announce_presence() {
    const std::string text = variable("PMI_FD"), rank = variable("PMI_RANK");
    int number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0 || !has_line()) {
        return;
    }
    launcher = number;
    // MPICH says this, too, but the launcher forgets what was put before the first rank has.
    const std::string begun = ask("cmd=init pmi_version=1 pmi_subversion=1").value_or("");
    if (value_of(begun, "rc") != "0") {
        return;
    }
    store = value_of(ask("cmd=get_my_kvsname").value_or(""), "kvsname");
    if (!store.empty()) {
        ask("cmd=put " + key_of(rank) + " value=1");
    }
}

bool can_ask_for_presence() {
    return !store.empty();
}

bool is_present(int rank) {
    return value_of(ask("cmd=get " + key_of(std::to_string(rank))).value_or(""), "rc") == "0";
}

// No message of the program's can be taken for these, nor these for one: each is received while its
// receiver is in MPI's beginning, before the sender has left it.
void tell_presence(bool value, int to) {
    const char byte = value ? 1 : 0;
    PMPI_Send(&byte, 1, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

bool hear_presence(int from) {
    char byte = 0;
    return PMPI_Recv(&byte, 1, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
               MPI_SUCCESS &&
           byte != 0;
}

}  // namespace trefoil::mpi
