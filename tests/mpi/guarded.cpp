// SPDX-License-Identifier: BSD-3-Clause
// Buffers that end where memory ends, or begin where it begins, so that a byte read or written
// beside them ends the process; and what a rank sends lies in memory that it may not write (MPICH
// 4.0.2 by itself does, in a bcast). Counts are such that vectors of the processor do not fit.
#include "in_flight.hpp"

#include <sys/mman.h>
#include <unistd.h>

using namespace trefoil::mpi::test;

namespace {

/// Ints between two pages that nobody may touch.
class Guarded {
  public:
    Guarded(int count, bool at_end) : count_(size(count)) {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        const std::size_t bytes = count_ * sizeof(int);
        inner_ = (bytes + page - 1) / page * page;
        void* const map =
            mmap(nullptr, inner_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        map_ = {static_cast<char*>(map), inner_ + 2 * page};
        begin_ = map_.at + page;
        mprotect(begin_, inner_, PROT_READ | PROT_WRITE);
        ints_ = reinterpret_cast<int*>(at_end ? begin_ + inner_ - bytes : begin_);
        std::fill_n(ints_, count_, -1);
    }
    Guarded(const Ints& numbers, bool at_end) : Guarded(static_cast<int>(numbers.size()), at_end) {
        std::copy(numbers.begin(), numbers.end(), ints_);
        mprotect(begin_, inner_, PROT_READ);
    }
    ~Guarded() { munmap(map_.at, map_.bytes); }
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;
    int* data() const { return ints_; }
    Ints ints() const { return Ints(ints_, ints_ + count_); }

  private:
    struct Map {
        char* at = nullptr;
        std::size_t bytes = 0;
    };
    std::size_t count_, inner_ = 0;
    Map map_;
    char* begin_ = nullptr;
    int* ints_ = nullptr;
};

/// This rank's, for each of all ranks.
Ints for_all(int of_rank, int count) {
    return inputs(of_rank, count * ranks);
}

Ints block_for(int of_rank, int to, int count) {
    const Ints all = for_all(of_rank, count);
    return Ints(all.begin() + to * count, all.begin() + (to + 1) * count);
}

void check_rooted(int root, int count, bool at_end) {
    const Guarded data(count, at_end), sent(inputs(root, count), at_end);
    MPI_Bcast(rank == root ? sent.data() : data.data(), count, MPI_INT, root, MPI_COMM_WORLD);
    EXPECT(rank == root || data.ints() == inputs(root, count));
    const Guarded mine(inputs(rank, count), at_end), parts(for_all(rank, count), at_end);
    const Guarded all(count * ranks, at_end), sums(count, at_end), own(count, at_end);
    MPI_Gather(mine.data(), count, MPI_INT, all.data(), count, MPI_INT, root, MPI_COMM_WORLD);
    EXPECT(rank != root || is_all(all.ints(), count));
    MPI_Reduce(mine.data(), sums.data(), count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    EXPECT(rank != root || is_sum(sums.ints(), ranks));
    MPI_Scatter(parts.data(), count, MPI_INT, own.data(), count, MPI_INT, root, MPI_COMM_WORLD);
    EXPECT(own.ints() == block_for(root, rank, count));
}

void check_all(int count, bool at_end) {
    const Guarded mine(inputs(rank, count), at_end), parts(for_all(rank, count), at_end);
    const Guarded all(count * ranks, at_end), sums(count, at_end), before(count, at_end);
    MPI_Allgather(mine.data(), count, MPI_INT, all.data(), count, MPI_INT, MPI_COMM_WORLD);
    EXPECT(is_all(all.ints(), count));
    Ints counts = filled(size(ranks), count), places;
    Ints theirs;
    for (int r = 0; r < ranks; ++r) {
        places.push_back(r * count);
        const Ints block = block_for(r, rank, count);
        theirs.insert(theirs.end(), block.begin(), block.end());
    }
    MPI_Alltoall(parts.data(), count, MPI_INT, all.data(), count, MPI_INT, MPI_COMM_WORLD);
    EXPECT(all.ints() == theirs);
    const Guarded others(count * ranks, at_end);
    MPI_Alltoallv(parts.data(), counts.data(), places.data(), MPI_INT, others.data(), counts.data(),
                  places.data(), MPI_INT, MPI_COMM_WORLD);
    EXPECT(others.ints() == theirs);
    MPI_Allreduce(mine.data(), sums.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(is_sum(sums.ints(), ranks));
    MPI_Scan(mine.data(), sums.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(is_sum(sums.ints(), rank + 1));
    MPI_Exscan(mine.data(), before.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(rank == 0 ? before.ints() == filled(size(count)) : is_sum(before.ints(), rank));
    MPI_Reduce_scatter_block(parts.data(), sums.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(is_sum(sums.ints(), ranks, rank * count));
    MPI_Reduce_scatter(parts.data(), sums.data(), counts.data(), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(is_sum(sums.ints(), ranks, rank * count));
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    look_at(MPI_COMM_WORLD);
    for (const int count : {1, 2, 3, 5, 17, 100, 1023, 4099, 70001}) {
        for (const bool at_end : {false, true}) {
            check_rooted(0, count, at_end);
            check_rooted(ranks - 1, count, at_end);
            check_all(count, at_end);
        }
    }
    return finish();
}
