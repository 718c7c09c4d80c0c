! SPDX-License-Identifier: BSD-3-Clause
!
! Point-to-point calls through mpif.h: all ways to wait and to test, constants that are
! addresses, character data, freed, cancelled and persistent requests.
module buffers
    ! What messages are received into while a request is pending. Here, and not in the
    ! subroutines, since any call may change a variable of a module: the compiler knows.
    implicit none
    integer, parameter :: n_messages = 10
    integer :: out(n_messages), in(n_messages), out_one, in_one
    real(8) :: out_real(1000), in_real(1000)
end module buffers

program fortran_mpif
    use buffers
    implicit none
    include 'mpif.h'
    integer :: rank, n_ranks, left, right, ierr

    call MPI_INIT(ierr)
    call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
    call MPI_COMM_SIZE(MPI_COMM_WORLD, n_ranks, ierr)
    left = mod(rank + n_ranks - 1, n_ranks)
    right = mod(rank + 1, n_ranks)
    call blocking
    call wait_one_and_all
    call wait_any_and_some
    call test_all_ways
    call characters
    call addresses
    call persistent
    call free_and_cancel
    call probes
    if (rank == 0) print '(a)', 'passed'
    call MPI_FINALIZE(ierr)

contains

    include 'fortran_check.f90'

    subroutine blocking
        integer :: status(MPI_STATUS_SIZE), request, n

        out_real = rank + [(n / 8d0, n=1, 1000)]
        call MPI_IRECV(in_real, 1000, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, request, ierr)
        call MPI_SEND(out_real, 1000, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, ierr)
        call MPI_WAIT(request, status, ierr)
        call check(request == MPI_REQUEST_NULL, 'request is null after wait')
        call check(status(MPI_SOURCE) == left .and. status(MPI_TAG) == 1, 'status')
        call MPI_GET_COUNT(status, MPI_DOUBLE_PRECISION, n, ierr)
        call check(n == 1000, 'count')
        call check(all(in_real == out_real - rank + left), 'data of send')
        call MPI_SENDRECV(out_real, 500, MPI_DOUBLE_PRECISION, right, 2, in_real, 1000, &
                          MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, &
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        call check(in_real(500) == out_real(500) - rank + left, 'data of sendrecv')
        call MPI_BARRIER(MPI_COMM_WORLD, ierr)
        call MPI_SENDRECV_REPLACE(in_real, 1000, MPI_DOUBLE_PRECISION, left, 3, right, 3, &
                                  MPI_COMM_WORLD, status, ierr)
        call check(in_real(500) == out_real(500), 'data of sendrecv_replace')
        call MPI_RECV(in_real, 5, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, status, ierr)
        call check(status(MPI_SOURCE) == MPI_PROC_NULL, 'proc null')
        if (rank == 0) print '(a,f0.3)', 'blocking ', sum(in_real)
    end subroutine blocking

    subroutine start(requests)
        integer, intent(out) :: requests(2 * n_messages)
        integer :: i

        in = -1
        do i = 1, n_messages
            out(i) = 100 * rank + i
            call MPI_IRECV(in(i), 1, MPI_INTEGER, left, i, MPI_COMM_WORLD, requests(i), ierr)
        end do
        do i = 1, n_messages
            call MPI_ISEND(out(i), 1, MPI_INTEGER, right, i, MPI_COMM_WORLD, &
                           requests(n_messages + i), ierr)
        end do
    end subroutine start

    subroutine finish(requests, name)
        integer, intent(in) :: requests(2 * n_messages)
        character(*), intent(in) :: name
        integer :: i

        call check(all(requests == MPI_REQUEST_NULL), name//': requests are null')
        call check(all(in == [(100 * left + i, i=1, n_messages)]), name//': data')
        if (rank == 0) print '(a)', name
    end subroutine finish

    subroutine wait_one_and_all
        integer :: requests(2 * n_messages), i
        integer :: statuses(MPI_STATUS_SIZE, 2 * n_messages)

        call start(requests)
        do i = 2 * n_messages, 1, -1
            call MPI_WAIT(requests(i), MPI_STATUS_IGNORE, ierr)
        end do
        call finish(requests, 'wait')
        call start(requests)
        call MPI_WAITALL(2 * n_messages, requests, statuses, ierr)
        call check(all(statuses(MPI_TAG, 1:n_messages) == [(i, i=1, n_messages)]), 'tags')
        call finish(requests, 'waitall')
        call start(requests)
        call MPI_WAITALL(2 * n_messages, requests, MPI_STATUSES_IGNORE, ierr)
        call finish(requests, 'waitall, statuses ignored')
    end subroutine wait_one_and_all

    subroutine wait_any_and_some
        integer :: requests(2 * n_messages), status(MPI_STATUS_SIZE)
        integer :: statuses(MPI_STATUS_SIZE, 2 * n_messages), indices(2 * n_messages)
        integer :: i, index, n_done, total

        call start(requests)
        do i = 1, 2 * n_messages
            call MPI_WAITANY(2 * n_messages, requests, index, status, ierr)
            call check(index >= 1 .and. index <= 2 * n_messages, 'index from 1')
            if (index <= n_messages) call check(status(MPI_TAG) == index, 'tag is index')
        end do
        call MPI_WAITANY(2 * n_messages, requests, index, status, ierr)
        call check(index == MPI_UNDEFINED, 'waitany of nulls')
        call finish(requests, 'waitany')
        call start(requests)
        total = 0
        do while (total < 2 * n_messages)
            call MPI_WAITSOME(2 * n_messages, requests, n_done, indices, statuses, ierr)
            do i = 1, n_done
                if (indices(i) <= n_messages) then
                    call check(statuses(MPI_TAG, i) == indices(i), 'tag of some')
                end if
            end do
            total = total + n_done
        end do
        call finish(requests, 'waitsome')
    end subroutine wait_any_and_some

    subroutine test_all_ways
        integer :: requests(2 * n_messages), status(MPI_STATUS_SIZE)
        integer :: statuses(MPI_STATUS_SIZE, 2 * n_messages), indices(2 * n_messages)
        integer :: i, index, n_done, total
        logical :: is_done

        call start(requests)
        do i = 1, 2 * n_messages
            is_done = .false.
            do while (.not. is_done)
                call MPI_TEST(requests(i), is_done, status, ierr)
            end do
        end do
        call finish(requests, 'test')
        call start(requests)
        is_done = .false.
        do while (.not. is_done)
            call MPI_TESTALL(2 * n_messages, requests, is_done, MPI_STATUSES_IGNORE, ierr)
        end do
        call finish(requests, 'testall')
        call start(requests)
        total = 0
        do while (total < 2 * n_messages)
            call MPI_TESTANY(2 * n_messages, requests, index, is_done, status, ierr)
            if (is_done) total = total + 1
        end do
        call finish(requests, 'testany')
        call start(requests)
        total = 0
        do while (total < 2 * n_messages)
            call MPI_TESTSOME(2 * n_messages, requests, n_done, indices, statuses, ierr)
            total = total + n_done
        end do
        call MPI_TESTSOME(2 * n_messages, requests, n_done, indices, MPI_STATUSES_IGNORE, ierr)
        call check(n_done == MPI_UNDEFINED, 'testsome of nulls')
        call finish(requests, 'testsome')
    end subroutine test_all_ways

    subroutine characters
        character(20) :: sent, taken
        character(3) :: letters(4)

        write (sent, '(a,i0)') 'text of rank ', rank
        call MPI_SENDRECV(sent, 20, MPI_CHARACTER, right, 4, taken, 20, MPI_CHARACTER, left, 4, &
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        write (sent, '(a,i0)') 'text of rank ', left
        call check(taken == sent, 'text')
        letters = 'no'
        if (rank == n_ranks - 1) letters = ['abc', 'def', 'ghi', 'jkl']
        call MPI_BCAST(letters, 12, MPI_CHARACTER, n_ranks - 1, MPI_COMM_WORLD, ierr)
        if (rank == 0) print '(8a)', 'characters ', trim(taken), ' ', letters
    end subroutine characters

    subroutine addresses
        integer, asynchronous :: number
        real(8), asynchronous :: values(3)
        integer :: lengths(2), types(2), type
        integer(MPI_ADDRESS_KIND) :: places(2)

        number = -1
        values = -1
        if (rank == 0) number = 17
        if (rank == 0) values = [1.5d0, 2.5d0, 3.5d0]
        call MPI_GET_ADDRESS(number, places(1), ierr)
        call MPI_GET_ADDRESS(values, places(2), ierr)
        lengths = [1, 3]
        types = [MPI_INTEGER, MPI_DOUBLE_PRECISION]
        call MPI_TYPE_CREATE_STRUCT(2, lengths, places, types, type, ierr)
        call MPI_TYPE_COMMIT(type, ierr)
        if (rank == 0) then
            if (n_ranks > 1) call MPI_SEND(MPI_BOTTOM, 1, type, 1, 5, MPI_COMM_WORLD, ierr)
        else
            call MPI_RECV(MPI_BOTTOM, 1, type, rank - 1, 5, MPI_COMM_WORLD, &
                          MPI_STATUS_IGNORE, ierr)
            if (right > 0) call MPI_SEND(MPI_BOTTOM, 1, type, right, 5, MPI_COMM_WORLD, ierr)
        end if
        call MPI_F_SYNC_REG(number)
        call MPI_F_SYNC_REG(values)
        call check(number == 17 .and. values(3) == 3.5d0, 'values through MPI_BOTTOM')
        if (rank == 0) number = 18
        call MPI_BCAST(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD, ierr)
        call MPI_F_SYNC_REG(number)
        call check(number == 18, 'broadcast through MPI_BOTTOM')
        call MPI_TYPE_FREE(type, ierr)
        if (rank == 0) print '(a)', 'addresses'
    end subroutine addresses

    subroutine persistent
        integer :: requests(2), round

        call MPI_RECV_INIT(in_one, 1, MPI_INTEGER, left, 6, MPI_COMM_WORLD, requests(1), ierr)
        call MPI_SEND_INIT(out_one, 1, MPI_INTEGER, right, 6, MPI_COMM_WORLD, requests(2), ierr)
        do round = 1, 10
            out_one = 10 * rank + round
            if (mod(round, 2) == 0) then
                call MPI_STARTALL(2, requests, ierr)
                call MPI_WAITALL(2, requests, MPI_STATUSES_IGNORE, ierr)
            else
                call MPI_START(requests(1), ierr)
                call MPI_START(requests(2), ierr)
                call MPI_WAIT(requests(2), MPI_STATUS_IGNORE, ierr)
                call MPI_WAIT(requests(1), MPI_STATUS_IGNORE, ierr)
            end if
            call check(all(requests /= MPI_REQUEST_NULL), 'persistent requests stay')
            call check(in_one == 10 * left + round, 'persistent data')
        end do
        call MPI_REQUEST_FREE(requests(1), ierr)
        call MPI_REQUEST_FREE(requests(2), ierr)
        call check(all(requests == MPI_REQUEST_NULL), 'freed requests are null')
        if (rank == 0) print '(a)', 'persistent'
    end subroutine persistent

    subroutine free_and_cancel
        integer :: request, status(MPI_STATUS_SIZE), i
        integer, save :: sent(200)
        logical :: is_cancelled

        do i = 1, 200
            sent(i) = i
            call MPI_ISEND(sent(i), 1, MPI_INTEGER, right, 7, MPI_COMM_WORLD, request, ierr)
            call MPI_REQUEST_FREE(request, ierr)
        end do
        do i = 1, 200
            call MPI_RECV(in_one, 1, MPI_INTEGER, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
            call check(in_one == i, 'freed sends arrive')
        end do
        call MPI_IRECV(in_one, 1, MPI_INTEGER, left, 8, MPI_COMM_WORLD, request, ierr)
        call MPI_CANCEL(request, ierr)
        call MPI_WAIT(request, status, ierr)
        call MPI_TEST_CANCELLED(status, is_cancelled, ierr)
        call check(is_cancelled, 'cancelled')
        if (rank == 0) print '(a)', 'free and cancel'
    end subroutine free_and_cancel

    subroutine probes
        integer :: request, status(MPI_STATUS_SIZE), n, taken(50), sent(50), message
        logical :: is_there

        sent = rank
        call MPI_ISEND(sent, 50, MPI_INTEGER, right, 9, MPI_COMM_WORLD, request, ierr)
        call MPI_PROBE(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, status, ierr)
        call MPI_GET_COUNT(status, MPI_INTEGER, n, ierr)
        call check(n == 50 .and. status(MPI_SOURCE) == left, 'probe')
        call MPI_IPROBE(left, 9, MPI_COMM_WORLD, is_there, MPI_STATUS_IGNORE, ierr)
        call check(is_there, 'iprobe')
        call MPI_MPROBE(left, 9, MPI_COMM_WORLD, message, status, ierr)
        call MPI_MRECV(taken, 50, MPI_INTEGER, message, status, ierr)
        call check(message == MPI_MESSAGE_NULL .and. all(taken == left), 'mrecv')
        call MPI_WAIT(request, MPI_STATUS_IGNORE, ierr)
        if (rank == 0) print '(a)', 'probes'
    end subroutine probes
end program fortran_mpif
