// SPDX-License-Identifier: BSD-3-Clause
// C++ in one page: a call in flight, a persistent call, and a communicator of this rank's row.
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <trefoil/trefoil.hpp>
#include <vector>

int main() {
    try {
        trefoil::Comm comm;  // rank and torus: from the launcher
        bool right = true;

        // A request waits in its destructor for a call that is still under way.
        std::vector<double> values(1000, comm.rank());
        trefoil::Request sum = comm.begin().allreduce(values);
        std::vector<int> meanwhile(1000);
        std::iota(meanwhile.begin(), meanwhile.end(), 0);
        sum.wait();
        right = right && values.front() == comm.size() * (comm.size() - 1) / 2.0;

        std::vector<long> step(1);
        trefoil::Request again = comm.prepare().allreduce(step);
        for (long i = 0; i < 10; ++i) {
            step[0] = i;
            again.start();
            again.wait();
            right = right && step[0] == i * comm.size();
        }

        // Keeps the last dimension of the torus. The row ends with its scope, after a barrier.
        std::vector<bool> keep(comm.torus().size(), false);
        keep.back() = true;
        {
            trefoil::Comm row = comm.sub(keep);
            std::vector<int> ones{1};
            row.allreduce(ones);
            right = right && ones[0] == comm.torus().back();
            row.barrier();
        }

        std::printf("rank %d of %d: %s\n", comm.rank(), comm.size(), right ? "right" : "wrong");
        comm.barrier();  // wait until no rank needs this one
        return right ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const trefoil::CallFailed& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return EXIT_FAILURE;
    }
}
