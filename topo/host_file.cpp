// SPDX-License-Identifier: BSD-3-Clause
// Reading a host file and giving its lines to the ranks.
#include "topo/host_file.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

#include "topo/error.hpp"
#include "topo/regular_file.hpp"

namespace trefoil {

namespace {

[[noreturn]] void refuse(const HostFile& file, int line, const std::string& what) {
    throw Error(Status::invalid_argument, "host file " + file.path +
                                              (line > 0 ? ", line " + std::to_string(line) : "") +
                                              ": " + what);
}

Rank coordinate_of(const HostFile& file, int line, const std::string& word) {
    Rank value = 0;
    const char* end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, value);
    if (error != std::errc() || stop != end || value < 0) {
        refuse(file, line,
               "\"" + word + "\" is not a coordinate; write HOST x y, with numbers from 0");
    }
    return value;
}

std::string short_name(const std::string& host) {
    return host.substr(0, host.find('.'));
}

bool matches(const std::string& pattern, const std::string& host) {
    const bool one_is_short =
        pattern.find('.') == std::string::npos || host.find('.') == std::string::npos;
    return pattern == host || pattern == "localhost" ||
           (one_is_short && short_name(pattern) == short_name(host));
}

}  // namespace

HostFile parse_host_file(std::string_view text, const std::string& path) {
    HostFile file;
    file.path = path;
    file.checksum = 0xcbf29ce484222325ULL;
    for (const char c : text) {
        file.checksum = (file.checksum ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    }
    std::istringstream lines{std::string(text)};
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        std::istringstream words(line.substr(0, line.find('#')));
        HostFile::Line entry{.number = number, .host = {}, .coordinates = {}};
        if (!(words >> entry.host)) {
            continue;
        }
        std::string word;
        if (entry.host == "torus" && file.lines.empty() && !file.torus) {
            words >> word;
            file.torus = Torus::parse(word);
            continue;
        }
        while (words >> word) {
            entry.coordinates.push_back(coordinate_of(file, number, word));
        }
        const std::size_t dimensions = file.torus            ? file.torus->sizes().size()
                                       : !file.lines.empty() ? file.lines[0].coordinates.size()
                                                             : entry.coordinates.size();
        if (entry.coordinates.empty() || entry.coordinates.size() != dimensions) {
            refuse(file, number,
                   "there are " + std::to_string(entry.coordinates.size()) + " coordinates, not " +
                       std::to_string(std::max<std::size_t>(1, dimensions)) +
                       "; write HOST and one coordinate per dimension");
        }
        file.lines.push_back(std::move(entry));
    }
    if (file.lines.empty()) {
        refuse(file, 0, "no line places a rank; write HOST x y for each");
    }
    return file;
}

HostFile read_host_file(const std::string& path) {
    try {
        return parse_host_file(read_regular_file(path, "host file"), path);
    } catch (const Error& error) {
        if (error.status() != Status::not_found) {
            throw;
        }
        throw Error(
            Status::not_found,
            error.what() +
                std::string("; TREFOIL_HOSTFILE must name a file that every rank can read"));
    }
}

std::vector<std::vector<Rank>> coordinates_by_host(const HostFile& file,
                                                   const std::vector<std::string>& hosts) {
    std::map<std::string, std::vector<const HostFile::Line*>> lines_of;
    std::map<std::string, std::size_t> ranks_of, used;
    for (const std::string& host : hosts) {
        ++ranks_of[host];
    }
    std::vector<bool> taken(file.lines.size());
    for (const auto& [host, ranks] : ranks_of) {
        for (std::size_t i = 0; i < file.lines.size(); ++i) {
            if (matches(file.lines[i].host, host)) {
                lines_of[host].push_back(&file.lines[i]);
                taken[i] = true;
            }
        }
        if (lines_of[host].size() != ranks) {
            refuse(file, 0,
                   std::to_string(ranks) + " ranks of the job run on host " + host + ", but " +
                       std::to_string(lines_of[host].size()) +
                       " lines name it; write one for each of its ranks");
        }
    }
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
        if (!taken[i]) {
            refuse(file, file.lines[i].number,
                   "no rank of the job runs on host " + file.lines[i].host +
                       "; leave the line out, or start a rank there");
        }
    }
    std::vector<std::vector<Rank>> result;
    for (const std::string& host : hosts) {
        result.push_back(lines_of[host][used[host]++]->coordinates);
    }
    return result;
}

}  // namespace trefoil
