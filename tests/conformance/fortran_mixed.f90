! SPDX-License-Identifier: BSD-3-Clause
!
! Handles and statuses that pass between Fortran and C (fortran_mixed_c.c) while an
! operation is pending: what one language starts the other completes.
module buffers_mixed
    ! What messages are received into while a request is pending: any call may change a
    ! variable of a module.
    implicit none
    integer :: out(8), in(8)
end module buffers_mixed

program fortran_mixed
    use mpi
    use buffers_mixed
    use, intrinsic :: iso_c_binding
    implicit none

    interface
        ! Wait for n requests of Fortran's; Fortran statuses come back.
        subroutine c_waitall(n, requests, statuses, status_size) bind(c)
            import :: c_int
            integer(c_int), value :: n, status_size
            integer(c_int) :: requests(*), statuses(*)
        end subroutine c_waitall
        ! Start a receive and a send in C; Fortran requests come back.
        subroutine c_start(comm, from, to, in, out, requests) bind(c)
            import :: c_int
            integer(c_int), value :: comm, from, to
            integer(c_int) :: in, out, requests(2)
        end subroutine c_start
        ! Receive a message that Fortran has probed.
        subroutine c_mrecv(message, in, status) bind(c)
            import :: c_int
            integer(c_int) :: message, in, status(*)
        end subroutine c_mrecv
        ! Whether a Fortran status has this source, tag and count of integers, seen by C.
        integer(c_int) function c_is_status(status, source, tag, n) bind(c)
            import :: c_int
            integer(c_int) :: status(*)
            integer(c_int), value :: source, tag, n
        end function c_is_status
        ! A C operation, C's handle as Fortran's.
        integer(c_int) function c_operation() bind(c)
            import :: c_int
        end function c_operation
        ! An allreduce in C of an operation, a type and a communicator of Fortran's.
        integer(c_int) function c_allreduce(value, op, type, comm) bind(c)
            import :: c_int
            integer(c_int), value :: value, op, type, comm
        end function c_allreduce
        ! Starts and frees a persistent request of Fortran's.
        subroutine c_start_persistent(request) bind(c)
            import :: c_int
            integer(c_int) :: request
        end subroutine c_start_persistent
    end interface

    integer :: rank, n_ranks, left, right, ierr

    call MPI_INIT(ierr)
    call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
    call MPI_COMM_SIZE(MPI_COMM_WORLD, n_ranks, ierr)
    left = mod(rank + n_ranks - 1, n_ranks)
    right = mod(rank + 1, n_ranks)
    call fortran_starts
    call c_starts
    call persistent
    call messages
    call operations
    if (rank == 0) print '(a)', 'passed'
    call MPI_FINALIZE(ierr)

