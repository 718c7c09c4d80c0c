/* SPDX-License-Identifier: BSD-3-Clause */
/* Bugs that programs have, in C++; see planted_hangs.c. */
#include <mpi.h>

#include <string>
#include <vector>

namespace
{

int rank, size;

/** A grid of one dimension that wraps around. */
class Grid
{
  public:
    void exchange()
    {
        // The rank that sends to this one is not the one that it receives of.
        std::vector<int> halo(10);
        MPI_Request request;

        MPI_Isend(halo.data(), 10, MPI_INT, (rank + 2) % size, 0, MPI_COMM_WORLD,
                  &request);
        MPI_Recv(/* HANG off_by_one 0-3 */ halo.data(), 10, MPI_INT, (rank + 1) % size,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
};

/** The master hands out all tasks, and does not say that there are no more. */
template <typename Task> void farm(Task task)
{
    const int n_tasks = 9;

    if (rank == 0) {
        for (int i = 0; i < n_tasks; i++) {
            MPI_Send(&task, sizeof(task), MPI_BYTE, 1 + i % (size - 1), 1,
                     MPI_COMM_WORLD);
        }
        MPI_Reduce(/* HANG no_stop_message 0 */ MPI_IN_PLACE, &task, 1, MPI_INT,
                   MPI_SUM, 0, MPI_COMM_WORLD);
        return;
    }
    while (task >= 0) {
        MPI_Recv(/* HANG no_stop_message 1-3 */ &task, sizeof(task), MPI_BYTE, 0,
                 MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Reduce(&task, nullptr, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}

/** Rows exchange by the communicator of the row, and receive by that of all. */
void wrong_communicator()
{
    MPI_Comm row;
    int my_place, row_size, word = 0;

    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
    MPI_Comm_rank(row, &my_place);
    MPI_Comm_size(row, &row_size);
    MPI_Send(&word, 1, MPI_INT, (my_place + 1) % row_size, 4, row);
    MPI_Recv(/* HANG wrong_communicator 0-3 */ &word, 1, MPI_INT, rank ^ 1, 4,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_free(&row);
}

} // namespace

int main(int argc, char **argv)
{
    const std::string bug = argc > 1 ? argv[1] : "";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (bug == "off_by_one") {
        Grid().exchange();
    } else if (bug == "no_stop_message") {
        farm<int>(0);
    } else if (bug == "wrong_communicator") {
        wrong_communicator();
    }
    MPI_Finalize();
}
