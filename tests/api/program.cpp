/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The BCS API as a C++17 program uses it: requests in containers, in classes and cleared,
 * tests of all of them, probes, groups, reductions with a function of its own. Runs as every
 * rank of a job of any size; prints one line a rank.
 */
#include <bcs/bcs.h>
#include <bcs/version.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <type_traits>
#include <vector>

static_assert(std::is_standard_layout_v<bcs_request> && std::is_trivial_v<bcs_request>);

namespace
{

int n_wrong = 0;

void expect(bool is_right, const char *what)
{
    if (!is_right) {
        std::printf("wrong: %s\n", what);
        n_wrong++;
    }
}

#define EXPECT(condition) expect(condition, #condition)

struct finalize {
    void operator()(bcs_context *context) const
    {
        EXPECT(bcs_finalize(context) == 0);
    }
};

using context_ptr = std::unique_ptr<bcs_context, finalize>;

class team
{
  public:
    team(bcs_context *context, bcs_group *group)
        : context_(context), group_(group), rank_(bcs_group_rank(group)),
          size_(bcs_group_size(group))
    {
    }

    template <typename T> bcs_message message(int peer, int tag, T &data) const
    {
        bcs_message made{};

        made.group = group_;
        made.data = &data;
        made.n_bytes = sizeof data;
        made.peer = peer;
        made.tag = tag;
        return made;
    }

    /* Everybody to everybody, all at once; the first half of the list stands for nothing. */
    void exchange() const
    {
        std::vector<bcs_request> requests(4 * static_cast<std::size_t>(size_));
        std::vector<double> in(static_cast<std::size_t>(size_), -1);
        double out = rank_;
        bcs_request none = BCS_REQUEST_DONE;
        std::size_t n = 2 * static_cast<std::size_t>(size_);

        requests[0] = none;
        EXPECT(bcs_testall(context_, requests.data(), n, false) == 0);
        for (int peer = 0; peer < size_; peer++) {
            bcs_message message = this->message(peer, 3, in[std::size_t(peer)]);

            EXPECT(bcs_recv(context_, &message, nullptr, &requests[n++]) == 0);
        }
        for (int peer = 0; peer < size_; peer++) {
            bcs_message message = this->message(peer, 3, out);

            EXPECT(bcs_send(context_, &message, BCS_SEND_STANDARD, &requests[n++]) ==
                   0);
        }
        while (bcs_testall(context_, requests.data(), n, false) == BCS_E_PENDING) {
        }
        for (int peer = 0; peer < size_; peer++) {
            const bcs_result &result = requests[std::size_t(2 * size_ + peer)].result;

            EXPECT(in[std::size_t(peer)] == peer);
            EXPECT(result.source == peer && result.tag == 3 && result.error == 0 &&
                   result.n_bytes == sizeof out);
        }
    }

    /* A ring: what comes is found first, then received; too long for its buffer. */
    void probe() const
    {
        char text[] = "from the left", part[5] = {};
        bcs_message out = message((rank_ + 1) % size_, 4, text);
        bcs_message in = message(BCS_ANY_SOURCE, BCS_ANY_TAG, part);
        bcs_request request = BCS_REQUEST_DONE;
        bcs_result found{};

        EXPECT(bcs_send(context_, &out, BCS_SEND_BUFFERED, &request) == 0);
        EXPECT(bcs_probe(context_, &in, true, &found) == 0);
        EXPECT(found.source == (rank_ + size_ - 1) % size_ && found.tag == 4 &&
               found.n_bytes == sizeof text);
        EXPECT(bcs_recv(context_, &in, &found, nullptr) == BCS_E_TRUNCATED);
        EXPECT(found.error == BCS_E_TRUNCATED && found.n_bytes == sizeof part);
        EXPECT(std::memcmp(part, text, sizeof part) == 0);
        EXPECT(bcs_test(context_, &request, true) == 0);
        EXPECT(bcs_probe(context_, &in, false, &found) == BCS_E_PENDING);
        EXPECT(bcs_barrier(context_, group_, nullptr) == 0);
    }

    /* By the program's own function, while the request of another collective is open. */
    void reduce() const
    {
        long mine = rank_ + 1, sum = 0;
        bcs_reduction reduction{};
        bcs_request request = BCS_REQUEST_DONE;

        reduction.in = &mine;
        reduction.out = &sum;
        reduction.count = 1;
        reduction.element_bytes = sizeof mine;
        reduction.combine = [](void *, const void *left, void *right, size_t count) {
            for (size_t i = 0; i < count; i++) {
                static_cast<long *>(right)[i] += static_cast<const long *>(left)[i];
            }
        };
        EXPECT(bcs_barrier(context_, group_, &request) == 0);
        EXPECT(bcs_reduce(context_, group_, &reduction, BCS_ROOT_ALL, nullptr) == 0);
        EXPECT(sum == static_cast<long>(size_) * (size_ + 1) / 2);
        EXPECT(bcs_testall(context_, &request, 1, true) == 0);
    }

    void run() const
    {
        exchange();
        probe();
        reduce();
    }

  private:
    bcs_context *context_;
    bcs_group *group_;
    int rank_, size_;
};

/* The ranks backwards, and the odd ones. */
void run_groups(bcs_context *context)
{
    std::vector<int32_t> ranks(std::size_t(bcs_group_size(bcs_world(context))));
    std::vector<int32_t> odd;
    bcs_group *group = nullptr;

    std::iota(ranks.rbegin(), ranks.rend(), 0);
    for (int32_t rank : ranks) {
        if (rank % 2 == 1) {
            odd.push_back(rank);
        }
    }
    EXPECT(bcs_group_create(context, ranks.data(), int32_t(ranks.size()), &group) == 0);
    team(context, group).run();
    if (!odd.empty()) {
        EXPECT(bcs_group_create(context, odd.data(), int32_t(odd.size()), &group) == 0);
        if (group != nullptr) {
            team(context, group).run();
        }
    }
}

} // namespace

int main()
{
    bcs_context *context = nullptr;

    EXPECT(std::strcmp(bcs_version(), BCS_VERSION) == 0);
    if (bcs_init(&context) != 0) {
        return 2;
    }
    context_ptr owner(context);
    team(context, bcs_world(context)).run();
    run_groups(context);
    std::printf("C++ rank %d of %d: %d wrong\n", bcs_group_rank(bcs_world(context)),
                bcs_group_size(bcs_world(context)), n_wrong);
    owner.reset();
    return n_wrong > 0;
}
