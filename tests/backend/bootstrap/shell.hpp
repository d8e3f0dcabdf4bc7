// SPDX-License-Identifier: BSD-3-Clause
// Commands of the shell, as tests of whole processes run them.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace trefoil::test {

struct Result {
    int code = -1;
    std::string out;  ///< both streams
    int lines_with(const std::string& text) const {
        int count = 0;
        for (std::size_t at = out.find(text); at != std::string::npos;
             at = out.find(text, at + 1)) {
            ++count;
        }
        return count;
    }
};

/// The command must bound its own time.
inline Result run(const std::string& command) {
    Result result;
    FILE* pipe = popen(("exec 2>&1; " + command).c_str(), "r");
    if (pipe == nullptr) {
        return result;
    }
    char piece[4096];
    std::size_t count = 0;
    while ((count = fread(piece, 1, sizeof piece, pipe)) > 0) {
        result.out.append(piece, count);
    }
    const int status = pclose(pipe);
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
}

/// Starts `ranks` processes of `program` that meet at `place`, the last rank first, so that the
/// others wait for the store that rank 0 serves.
inline std::string by_hand(int ranks, const std::string& place, const std::string& program) {
    std::string command = "export TREFOIL_STORE=" + place +
                          " TREFOIL_SIZE=" + std::to_string(ranks) + "; pids=; code=0; ";
    for (int r = ranks - 1; r >= 0; --r) {
        command += "TREFOIL_RANK=" + std::to_string(r) + " timeout 60 " + program +
                   " & pids=\"$pids $!\"; ";
    }
    return command + "for p in $pids; do wait $p || code=$?; done; exit $code";
}

}  // namespace trefoil::test
