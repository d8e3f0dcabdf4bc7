// SPDX-License-Identifier: BSD-3-Clause
// A process-wide list of what groups leave.
#include "backend/ofi/ends_here.hpp"

#include <map>
#include <utility>

#include "topo/error.hpp"

namespace trefoil::ofi {

namespace {

struct End {
    std::weak_ptr<void> remains;
    std::weak_ptr<KeptEnds> kept;
};

/// Entries stay: libfabric 1.17 never forgets the address of an endpoint of its process, nor where
/// its memory was.
struct Ends {
    std::mutex mutex;
    std::map<std::string, End> by_address;
};

Ends& ends() {
    static Ends& all = *new Ends;  // groups may outlive static objects
    return all;
}

}  // namespace

void add_end(const std::string& address, const std::shared_ptr<void>& remains,
             const std::shared_ptr<KeptEnds>& kept) {
    const std::lock_guard lock(ends().mutex);
    ends().by_address[address] = {remains, kept};
}

void keep_each_other(const std::string& peer, const std::shared_ptr<void>& remains,
                     KeptEnds& kept) {
    End end;
    {
        const std::lock_guard lock(ends().mutex);
        const auto found = ends().by_address.find(peer);
        if (found == ends().by_address.end()) {
            return;
        }
        end = found->second;
    }
    const auto theirs = end.remains.lock();
    const auto guests = end.kept.lock();
    if (theirs == nullptr || guests == nullptr) {
        throw Error(Status::peer_lost, "a peer in this process has closed its endpoints");
    }
    if (theirs != remains) {
        guests->add(remains);
        kept.add(theirs);
    }
}

}  // namespace trefoil::ofi
