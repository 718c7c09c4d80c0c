! SPDX-License-Identifier: BSD-3-Clause
! Rank 0 waits for ever for rank 1, which does nothing; for run_top_calls.py.
program waiting_fortran
    use mpi
    use iso_c_binding, only: c_int
    implicit none
    interface
        integer(c_int) function pause_for_ever() bind(c, name='pause')
            import c_int
        end function
    end interface
    integer :: rank, word, error, status(MPI_STATUS_SIZE)

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    word = rank
    if (rank == 0) then
        call wait_for_word()
    end if
    do while (pause_for_ever() /= 0)
    end do
    call MPI_Finalize(error)

contains

    subroutine wait_for_word()
        call MPI_Recv(word, 1, MPI_INTEGER, 1, 9, MPI_COMM_WORLD, status, error) ! for a word
    end subroutine

end program
