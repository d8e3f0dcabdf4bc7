// SPDX-License-Identifier: BSD-3-Clause
// Runs gnuplot without a shell: its script on standard input, the picture on standard output.
#include "bench/common/plot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "topo/error.hpp"

extern char** environ;

namespace trefoil::tool {

namespace {

[[noreturn]] void fail(const std::string& file, const std::string& why) {
    throw Error(Status::internal, "\"" + file + "\" was not written: " + why);
}

/// "svg" or "png"; empty: neither.
std::string kind_of(const std::string& file) {
    const std::string end = std::filesystem::path(file).extension().string();
    return end == ".svg" || end == ".png" ? end.substr(1) : "";
}

/// Whether some folder of PATH has it, so that long work is not in vain.
bool gnuplot_is_there() {
    const char* const path = std::getenv("PATH");
    std::string_view left = path == nullptr ? "/bin:/usr/bin" : path;
    while (!left.empty()) {
        const std::size_t end = std::min(left.find(':'), left.size());
        const std::string file = std::string(left.substr(0, end)) + "/gnuplot";
        if (access(file.c_str(), X_OK) == 0) {
            return true;
        }
        left.remove_prefix(std::min(end + 1, left.size()));
    }
    return false;
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File temporary(const std::string& file) {
    File result(std::tmpfile(), &std::fclose);
    if (result == nullptr) {
        fail(file, fmt::format("no temporary file: {}", std::strerror(errno)));
    }
    return result;
}

/// A file beside the one that is asked for; it goes unless it took its place.
class Draft {
  public:
    explicit Draft(std::string file) : file_(std::move(file)), name_(file_ + ".XXXXXX") {
        descriptor_ = mkstemp(name_.data());
        if (descriptor_ < 0) {
            fail(file_, std::strerror(errno));
        }
    }
    ~Draft() {
        close(descriptor_);
        unlink(name_.c_str());
    }
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;

    int descriptor() const { return descriptor_; }
    void take_place() {
        const mode_t mask = umask(0);
        umask(mask);
        if (fchmod(descriptor_, 0666 & ~mask) != 0 ||
            std::rename(name_.c_str(), file_.c_str()) != 0) {
            fail(file_, std::strerror(errno));
        }
    }

  private:
    std::string file_, name_;
    int descriptor_ = -1;
};

/// The exit status, as waitpid() tells it.
int run_gnuplot(const std::string& file, int script, int picture, int complaints) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, script, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, picture, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, complaints, STDERR_FILENO);
    std::string name = "gnuplot", plain = "-d";  // without the user's own settings
    char* const arguments[] = {name.data(), plain.data(), nullptr};
    pid_t child = 0;
    const int failed = posix_spawnp(&child, "gnuplot", &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        fail(file, fmt::format("gnuplot does not start ({}); install the package gnuplot-nox",
                               std::strerror(failed)));
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

}  // namespace

void check_figure_file(const std::string& file) {
    if (kind_of(file).empty()) {
        throw Error(
            Status::invalid_argument,
            "\"" + file + "\" is not a name for a picture; give one that ends in .svg or .png");
    }
    const auto folder = std::filesystem::path(file).parent_path();
    if (access(folder.empty() ? "." : folder.c_str(), W_OK) != 0) {
        throw Error(Status::invalid_argument, fmt::format("nothing can be written to \"{}\": {}",
                                                          folder.string(), std::strerror(errno)));
    }
    if (!gnuplot_is_there()) {
        throw Error(Status::unsupported,
                    "pictures need gnuplot, which is not here; install the package gnuplot-nox");
    }
}

void write_figure(const std::string& file, const Figure& figure) {
    check_figure_file(file);
    const std::string script = figure_script(figure, kind_of(file));
    const File input = temporary(file), complaints = temporary(file);
    if (std::fwrite(script.data(), 1, script.size(), input.get()) != script.size() ||
        std::fflush(input.get()) != 0) {
        fail(file, std::strerror(errno));
    }
    std::rewind(input.get());
    Draft draft(file);
    const int status =
        run_gnuplot(file, fileno(input.get()), draft.descriptor(), fileno(complaints.get()));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 ||
        lseek(draft.descriptor(), 0, SEEK_END) == 0) {
        std::string said(2000, '\0');
        std::rewind(complaints.get());
        said.resize(std::fread(said.data(), 1, said.size(), complaints.get()));
        fail(file, "gnuplot failed: " + said);
    }
    draft.take_place();
}

}  // namespace trefoil::tool
