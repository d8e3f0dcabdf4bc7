// SPDX-License-Identifier: BSD-3-Clause
// NUMA nodes as the kernel's files list them, and its policy for pages by mbind(2).
#include "topo/numa_memory.hpp"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <filesystem>
#include <fstream>

#include "topo/core_list.hpp"
#include "topo/host.hpp"
#include "topo/locality.hpp"

namespace trefoil {

namespace {

constexpr int most_nodes = 1024;  // of a kernel
constexpr int bits_of_word = sizeof(unsigned long) * CHAR_BIT;

std::vector<NumaNode> listed_nodes(const std::string& directory) {
    std::vector<NumaNode> nodes;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        const std::string digits = name.starts_with("node") ? name.substr(4) : "";
        const auto number = parse_core_list(digits);
        std::ifstream file(entry->path() / "cpulist");
        std::string text;
        if (!number || number->size() != 1 || !std::getline(file, text)) {
            continue;  // another file, or a node without cores
        }
        if (auto cores = parse_core_list(text)) {
            nodes.push_back({number->front(), std::move(*cores)});
        }
    }
    return nodes;
}

int node_of(const std::vector<NumaNode>& nodes, const std::vector<int>& cores) {
    for (const NumaNode& node : nodes) {
        if (std::ranges::all_of(
                cores, [&](int core) { return std::ranges::count(node.cores, core) > 0; })) {
            return node.number;
        }
    }
    return -1;
}

}  // namespace

int numa_node_of(const std::vector<int>& cores, const std::string& directory) {
    return node_of(listed_nodes(directory), cores);
}

int own_numa_node() {
    static const auto& nodes = *new std::vector(listed_nodes("/sys/devices/system/node"));
    return node_of(nodes, allowed_cores());
}

bool prefer_numa_node(void* start, std::size_t bytes, int node) noexcept {
    if (node < 0 || node >= most_nodes) {
        return false;
    }
    std::array<unsigned long, most_nodes / bits_of_word> nodes{};
    nodes[static_cast<std::size_t>(node / bits_of_word)] = 1UL << (node % bits_of_word);
    // The kernel takes one bit less than it is told.
    return syscall(SYS_mbind, start, bytes, MPOL_PREFERRED, nodes.data(), most_nodes + 1UL, 0U) ==
           0;
}

}  // namespace trefoil
