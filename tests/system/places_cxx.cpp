// SPDX-License-Identifier: BSD-3-Clause
// All ranks receive, and nobody sends, in functions of C++; for run_places.py.
#include <mpi.h>

namespace halo
{

volatile int n_calls;

template <typename word>
__attribute__((noinline)) static void swap(word *into)
{
    MPI_Recv(into, sizeof(word), MPI_BYTE, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, // in swap
             MPI_STATUS_IGNORE);
    n_calls = n_calls + 1;
}

class grid
{
public:
    __attribute__((noinline)) void step()
    {
        swap(&word); // in step
        n_calls = n_calls + 1;
    }

private:
    long word;
};

} // namespace halo

int main(int argc, char **argv)
{
    halo::grid grid;

    MPI_Init(&argc, &argv);
    grid.step(); // in main
    MPI_Finalize();
    return halo::n_calls;
}
