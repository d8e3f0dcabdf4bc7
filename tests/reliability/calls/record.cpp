// SPDX-License-Identifier: BSD-3-Clause
// Writing the lines.
#include "tests/reliability/calls/record.hpp"

#include <array>

namespace trefoil::calls {

bool Record::open(const std::string& path) {
    file_ = std::fopen(path.c_str(), "w");
    return file_ != nullptr;
}

Record::~Record() {
    if (file_ != nullptr) {
        std::fclose(file_);
    }
}

void Record::write(const std::string& line) {
    std::fprintf(file_, "%s\n", line.c_str());
}

void Record::call(std::size_t number, const std::string& text) {
    write("call\t" + std::to_string(number) + "\t" + text);
    std::fflush(file_);
}

void Record::ended(std::size_t number, trefoil_status_t status, const OwnCall::Outcome& outcome) {
    std::array<char, 17> hash{};
    std::snprintf(hash.data(), hash.size(), "%016llx",
                  static_cast<unsigned long long>(outcome.hash));
    write("ended\t" + std::to_string(number) + "\t" + trefoil_status_string(status) + "\t" +
          hash.data() + "\t" +
          (!outcome.wrong.empty() ? outcome.wrong
           : outcome.checked      ? "right"
                                  : "-"));
}

void Record::sent(std::size_t number, const Group& group) {
    std::string line = "sent\t" + std::to_string(number) + "\t" + group.name;
    Sent& before = before_[group.name];
    before.resize(static_cast<std::size_t>(group.ports));
    for (int port = 0; port < group.ports; ++port) {
        trefoil_port_t sent{};
        sent.size = sizeof sent;
        if (trefoil_comm_port(group.comm, port, &sent) != TREFOIL_SUCCESS) {
            line += "\trefused";
            continue;
        }
        auto& [puts, bytes] = before[static_cast<std::size_t>(port)];
        line += "\t" + std::to_string(sent.puts - puts) + "/" + std::to_string(sent.bytes - bytes);
        puts = sent.puts;
        bytes = sent.bytes;
    }
    write(line);
}

}  // namespace trefoil::calls
