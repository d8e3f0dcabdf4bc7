// SPDX-License-Identifier: BSD-3-Clause
// One rank that makes drawn calls and writes down what has come of each, for
// `scripts/compare-builds calls`. It knows the C interface alone, so that it runs with the library
// of any build.
//
// Usage: calls_rank NAMES FOLDER CALLS SEED named|auto PLANT NUMBER
//        calls_rank NAMES
// NAMES is a file with a line COLLECTIVE ALGORITHM for each algorithm that may be named; FOLDER
// takes a file of each rank (record.hpp). With auto, a quarter of the calls leaves the algorithm to
// the library. PLANT and NUMBER: a difference made on purpose (scenes.hpp), or `none 0`. With NAMES
// alone the program prints, as one rank, "loaded PATH" and the names that this library has.
// Exit code 0: all calls were made, however they have ended.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "tests/reliability/calls/scenes.hpp"

namespace {

using namespace trefoil::calls;

/// The file that this process has the library from.
const char* loaded_library() {
    Dl_info info{};
    return dladdr(reinterpret_cast<void*>(&trefoil_comm_create), &info) != 0 ? info.dli_fname : "?";
}

int fail(const std::string& what) {
    std::fprintf(stderr, "%s: %s\n", what.c_str(), trefoil_last_error(nullptr));
    return EXIT_FAILURE;
}

/// Of a torus of one rank, which refuses some that it knows.
void print_known(trefoil_comm_t comm, const Names& names) {
    std::printf("loaded %s\n", loaded_library());
    for (const auto& [collective, algorithms] : names) {
        for (const std::string& name : algorithms) {
            if (trefoil_comm_set_algorithm(comm, collective.c_str(), name.c_str()) !=
                TREFOIL_ERROR_NOT_FOUND) {
                std::printf("%s %s\n", collective.c_str(), name.c_str());
            }
        }
    }
}

int make_calls(trefoil_comm_t comm, const Names& names, const std::vector<std::string>& arguments) {
    int rank = 0;
    trefoil_comm_rank(comm, &rank);
    Record record;
    if (!record.open(arguments[0] + "/rank" + std::to_string(rank))) {
        return fail("cannot write in " + arguments[0]);
    }
    record.loaded(loaded_library());
    const bool with_auto = arguments[3] == "auto";
    const Plant plant{arguments[4], std::stoul(arguments[5])};
    const auto seed = static_cast<unsigned>(std::stoul(arguments[2]));
    Scenes scenes(comm, seed, names, with_auto, plant, record);
    if (!scenes.run(std::stoul(arguments[1]))) {
        return fail("a communicator has failed");
    }
    if (trefoil_barrier(comm) != TREFOIL_SUCCESS) {
        return fail("barrier");
    }
    record.end(scenes.calls());
    return EXIT_SUCCESS;
}

}  // namespace

int main(int count, char** words) {
    const std::vector<std::string> arguments(words + 1, words + count);
    if (arguments.size() != 1 && arguments.size() != 7) {
        std::fprintf(stderr,
                     "usage: calls_rank NAMES [FOLDER CALLS SEED named|auto PLANT NUMBER]\n");
        return 2;
    }
    Names names;
    std::ifstream file(arguments[0]);
    for (std::string collective, name; file >> collective >> name;) {
        names[collective].push_back(name);
    }
    trefoil_comm_t comm = nullptr;
    if (trefoil_comm_create(nullptr, &comm) != TREFOIL_SUCCESS) {
        return fail("create");
    }
    int code = EXIT_SUCCESS;
    if (arguments.size() == 1) {
        print_known(comm, names);
    } else {
        code = make_calls(comm, names, {arguments.begin() + 1, arguments.end()});
    }
    return trefoil_comm_destroy(comm) == TREFOIL_SUCCESS ? code : EXIT_FAILURE;
}
