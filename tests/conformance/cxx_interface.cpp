/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The C interface from C++: types of objects, exceptions that are thrown by an error
 * handler's caller, operations and attributes of functions with C linkage, threads,
 * requests in containers.
 */
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <complex>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace
{

int rank, n_ranks;

void check(bool is_true, const char *what)
{
    if (!is_true) {
        std::fprintf(stderr, "rank %d: not true: %s\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 99);
    }
}

void say(const std::string &text)
{
    if (rank == 0) {
        std::printf("%s\n", text.c_str());
        std::fflush(stdout);
    }
}

/** A communicator that frees itself. */
class communicator
{
  public:
    explicit communicator(MPI_Comm parent)
    {
        MPI_Comm_dup(parent, &comm);
    }
    ~communicator()
    {
        MPI_Comm_free(&comm);
    }
    communicator(const communicator &) = delete;
    communicator &operator=(const communicator &) = delete;
    MPI_Comm get() const
    {
        return comm;
    }

  private:
    MPI_Comm comm = MPI_COMM_NULL;
};

void throw_if_bad(int code)
{
    if (code != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int n = 0, error_class = 0;

        MPI_Error_class(code, &error_class);
        MPI_Error_string(error_class, text, &n);
        throw std::runtime_error(std::string(text, static_cast<std::size_t>(n)));
    }
}

void errors_are_exceptions()
{
    communicator world(MPI_COMM_WORLD);
    std::string seen;

    MPI_Comm_set_errhandler(world.get(), MPI_ERRORS_RETURN);
    try {
        throw_if_bad(MPI_Send(&rank, 1, MPI_INT, n_ranks, 0, world.get()));
    } catch (const std::runtime_error &error) {
        seen = error.what();
    }
    check(!seen.empty(), "thrown");
    say("caught " + seen);
}

struct particle {
    double position[3];
    int charge;
    char kind;
};

void objects_travel()
{
    std::vector<particle> out(1000), in(1000);
    int lengths[] = {3, 1, 1};
    MPI_Aint places[] = {offsetof(particle, position), offsetof(particle, charge),
                         offsetof(particle, kind)};
    MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_CHAR};
    MPI_Datatype packed, type;

    for (std::size_t i = 0; i < out.size(); i++) {
        out[i] = {{rank + 0.5, double(i), -double(i)}, rank, char('a' + i % 26)};
    }
    MPI_Type_create_struct(3, lengths, places, types, &packed);
    MPI_Type_create_resized(packed, 0, sizeof(particle), &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(out.data(), int(out.size()), type, (rank + 1) % n_ranks, 1, in.data(),
                 int(in.size()), type, (rank + n_ranks - 1) % n_ranks, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(in[999].charge == (rank + n_ranks - 1) % n_ranks, "charge");
    check(in[999].kind == out[999].kind && in[7].position[2] == -7, "the rest");
    MPI_Type_free(&type);
    MPI_Type_free(&packed);
    say("objects travel");
}

void requests_live_in_containers()
{
    std::vector<MPI_Request> requests;
    std::vector<std::unique_ptr<int>> in;

    for (int i = 0; i < n_ranks; i++) {
        in.push_back(std::make_unique<int>(-1));
        requests.emplace_back();
        MPI_Irecv(in.back().get(), 1, MPI_INT, i, 2, MPI_COMM_WORLD, &requests.back());
    }
    for (int i = 0; i < n_ranks; i++) {
        requests.emplace_back();
        MPI_Isend(&rank, 1, MPI_INT, i, 2, MPI_COMM_WORLD, &requests.back());
    }
    MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (int i = 0; i < n_ranks; i++) {
        check(*in[std::size_t(i)] == i, "of each");
    }
    say("requests live in containers");
}

extern "C" void multiply(void *in, void *inout, int *n, MPI_Datatype *)
{
    auto left = static_cast<const std::complex<double> *>(in);
    auto right = static_cast<std::complex<double> *>(inout);

    for (int i = 0; i < *n; i++) {
        right[i] = left[i] * right[i];
    }
}

void reductions()
{
    std::vector<std::complex<double>> turns(4), product(4);
    std::vector<long> sums(3, rank), all(3);
    bool is_any = rank == n_ranks - 1, found = false;
    MPI_Op op;

    for (std::size_t i = 0; i < turns.size(); i++) {
        turns[i] = {0, i % 2 ? 1.0 : -1.0};
    }
    MPI_Op_create(multiply, 1, &op);
    MPI_Allreduce(turns.data(), product.data(), 4, MPI_CXX_DOUBLE_COMPLEX, op,
                  MPI_COMM_WORLD);
    MPI_Op_free(&op);
    check(std::abs(product[0]) == 1, "length");
    MPI_Allreduce(turns.data(), product.data(), 4, MPI_CXX_DOUBLE_COMPLEX, MPI_PROD,
                  MPI_COMM_WORLD);
    check(std::abs(product[1]) == 1, "length of the predefined one");
    MPI_Allreduce(&is_any, &found, 1, MPI_CXX_BOOL, MPI_LOR, MPI_COMM_WORLD);
    check(found, "bool");
    MPI_Allreduce(sums.data(), all.data(), 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    say("sum " + std::to_string(std::accumulate(all.begin(), all.end(), 0L)));
}

void threads_talk()
{
    std::vector<std::thread> threads;
    std::vector<int> in(4, -1);

    for (int i = 0; i < 4; i++) {
        threads.emplace_back([i, &in] {
            int out = 10 * rank + i;

            MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % n_ranks, 10 + i,
                         &in[std::size_t(i)], 1, MPI_INT,
                         (rank + n_ranks - 1) % n_ranks, 10 + i, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        });
    }
    for (auto &thread : threads) {
        thread.join();
    }
    check(in[3] == 10 * ((rank + n_ranks - 1) % n_ranks) + 3, "of a thread");
    say("threads talk");
}

} // namespace

int main(int argc, char **argv)
{
    int provided = -1;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    errors_are_exceptions();
    objects_travel();
    requests_live_in_containers();
    reductions();
    if (provided == MPI_THREAD_MULTIPLE) {
        threads_talk();
    }
    say("passed");
    MPI_Finalize();
    return 0;
}
