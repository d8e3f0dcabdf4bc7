// SPDX-License-Identifier: BSD-3-Clause
// The file as text, then the text as a schedule.
#include "bench/common/schedule_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "topo/error.hpp"

namespace trefoil::tool {

std::string read_text_file(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    if (!stream || !(text << stream.rdbuf())) {
        throw Error(Status::not_found, "cannot read \"" + file + "\": " +
                                           (errno != 0 ? std::strerror(errno) : "it is empty"));
    }
    return text.str();
}

std::shared_ptr<const UserSchedule> read_schedule(Collective collective, const std::string& file,
                                                  const std::string& text) {
    try {
        return std::make_shared<const UserSchedule>(collective, text);
    } catch (const Error& error) {
        throw Error(error.status(), file + ": " + error.what());
    }
}

std::shared_ptr<const UserSchedule> read_schedule(Collective collective, const std::string& file) {
    return read_schedule(collective, file, read_text_file(file));
}

}  // namespace trefoil::tool
