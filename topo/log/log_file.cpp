// SPDX-License-Identifier: BSD-3-Clause
// Open files of the log, by name.
#include "topo/log/log_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "topo/error.hpp"
#include "topo/host.hpp"

namespace trefoil {

namespace {

struct OpenFiles {
    std::mutex mutex;
    std::map<std::string, std::weak_ptr<LogFile>> by_name;
};

OpenFiles& open_files() {
    static auto* const instance = new OpenFiles;  // outlives every static object that logs
    return *instance;
}

}  // namespace

std::shared_ptr<LogFile> LogFile::open(const std::string& name) {
    OpenFiles& files = open_files();
    const std::scoped_lock lock(files.mutex);
    std::weak_ptr<LogFile>& known = files.by_name[name];
    if (auto file = known.lock()) {
        return file;
    }
    Descriptor opened(
        ::open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600));
    if (!opened.is_open()) {
        throw Error(Status::system_error,
                    "cannot open " + name + " for the log: " + std::strerror(errno));
    }
    std::shared_ptr<LogFile> file(new LogFile(std::move(opened)));
    known = file;
    return file;
}

void LogFile::append(std::string_view line) noexcept {
    while (!line.empty()) {
        const ssize_t written = write(file_.number(), line.data(), line.size());
        if (written < 0 && errno != EINTR) {
            return;  // a full disk: words are lost rather than the job
        }
        line.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
    }
}

std::string log_file_name(std::string_view pattern, int rank) {
    std::string name;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char letter = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
        if (letter == '\0') {
            name += pattern[i];
            continue;
        }
        ++i;
        name += letter == 'r'   ? (rank < 0 ? "unknown" : std::to_string(rank))
                : letter == 'p' ? std::to_string(getpid())
                : letter == 'h' ? host_name()
                                : std::string(1, letter);
    }
    return name;
}

}  // namespace trefoil
