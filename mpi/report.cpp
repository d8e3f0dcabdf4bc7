// SPDX-License-Identifier: BSD-3-Clause
// The report's counters and its table.
#include "mpi/report.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <vector>

#include "mpi/api.hpp"
#include "mpi/words.hpp"

namespace trefoil::mpi {

namespace {

constexpr std::array<std::size_t, 5> class_ends{64, 1024, 16384, 262144, 4194304};
constexpr std::array<const char*, 7> class_names{"to 64 B",  "to 1 KiB", "to 16 KiB", "to 256 KiB",
                                                 "to 4 MiB", "more",     "unknown"};

struct Cell {
    std::atomic<std::uint64_t> calls{0}, nanoseconds{0};
};
enum Carrier { trefoil_calls, mpi_calls, carriers };
/// A collective, in one of its ways.
constexpr std::size_t functions = ways * kinds;
Cell cells[functions][class_names.size()][carriers];
std::atomic<std::uint64_t> passed[functions][reasons];

constexpr std::size_t function_of(Kind kind, Way way) {
    return index(kind) * ways + static_cast<std::size_t>(way);
}

/// As MPI has it, without "MPI_".
std::string name_of(std::size_t function) {
    const std::string name(kind_rows[function / ways].name);
    switch (static_cast<Way>(function % ways)) {
        case Way::nonblocking:
            return "i" + name;
        case Way::persistent:
            return name + "_init";
        default:
            return name;
    }
}

std::mutex tori_mutex;
std::map<std::string, int> tori;

std::size_t class_of(std::size_t bytes) {
    if (bytes == unknown_bytes) {
        return class_names.size() - 1;
    }
    std::size_t c = 0;
    while (c < class_ends.size() && bytes > class_ends[c]) {
        ++c;
    }
    return c;
}

std::vector<std::uint64_t> combined(const std::vector<std::uint64_t>& mine, MPI_Op op) {
    std::vector<std::uint64_t> all(mine.size());
    PMPI_Reduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_UINT64_T, op, 0,
                MPI_COMM_WORLD);
    return all;
}

/// As snprintf, in a string; for lines of a table.
template <typename... Values>
std::string line(const char* format, Values... values) {
    std::array<char, 160> text{};
    std::snprintf(text.data(), text.size(), format, values...);
    return text.data();
}

std::string rows(const std::vector<std::uint64_t>& calls, const std::vector<std::uint64_t>& times) {
    std::string text = line("%-26s%-12s%14s%12s%14s%12s", "collective", "bytes", "Trefoil calls",
                            "seconds", "MPI calls", "seconds");
    std::size_t at = 0;
    for (std::size_t f = 0; f < functions; ++f) {
        for (const char* const bytes : class_names) {
            if (calls[at] + calls[at + 1] > 0) {
                text += line("\n%-26s%-12s%14llu%12.6f%14llu%12.6f", name_of(f).c_str(), bytes,
                             static_cast<unsigned long long>(calls[at]),
                             static_cast<double>(times[at]) * 1e-9,
                             static_cast<unsigned long long>(calls[at + 1]),
                             static_cast<double>(times[at + 1]) * 1e-9);
            }
            at += carriers;
        }
    }
    return text;
}

std::string reasons_told(const std::vector<std::uint64_t>& counts) {
    std::string text;
    for (std::size_t f = 0; f < functions; ++f) {
        for (std::size_t r = 1; r < reasons; ++r) {
            if (counts[f * reasons + r] > 0) {
                text += "\n" + std::to_string(counts[f * reasons + r]) + " of " + name_of(f) +
                        " went to MPI: " + std::string(reason_texts[r]);
            }
        }
    }
    return text;
}

}  // namespace

void count_call(Kind kind, Way way, const Verdict& verdict, std::chrono::nanoseconds time) {
    const bool by_trefoil = verdict.reason == Reason::none;
    Cell& cell = cells[function_of(kind, way)][class_of(verdict.bytes)]
                      [by_trefoil ? trefoil_calls : mpi_calls];
    cell.calls.fetch_add(1, std::memory_order_relaxed);
    cell.nanoseconds.fetch_add(static_cast<std::uint64_t>(time.count()), std::memory_order_relaxed);
    if (!by_trefoil) {
        passed[function_of(kind, way)][static_cast<std::size_t>(verdict.reason)].fetch_add(
            1, std::memory_order_relaxed);
    }
}

void note_shadow(trefoil_comm_t comm, const std::string& source) {
    int dimensions = 0;
    trefoil_comm_torus(comm, &dimensions, nullptr, 0);
    std::vector<int> sizes(static_cast<std::size_t>(dimensions));
    trefoil_comm_torus(comm, &dimensions, sizes.data(), dimensions);
    std::string text;
    for (const int size : sizes) {
        text += (text.empty() ? "torus " : "x") + std::to_string(size);
    }
    int per_node = 1;
    trefoil_comm_ranks_per_node(comm, &per_node);
    text += per_node > 1 ? "h" : "";
    const char* said = "";
    trefoil_comm_torus_source(comm, &said);
    const char *backend = "", *provider = "";
    trefoil_comm_transport(comm, &backend, &provider);
    text += " (" + (source.empty() ? std::string(said) : source) + ") over " + backend +
            (*provider == '\0' ? "" : " ") + provider;
    const std::lock_guard lock(tori_mutex);
    ++tori[text];
}

void print_report() {
    std::vector<std::uint64_t> calls, times, reason_counts;
    for (const auto& of_function : cells) {
        for (const auto& of_class : of_function) {
            for (const Cell& cell : of_class) {
                calls.push_back(cell.calls.load(std::memory_order_relaxed));
                times.push_back(cell.nanoseconds.load(std::memory_order_relaxed));
            }
        }
    }
    for (const auto& of_function : passed) {
        for (const auto& count : of_function) {
            reason_counts.push_back(count.load(std::memory_order_relaxed));
        }
    }
    calls = combined(calls, MPI_SUM);
    times = combined(times, MPI_MAX);
    reason_counts = combined(reason_counts, MPI_SUM);
    int rank = 0, ranks = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank != 0) {
        return;
    }
    std::string text = std::string(is_component ? "Component of " : "MPI layer for ") +
                       version_word + ", version " + trefoil_version_string() + ": calls of all " +
                       std::to_string(ranks) + " ranks, seconds of the slowest one\n" +
                       rows(calls, times) + reasons_told(reason_counts);
    for (const auto& [torus, count] : tori) {
        text += "\n" + std::to_string(count) + " of rank 0's communicators: " + torus;
    }
    say(TREFOIL_LOG_REPORT, text);
}

}  // namespace trefoil::mpi
