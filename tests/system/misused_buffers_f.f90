! SPDX-License-Identifier: BSD-3-Clause
! Changes a send buffer and a receive buffer while their operations are pending, or not with "right" on
! the command line; for run_buffers.py.
module shared_buffers
    implicit none
    integer, parameter :: n = 100
    integer :: out(n), in(n) ! any call may change them: the compiler knows
end module shared_buffers

program misused_buffers_f
    use mpi
    use shared_buffers
    implicit none
    integer :: rank, n_ranks, error, to, from, requests(2)
    character(len=16) :: word
    logical :: is_right

    call get_command_argument(1, word)
    is_right = word == 'right'
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, error)
    to = mod(rank + 1, n_ranks)
    from = mod(rank + n_ranks - 1, n_ranks)
    out = rank
    in = -1
    ! mark: receive
    call MPI_Irecv(in, n, MPI_INTEGER, from, 7, MPI_COMM_WORLD, requests(1), error)
    ! mark: send
    call MPI_Isend(out, n, MPI_INTEGER, to, 7, MPI_COMM_WORLD, requests(2), error)
    if (.not. is_right) then
        out(3) = 77
        in(2) = 77
    end if
    ! mark: end
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    if (is_right .and. any(in /= from)) call MPI_Abort(MPI_COMM_WORLD, 1, error)
    call MPI_Finalize(error)
end program misused_buffers_f
