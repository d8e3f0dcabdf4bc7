// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes host files, and the placing of ranks by them.
#include "topo/host_file.hpp"

#include <string>
#include <vector>

#include "comm/setup/torus_map.hpp"
#include "tests/fuzz/target.hpp"

FUZZ_TARGET(host_file) {
    using namespace trefoil;
    fuzz::refuses([&] {
        const HostFile file = parse_host_file(fuzz::text_of(data, size), "hosts");
        fuzz::require(!file.lines.empty(), "a host file without lines");
        std::vector<std::string> hosts;
        for (const HostFile::Line& line : file.lines) {
            fuzz::require(line.coordinates.size() == file.lines[0].coordinates.size(),
                          "lines of different dimensions");
            hosts.push_back(line.host == "localhost" ? "node" : line.host);
        }
        const auto coordinates = coordinates_by_host(file, hosts);
        const std::string torus = file.torus ? file.torus->name() : "";
        const TorusMap map =
            make_torus_map({"the fuzzer", torus, coordinates}, static_cast<Rank>(hosts.size()));
        fuzz::require(map.position_of.size() == hosts.size(), "ranks without a place");
    });
    return 0;
}
