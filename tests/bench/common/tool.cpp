// SPDX-License-Identifier: BSD-3-Clause
// Runs the built `trefoil` command with its output in files.
#include "tests/bench/common/tool.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace trefoil::test {

namespace {

std::string read_file(const std::string& name) {
    std::ifstream file(name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string fresh_file() {
    static std::atomic<int> number{0};
    const char* directory = std::getenv("TMPDIR");
    return std::string(directory == nullptr ? "/tmp" : directory) + "/trefoil-test-" +
           std::to_string(getpid()) + "-" + std::to_string(number++);
}

[[noreturn]] void become(const std::vector<std::string>& arguments, const std::string& out,
                         const std::string& err) {
    std::vector<char*> words{const_cast<char*>(TREFOIL_TOOL)};
    for (const std::string& a : arguments) {
        words.push_back(const_cast<char*>(a.c_str()));
    }
    words.push_back(nullptr);
    constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC;
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(open(out.c_str(), flags, 0600), STDOUT_FILENO);
    dup2(open(err.c_str(), flags, 0600), STDERR_FILENO);
    execv(TREFOIL_TOOL, words.data());
    _exit(127);
}

}  // namespace

bool becomes_true(const std::function<bool()>& condition, std::chrono::seconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return true;
}

Tool::Tool(const std::vector<std::string>& arguments)
    : out_file_(fresh_file()), err_file_(fresh_file()) {
    pid_ = fork();
    if (pid_ == 0) {
        become(arguments, out_file_, err_file_);
    }
    if (pid_ < 0) {
        throw std::runtime_error("fork failed");
    }
}

Tool::~Tool() {
    if (!ended_) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    unlink(out_file_.c_str());
    unlink(err_file_.c_str());
}

void Tool::signal(int number) const {
    kill(pid_, number);
}

std::string Tool::out() const {
    return read_file(out_file_);
}

bool Tool::wrote(const std::string& text) const {
    return becomes_true([&] { return out().find(text) != std::string::npos; });
}

ToolResult Tool::wait(std::chrono::seconds limit) {
    ToolResult result;
    int status = 0;
    ended_ = becomes_true([&] { return waitpid(pid_, &status, WNOHANG) == pid_; }, limit);
    if (ended_) {
        result.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    result.out = out();
    result.err = read_file(err_file_);
    return result;
}

ToolResult run_tool(const std::vector<std::string>& arguments, std::chrono::seconds limit) {
    return Tool(arguments).wait(limit);
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
}

}  // namespace trefoil::test
