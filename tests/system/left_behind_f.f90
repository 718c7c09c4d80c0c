! SPDX-License-Identifier: BSD-3-Clause
! Leaves a request, a communicator and a datatype behind, or not with "right" on the command line;
! for run_lint.py.
program left_behind_f
    use mpi
    implicit none
    integer :: rank, n_ranks, error, request, comm, column, value, got
    character(len=16) :: word
    logical :: is_right

    call get_command_argument(1, word)
    is_right = word == 'right'
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, error)
    value = rank
    got = -1
    ! mark: receive
    call MPI_Irecv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, request, error)
    ! mark: communicator
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, error)
    ! mark: type
    call MPI_Type_vector(4, 1, 4, MPI_INTEGER, column, error)
    call MPI_Type_commit(column, error)
    if (is_right) then
        call MPI_Send(value, 1, MPI_INTEGER, mod(rank + 1, n_ranks), 7, MPI_COMM_WORLD, error)
        call MPI_Wait(request, MPI_STATUS_IGNORE, error)
        call MPI_Comm_free(comm, error)
        call MPI_Type_free(column, error)
    end if
    call MPI_Finalize(error)
end program left_behind_f
