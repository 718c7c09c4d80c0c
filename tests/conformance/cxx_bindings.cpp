/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The C++ bindings that MPI has given up and that Open MPI 4 still has: classes of
 * communicators and requests, and their callbacks. (Whether it throws exceptions is a
 * choice of whoever has built it.)
 */
#include <mpi.h>

#include <iostream>

namespace
{

int rank, n_ranks;

void check(bool is_true, const char *what)
{
    if (!is_true) {
        std::cerr << "rank " << rank << ": not true: " << what << std::endl;
        MPI::COMM_WORLD.Abort(99);
    }
}

void say(const char *what, int number)
{
    if (rank == 0) {
        std::cout << what << " " << number << std::endl;
    }
}

void messages()
{
    int left = (rank + n_ranks - 1) % n_ranks, right = (rank + 1) % n_ranks;
    int out[10], in[10] = {0};
    MPI::Status status;
    MPI::Request requests[2];

    for (int i = 0; i < 10; i++) {
        out[i] = 100 * rank + i;
    }
    requests[0] = MPI::COMM_WORLD.Irecv(in, 10, MPI::INT, left, 1);
    requests[1] = MPI::COMM_WORLD.Isend(out, 10, MPI::INT, right, 1);
    MPI::Request::Waitall(2, requests);
    check(in[9] == 100 * left + 9, "isend");
    requests[0] = MPI::COMM_WORLD.Isend(out, 5, MPI::INT, right, 2);
    MPI::COMM_WORLD.Probe(MPI::ANY_SOURCE, 2, status);
    check(status.Get_count(MPI::INT) == 5 && status.Get_source() == left, "probe");
    MPI::COMM_WORLD.Recv(in, 5, MPI::INT, left, 2, status);
    requests[0].Wait();
    MPI::COMM_WORLD.Sendrecv_replace(in, 5, MPI::INT, left, 3, right, 3);
    check(in[4] == out[4], "back");
    MPI::Prequest send = MPI::COMM_WORLD.Send_init(out, 1, MPI::INT, right, 4);
    MPI::Prequest receive = MPI::COMM_WORLD.Recv_init(in, 1, MPI::INT, left, 4);
    for (int i = 0; i < 3; i++) {
        out[0] = rank + i;
        receive.Start();
        send.Start();
        send.Wait();
        while (!receive.Test()) {
        }
        check(in[0] == left + i, "persistent");
    }
    send.Free();
    receive.Free();
    say("messages", in[0]);
}

void add(const void *in, void *inout, int n, const MPI::Datatype &)
{
    for (int i = 0; i < n; i++) {
        static_cast<int *>(inout)[i] += static_cast<const int *>(in)[i];
    }
}

void collectives()
{
    MPI::Op op;
    int sum = 0;
    MPI::Intracomm half = MPI::COMM_WORLD.Split(rank % 2, rank);
    MPI::Intracomm copy = half.Dup();

    op.Init(add, true);
    MPI::COMM_WORLD.Allreduce(&rank, &sum, 1, MPI::INT, op);
    check(sum == n_ranks * (n_ranks - 1) / 2, "operation");
    op.Free();
    copy.Allreduce(&rank, &sum, 1, MPI::INT, MPI::MAX);
    check(sum % 2 == rank % 2, "half");
    copy.Bcast(&sum, 1, MPI::INT, 0);
    copy.Free();
    half.Free();
    MPI::COMM_WORLD.Barrier();
    say("collectives", sum);
}

int n_deleted, n_caught;

void on_error(MPI::Comm &, int *code, ...)
{
    check(MPI::Get_error_class(*code) == MPI::ERR_RANK, "class");
    n_caught++;
}

int delete_value(MPI::Comm &, int, void *, void *)
{
    n_deleted++;
    return MPI::SUCCESS;
}

void attributes_and_errors()
{
    int key = MPI::Comm::Create_keyval(MPI::Comm::DUP_FN, delete_value, nullptr);
    int value = 5;
    MPI::Errhandler handler = MPI::Comm::Create_errhandler(on_error);
    MPI::Intracomm copy;

    MPI::COMM_WORLD.Set_attr(key, &value);
    copy = MPI::COMM_WORLD.Dup();
    copy.Set_errhandler(handler);
    copy.Send(&value, 1, MPI::INT, n_ranks + 1, 1);
    handler.Free();
    copy.Free();
    MPI::COMM_WORLD.Delete_attr(key);
    check(n_deleted == 2 && n_caught == 1, "deleted and caught");
    say("attributes and errors", n_caught);
}

} // namespace

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    rank = MPI::COMM_WORLD.Get_rank();
    n_ranks = MPI::COMM_WORLD.Get_size();
    messages();
    collectives();
    attributes_and_errors();
    say("passed, ranks", n_ranks);
    MPI::Finalize();
    return 0;
}
