// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes what ranks tell each other at set-up: processes, addresses, memory.
#include <string>

#include "backend/registry/transports.hpp"
#include "comm/setup/job.hpp"
#include "tests/fuzz/target.hpp"
#ifdef TREFOIL_FUZZ_OFI
#include "backend/ofi/blob.hpp"
#endif
#ifdef TREFOIL_FUZZ_UCX
#include "backend/ucx/blob.hpp"
#endif

namespace {

using trefoil::fuzz::refuses;
using trefoil::fuzz::require;

/// What can be read is written and read again without loss.
template <typename Decode>
void survive(std::string_view bytes, Decode&& decode) {
    refuses([&] {
        const std::string once = encode(decode(bytes));
        require(encode(decode(once)) == once, "a blob changes when it is passed on");
    });
}

}  // namespace

FUZZ_TARGET(blobs) {
    using namespace trefoil;
    fuzz::Input input(data, size);
    const unsigned kind = input.byte() % 5;
    const std::string bytes(input.rest());
    switch (kind) {
        case 0:
            survive(bytes, [](std::string_view b) { return decode_process(std::string(b)); });
            break;
#ifdef TREFOIL_FUZZ_OFI
        case 1:
            survive(bytes, ofi::decode_memory);
            break;
        case 2:
            survive(bytes, ofi::decode_address);
            break;
#endif
#ifdef TREFOIL_FUZZ_UCX
        case 3:
            survive(bytes, ucx::decode_memory);
            break;
        case 4:
            survive(bytes, ucx::decode_address);
            break;
#endif
        default:
            break;
    }
    return 0;
}
