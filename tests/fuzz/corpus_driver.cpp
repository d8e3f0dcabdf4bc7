// SPDX-License-Identifier: BSD-3-Clause
// Runs a fuzz target on its corpus, once each: what was found once stays mended.
// usage: test_fuzz TARGET FOLDER...
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#define TARGET(name) extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size);
#include "targets.inc"
#undef TARGET

namespace {

using Target = int (*)(const std::uint8_t*, std::size_t);

Target target_of(std::string_view wanted) {
#define TARGET(name)        \
    if (wanted == #name) {  \
        return fuzz_##name; \
    }
#include "targets.inc"
#undef TARGET
    return nullptr;
}

}  // namespace

int main(int count, char** arguments) {
    const Target target = count > 1 ? target_of(arguments[1]) : nullptr;
    if (target == nullptr) {
        std::fprintf(stderr, "usage: %s TARGET FOLDER...; there is no such target\n", arguments[0]);
        return 2;
    }
    std::vector<std::filesystem::path> files;
    for (int i = 2; i < count; ++i) {
        for (const auto& entry : std::filesystem::directory_iterator(arguments[i])) {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    for (const std::filesystem::path& path : files) {
        std::printf("%s\n", path.c_str());
        std::fflush(stdout);  // the last line names what ends the process
        std::ifstream file(path, std::ios::binary);
        const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
        target(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    }
    std::printf("%zu inputs\n", files.size());
    return files.empty() ? 1 : 0;
}
