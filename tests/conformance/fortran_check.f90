! SPDX-License-Identifier: BSD-3-Clause
!
! Included by the Fortran programs, which have a variable rank: end the job unless
! something is true. Same for all three interfaces of MPI.

    subroutine check(is_true, what)
        logical, intent(in) :: is_true
        character(*), intent(in) :: what
        integer :: code

        if (.not. is_true) then
            write (0, '(a,i0,2a)') 'rank ', rank, ': not true: ', what
            call MPI_ABORT(MPI_COMM_WORLD, 99, code)
        end if
    end subroutine check
