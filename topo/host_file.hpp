// SPDX-License-Identifier: BSD-3-Clause
// The host file: which place of the torus each rank of each host takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// Text of lines `HOST x y [z ...]`, one per rank: coordinates from 0. Of several lines with one
/// host, the first is for the host's first rank, and so on. `#` begins a comment. A first line
/// `torus 4x4` gives the torus; without it sizes are the largest coordinates + 1. In `torus 3x3x2h`
/// the last coordinate counts the ranks of a node.
struct HostFile {
    struct Line {
        int number = 0;  ///< in the file, from 1
        std::string host;
        std::vector<Rank> coordinates;
    };
    std::string path;            ///< for messages
    std::uint64_t checksum = 0;  ///< of the text, to compare the files of two hosts
    std::optional<Torus> torus;  ///< nothing: not given
    std::vector<Line> lines;     ///< at least one; all have the same number of coordinates
};

/// Throws Error(invalid_argument) that names file, line and mend.
HostFile parse_host_file(std::string_view text, const std::string& path);
/// Reads the file at `path`; throws what read_regular_file() throws, too.
HostFile read_host_file(const std::string& path);

/// Each rank's coordinates, given its host's name. A line's host matches a name that is equal to
/// it, also up to the first dot ("n1" and "n1.example.org"); `localhost` matches every host. Throws
/// Error(invalid_argument) that names the host when lines are missing or left over.
std::vector<std::vector<Rank>> coordinates_by_host(const HostFile& file,
                                                   const std::vector<std::string>& hosts);

}  // namespace trefoil
