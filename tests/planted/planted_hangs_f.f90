! SPDX-License-Identifier: BSD-3-Clause
! Bugs that programs have, in Fortran by the module mpi; see planted_hangs.c.
module bugs
    use mpi
    implicit none
    integer, parameter :: comm = MPI_COMM_WORLD, real8 = MPI_DOUBLE_PRECISION
    integer :: rank, n_ranks, error, status(MPI_STATUS_SIZE)

contains

    ! Rank 0 receives of one more than there are.
    subroutine extra_receive()
        integer :: word, i, from

        from = MPI_ANY_SOURCE
        word = rank
        if (rank > 0) then
            call MPI_Send(word, 1, MPI_INTEGER, 0, 3, comm, error)
        else
            do i = 1, n_ranks
                call MPI_Recv(word, 1, MPI_INTEGER, from, 3, comm, status, error) ! HANG extra_receive 0
            end do
        end if
        call MPI_Barrier(comm, error) ! HANG extra_receive 1-3
    end subroutine

    ! One rank reduces where the others broadcast.
    subroutine broadcast_or_reduce()
        real(8) :: values(3000), sums(3000)

        values = rank
        if (rank == 0) then
            call MPI_Reduce(values, sums, 3000, real8, MPI_SUM, 0, comm, error) ! HANG broadcast_or_reduce 0
        else
            call MPI_Bcast(values, 3000, real8, 0, comm, error) ! HANG broadcast_or_reduce 1-3
        end if
    end subroutine

    ! The last rank has no window to fence, and waits for what comes after that.
    subroutine fence_left_out()
        integer :: window, memory(10), word
        integer(MPI_ADDRESS_KIND) :: n_bytes

        n_bytes = 40
        call MPI_Win_create(memory, n_bytes, 4, MPI_INFO_NULL, comm, window, error)
        if (rank < n_ranks - 1) then
            call MPI_Win_fence(0, window, error) ! HANG fence_left_out 0-2
            call MPI_Send(word, 1, MPI_INTEGER, n_ranks - 1, 3, comm, error)
        else
            call MPI_Recv(word, 1, MPI_INTEGER, 0, 3, comm, status, error) ! HANG fence_left_out 3
        end if
        call MPI_Win_free(window, error)
    end subroutine

end module

program planted_hangs_f
    use bugs
    implicit none
    character(len=40) :: bug

    call get_command_argument(1, bug)
    call MPI_Init(error)
    call MPI_Comm_rank(comm, rank, error)
    call MPI_Comm_size(comm, n_ranks, error)
    select case (bug)
    case ("extra_receive")
        call extra_receive()
    case ("broadcast_or_reduce")
        call broadcast_or_reduce()
    case ("fence_left_out")
        call fence_left_out()
    end select
    call MPI_Finalize(error)
end program