contains

    include 'fortran_check.f90'

    subroutine fortran_starts
        integer :: requests(8), statuses(MPI_STATUS_SIZE, 8), i

        out = [(100 * rank + i, i=1, 8)]
        do i = 1, 4
            call MPI_IRECV(in(i), 1, MPI_INTEGER, left, i, MPI_COMM_WORLD, requests(i), ierr)
            call MPI_ISSEND(out(i), 1, MPI_INTEGER, right, i, MPI_COMM_WORLD, &
                            requests(4 + i), ierr)
        end do
        call c_waitall(8, requests, statuses, MPI_STATUS_SIZE)
        call check(all(requests == MPI_REQUEST_NULL), 'C has completed all')
        call check(all(in(1:4) == [(100 * left + i, i=1, 4)]), 'data')
        do i = 1, 4
            call check(statuses(MPI_SOURCE, i) == left, 'source')
            call check(c_is_status(statuses(:, i), left, i, 1) == 1, 'status in C')
        end do
        if (rank == 0) print '(a)', 'Fortran starts'
    end subroutine fortran_starts

    subroutine c_starts
        integer :: requests(2), status(MPI_STATUS_SIZE), i, n
        logical :: is_done

        out(1) = rank
        do i = 1, 3
            call c_start(MPI_COMM_WORLD, left, right, in(1), out(1), requests)
            call check(all(requests /= MPI_REQUEST_NULL), 'requests of C')
            select case (i)
            case (1)
                call MPI_WAIT(requests(1), status, ierr)
                call MPI_WAIT(requests(2), MPI_STATUS_IGNORE, ierr)
            case (2)
                call MPI_WAITALL(2, requests, MPI_STATUSES_IGNORE, ierr)
            case default
                is_done = .false.
                do while (.not. is_done)
                    call MPI_TEST(requests(1), is_done, status, ierr)
                end do
                call MPI_WAITANY(2, requests, n, MPI_STATUS_IGNORE, ierr)
                call check(n == 2, 'the other one')
            end select
            call check(all(requests == MPI_REQUEST_NULL), 'all null')
            call check(in(1) == left, 'data of C')
        end do
        call MPI_GET_COUNT(status, MPI_INTEGER, n, ierr)
        call check(n == 1, 'count of C')
        if (rank == 0) print '(a)', 'C starts'
    end subroutine c_starts

    subroutine persistent
        integer :: request, status(MPI_STATUS_SIZE), i

        call MPI_RECV_INIT(in(1), 8, MPI_INTEGER, left, 5, MPI_COMM_WORLD, request, ierr)
        do i = 1, 3
            call c_start_persistent(request)
            out(1:i) = rank + i
            call MPI_SEND(out, i, MPI_INTEGER, right, 5, MPI_COMM_WORLD, ierr)
            call MPI_WAIT(request, status, ierr)
            call check(request /= MPI_REQUEST_NULL, 'stays')
            call check(c_is_status(status, left, 5, i) == 1, 'status of a persistent one')
            call check(in(i) == left + i, 'persistent data')
        end do
        call MPI_REQUEST_FREE(request, ierr)
        if (rank == 0) print '(a)', 'persistent'
    end subroutine persistent

    subroutine messages
        integer :: request, message, status(MPI_STATUS_SIZE), code

        out(1) = 7 * rank
        call MPI_ISEND(out, 1, MPI_INTEGER, right, 6, MPI_COMM_WORLD, request, ierr)
        call MPI_MPROBE(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, message, status, ierr)
        call check(c_is_status(status, left, 6, 1) == 1, 'status of a probe')
        call c_mrecv(message, in(1), status)
        call check(message == MPI_MESSAGE_NULL .and. in(1) == 7 * left, 'message')
        call MPI_WAIT(request, MPI_STATUS_IGNORE, ierr)
        call MPI_MPROBE(MPI_PROC_NULL, 6, MPI_COMM_WORLD, message, status, ierr)
        call check(message == MPI_MESSAGE_NO_PROC, 'no process')
        call c_mrecv(message, in(1), status)
        call MPI_STATUS_SET_ELEMENTS(status, MPI_INTEGER, 3, code)
        call MPI_STATUS_SET_CANCELLED(status, .false., code)
        status(MPI_SOURCE) = 1
        status(MPI_TAG) = 2
        call check(c_is_status(status, 1, 2, 3) == 1, 'status made in Fortran')
        if (rank == 0) print '(a)', 'messages'
    end subroutine messages

    subroutine operations
        integer :: op, type, comm, sum, copy

        op = c_operation()
        call MPI_COMM_DUP(MPI_COMM_WORLD, comm, ierr)
        call MPI_TYPE_DUP(MPI_INTEGER, type, ierr)
        call MPI_ALLREDUCE(rank, sum, 1, MPI_INTEGER, op, comm, ierr)
        copy = c_allreduce(rank, op, type, comm)
        call check(copy == sum, 'the same in both languages')
        call MPI_OP_FREE(op, ierr)
        call MPI_TYPE_FREE(type, ierr)
        call MPI_COMM_FREE(comm, ierr)
        if (rank == 0) print '(a,i0)', 'operations ', sum
    end subroutine operations
end program fortran_mixed
