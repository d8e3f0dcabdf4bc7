// SPDX-License-Identifier: BSD-3-Clause
// One element of more than 2 GiB, with gaps, which MPI_Pack cannot take. Two ranks, 7 GB of memory;
// where there is less nothing is tried.
#include <fstream>
#include <string>

#include "check.hpp"

using namespace trefoil::mpi::test;

namespace {

constexpr int blocks = 2100, ints = (1 << 20) / sizeof(int);
constexpr std::size_t step = ints + 4;  // from one block to the next, in ints

double free_gigabytes() {
    std::ifstream file("/proc/meminfo");
    std::string name, unit;
    double kilobytes = 0;
    while (file >> name >> kilobytes && name != "MemAvailable:") {
        std::getline(file, unit);
    }
    return kilobytes / 1e6;
}

/// The root sends one block again and again.
MPI_Datatype element(MPI_Aint stride) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_hvector(blocks, ints, stride, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

void check_element() {
    MPI_Datatype type = element(rank == 0 ? 0 : static_cast<MPI_Aint>(step * sizeof(int)));
    std::vector<int> data = rank == 0 ? inputs(0, ints) : std::vector<int>(blocks * step, -1);
    EXPECT(MPI_Bcast(data.data(), 1, type, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    bool good = true;
    for (std::size_t block = 0; block < blocks && rank != 0; ++block) {
        const int* const begin = data.data() + block * step;
        for (int i = 0; i < ints; i += 1023) {
            good = good && begin[i] == input(0, i);
        }
        good = good && begin[ints] == -1;
    }
    EXPECT(good);
    MPI_Type_free(&type);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    look_at(MPI_COMM_WORLD);
    int enough = free_gigabytes() > 9 ? 1 : 0;
    MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (enough != 0) {
        check_element();
    } else if (rank == 0) {
        std::puts("not tried: there is too little free memory");
    }
    return finish();
}
