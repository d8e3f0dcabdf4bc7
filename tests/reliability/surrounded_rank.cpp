// SPDX-License-Identifier: BSD-3-Clause
// One rank of a job in hostile surroundings (surroundings.py): each kind of call once, checked.
//
// Usage: surrounded_rank FOLDER. The rank writes its report into the file FOLDER/rankN, which is
// there already and is mapped at once: so a report needs no descriptor, no room on a disk and no
// memory, and is there when the process is not. Lines: "started"; "created"; then "right", or
// "failed" with status, call and text, or "wrong".
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <locale>
#include <string>

#include "rounds.hpp"
#include "strike.hpp"

namespace trefoil::test {

namespace {

constexpr std::size_t page_bytes = 4096;
char* page = nullptr;
std::size_t used = 0;

bool map_page(const std::string& path) {
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    void* const there =
        file < 0 ? MAP_FAILED
                 : mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) {
        close(file);
    }
    page = there == MAP_FAILED ? nullptr : static_cast<char*>(there);
    return page != nullptr;
}

/// As programs do that write for people. Not every name of a locale is known.
void take_locale() {
    setlocale(LC_ALL, "");
    try {
        std::locale::global(std::locale(""));
    } catch (const std::exception&) {
    }
}

int calls(trefoil_comm_t comm, int rank) {
    {
        Rounds rounds(comm, 1);
        for (const char* kind :
             {"small", "large", "rooted", "nonblocking", "persistent", "mixed"}) {
            const int bad = rounds.round_of(kind);
            if (bad != 0) {
                return bad;
            }
        }
    }
    trefoil_comm_t half = nullptr;
    const auto status = trefoil_comm_split(comm, rank % 2, rank, &half);
    if (status != TREFOIL_SUCCESS) {
        return fail(status, "split", trefoil_last_error(comm));
    }
    int bad = 0;
    {
        Rounds rounds(half, 2);
        bad = rounds.round_of("mixed");
    }
    trefoil_comm_destroy(half);
    const auto together = bad == 0 ? trefoil_barrier(comm) : TREFOIL_SUCCESS;
    return together == TREFOIL_SUCCESS ? bad : fail(together, "barrier", trefoil_last_error(comm));
}

int run(int rank) {
    report("started");
    trefoil_comm_t comm = nullptr;
    const auto status = trefoil_comm_create(nullptr, &comm);
    if (status != TREFOIL_SUCCESS) {
        return fail(status, "create", trefoil_last_error(nullptr));
    }
    report("created");
    const int bad = calls(comm, rank);
    trefoil_comm_destroy(comm);
    if (bad == 0) {
        report("right");
    }
    return bad;
}

}  // namespace

void report(const char* word, const std::string& rest) {
    const std::string line = word + (rest.empty() ? "" : " " + rest) + "\n";
    const std::size_t length = std::min(line.size(), page_bytes - used);
    std::memcpy(page + used, line.data(), length);
    used += length;
}

double monotonic_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace trefoil::test

int main(int argc, char** argv) {
    using namespace trefoil::test;
    const char* const number = std::getenv("TREFOIL_RANK");
    if (argc != 2 || number == nullptr) {
        std::fprintf(stderr, "usage: TREFOIL_RANK=N surrounded_rank FOLDER\n");
        return 2;
    }
    if (!map_page(std::string(argv[1]) + "/rank" + number)) {
        std::perror("surrounded_rank: no file for its report");
        return 2;
    }
    take_locale();
    if (std::getenv("SURROUNDED_UNDUMPABLE") != nullptr) {
        prctl(PR_SET_DUMPABLE, 0);  // nobody may look at it, as at a program with capabilities
    }
    try {
        return run(std::atoi(number));
    } catch (const std::exception& e) {  // of this program's own vectors
        const std::string text =
            std::string("no memory for the program's own vectors: ") + e.what();
        return fail(TREFOIL_ERROR_OUT_OF_MEMORY, "program", text.c_str());
    }
}
