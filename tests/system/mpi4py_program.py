# SPDX-License-Identifier: BSD-3-Clause
"""An MPI program in Python: objects, buffers, callbacks, threads. Run by run_mpi4py.py."""

import array
import sys
import threading

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, n_ranks = comm.Get_rank(), comm.Get_size()
left, right = (rank - 1) % n_ranks, (rank + 1) % n_ranks


def say(*words):
    if rank == 0:
        print(*words, flush=True)


def check(is_true, what):
    if not is_true:
        print(f"rank {rank}: not true: {what}", file=sys.stderr, flush=True)
        comm.Abort(99)


def numbers(n, seed):
    return array.array("d", (seed + i / 8 for i in range(n)))


def objects():
    got = comm.sendrecv({"rank": rank, "text": "x" * 100}, right, source=left)
    check(got["rank"] == left, "object")
    check(comm.allgather(rank) == list(range(n_ranks)), "allgather")
    check(comm.bcast([rank] * 1000, root=n_ranks - 1)[7] == n_ranks - 1, "bcast")
    check(sum(comm.alltoall([rank] * n_ranks)) == n_ranks * (n_ranks - 1) // 2, "alltoall")
    scattered = comm.scatter([f"to {i}" for i in range(n_ranks)] if rank == 0 else None)
    check(scattered == f"to {rank}", "scatter")
    request = comm.isend((rank, "later"), right, tag=5)
    status = MPI.Status()
    check(comm.recv(source=MPI.ANY_SOURCE, tag=5, status=status)[0] == left, "recv")
    check(status.Get_source() == left and status.Get_tag() == 5, "status")
    request.wait()
    say("objects", comm.allreduce(rank, op=MPI.SUM))


def buffers():
    for n in (0, 1, 500, 100000):
        out, into = numbers(n, rank), numbers(n, -1)
        requests = [comm.Irecv(into, left, 1), comm.Isend(out, right, 1)]
        MPI.Request.Waitall(requests)
        check(into == numbers(n, left), f"buffers of {n}")
        comm.Sendrecv_replace(out, right, 2, left, 2)
        check(out == into, f"replaced {n}")
    total = numbers(100, 0)
    comm.Allreduce(MPI.IN_PLACE, total, op=MPI.MAX)
    comm.Allreduce(numbers(100, rank), total, op=MPI.SUM)
    persistent = [comm.Recv_init(into, left, 3), comm.Send_init(out, right, 3)]
    for _ in range(3):
        MPI.Prequest.Startall(persistent)
        MPI.Request.Waitall(persistent)
    for request in persistent:
        request.Free()
    say("buffers", total[99])


def callbacks():
    def longer(one, other, _):
        result = memoryview(other).cast("i")
        for i, value in enumerate(memoryview(one).cast("i")):
            result[i] = max(value, result[i]) if i else value

    op = MPI.Op.Create(longer, commute=False)
    total = array.array("i", [0, 0])
    comm.Allreduce(array.array("i", [rank, 10 * rank]), total, op)
    op.Free()
    check(list(total) == [0, 10 * (n_ranks - 1)], "operation")
    deleted = []
    key = MPI.Comm.Create_keyval(delete_fn=lambda c, k, value: deleted.append(value))
    copy = comm.Dup()
    copy.Set_attr(key, "text")
    copy.Set_errhandler(MPI.ERRORS_RETURN)
    try:
        copy.Send(total, n_ranks)
    except MPI.Exception as error:
        say("raised", error.Get_error_string().split(":")[0])
    copy.Free()
    check(deleted == ["text"], "deleted")
    MPI.Comm.Free_keyval(key)


def threads():
    if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
        return
    got = {}

    def talk(number):
        got[number] = comm.sendrecv((rank, number), right, number, None, left, number)

    workers = [threading.Thread(target=talk, args=(10 + i,)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    check(got == {10 + i: (left, 10 + i) for i in range(4)}, "threads")


def what_may_be_missing():
    """MPI 4: as natively, either there or NotImplementedError."""
    try:
        session = MPI.Session.Init()
        session.Finalize()
    except (NotImplementedError, AttributeError):
        pass
    try:
        into = array.array("i", [-1])
        comm.Isendrecv(array.array("i", [rank]), right, 7, into, left, 7).Wait()
        check(into[0] == left, "isendrecv")
    except (NotImplementedError, AttributeError):
        pass


objects()
buffers()
callbacks()
threads()
what_may_be_missing()
say("passed")
