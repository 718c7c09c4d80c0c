! SPDX-License-Identifier: BSD-3-Clause
! All ranks receive, and nobody sends, in a procedure of a module; for run_places.py.
module halo
    use mpi
    implicit none
    integer :: word, error, n_calls = 0

contains

    subroutine swap()
        integer :: status(MPI_STATUS_SIZE)

        call MPI_Recv(word, 1, MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, status, error) ! in swap
        n_calls = n_calls + 1
    end subroutine

    recursive subroutine step(n)
        integer, intent(in) :: n

        if (n > 0) then
            call step(n - 1)
        else
            call swap() ! in step
        end if
        n_calls = n_calls + 1
    end subroutine

end module

program places_fortran
    use halo
    implicit none

    call MPI_Init(error)
    call step(0) ! in the program
    print *, n_calls
    call MPI_Finalize(error)
end program
