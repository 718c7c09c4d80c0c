! SPDX-License-Identifier: BSD-3-Clause
! Bugs that programs have, in Fortran by the module mpi_f08; see planted_hangs.c.
module bugs_f08
    use mpi_f08
    implicit none
    integer :: rank, n_ranks
    type(MPI_Comm) :: comm
    type(MPI_Datatype) :: real8

contains

    ! Each rank stops by its own residual, not by that of all.
    subroutine local_convergence()
        real(8) :: residual, residuals(4)

        residual = 1 + rank
        do while (residual > 1.5)
            call MPI_Allgather(residual, 1, real8, residuals, 1, real8, comm) ! HANG local_convergence 1-3
            residual = residual / 2
        end do
        call MPI_Barrier(comm) ! HANG local_convergence 0
    end subroutine

    ! Two of a pair both send first.
    subroutine both_send_first()
        integer :: word, partner

        partner = ieor(rank, 1)
        call MPI_Ssend(rank, 1, MPI_INTEGER, partner, 5, comm) ! HANG both_send_first 0-3
        call MPI_Recv(word, 1, MPI_INTEGER, partner, 5, comm, MPI_STATUS_IGNORE)
    end subroutine

    ! The root of a gather is counted from 1.
    subroutine root_from_one()
        integer :: words(4), root

        root = merge(1, 0, rank < 2)
        call MPI_Gather(rank, 1, MPI_INTEGER, words, 1, MPI_INTEGER, root, comm) ! HANG root_from_one 1
        call MPI_Barrier(comm) ! HANG root_from_one 0,2-3
    end subroutine

end module

program planted_hangs_f08
    use bugs_f08
    implicit none
    character(len=40) :: bug

    call get_command_argument(1, bug)
    call MPI_Init()
    comm = MPI_COMM_WORLD
    real8 = MPI_DOUBLE_PRECISION
    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, n_ranks)
    select case (bug)
    case ("local_convergence")
        call local_convergence()
    case ("both_send_first")
        call both_send_first()
    case ("root_from_one")
        call root_from_one()
    end select
    call MPI_Finalize()
end program
