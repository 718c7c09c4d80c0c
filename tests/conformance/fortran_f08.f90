! SPDX-License-Identifier: BSD-3-Clause
!
! The mpi_f08 module: typed handles, error codes left out, statuses as derived types,
! contiguous array sections, user operations, status and request arrays, time.
module buffers_f08
    ! What messages are received into while a request is pending: any call may change a
    ! variable of a module.
    implicit none
    integer, asynchronous :: out, in, many_out(20), many_in(20)
end module buffers_f08

module operations_f08
    use mpi_f08
    use, intrinsic :: iso_c_binding
    implicit none

contains

    subroutine keep_largest(in, inout, n, type)
        type(c_ptr), value :: in, inout
        integer :: n
        type(MPI_Datatype) :: type
        integer, pointer :: left(:), right(:)

        if (type /= MPI_INTEGER) call MPI_Abort(MPI_COMM_WORLD, 97)
        call c_f_pointer(in, left, [n])
        call c_f_pointer(inout, right, [n])
        right = max(left, right)
    end subroutine keep_largest
end module operations_f08

program fortran_f08
    use mpi_f08
    use buffers_f08
    use operations_f08
    implicit none
    integer :: rank, n_ranks, left, right

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, n_ranks)
    left = mod(rank + n_ranks - 1, n_ranks)
    right = mod(rank + 1, n_ranks)
    call messages
    call sections
    call many_requests
    call persistent
    call collectives
    call user_operation
    call types_and_groups
    if (rank == 0) print '(a)', 'passed'
    call MPI_Finalize()

contains

    include 'fortran_check.f90'

    subroutine messages
        type(MPI_Status) :: status
        type(MPI_Request) :: request
        type(MPI_Message) :: message
        integer :: n, ierr
        logical :: is_there
        real(8) :: start

        start = MPI_Wtime()
        out = rank + 40
        call MPI_Irecv(in, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, request)
        call MPI_Ssend(out, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD)
        call MPI_Wait(request, status)
        call check(request == MPI_REQUEST_NULL, 'null')
        call check(status%MPI_SOURCE == left .and. status%MPI_TAG == 1, 'status')
        call MPI_Get_count(status, MPI_INTEGER, n)
        call check(n == 1 .and. in == left + 40, 'data')
        call MPI_Sendrecv(out, 1, MPI_INTEGER, right, 2, in, 1, MPI_INTEGER, MPI_ANY_SOURCE, &
                          MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        call check(ierr == MPI_SUCCESS .and. in == left + 40, 'sendrecv')
        call MPI_Barrier(MPI_COMM_WORLD)
        call MPI_Isend(out, 1, MPI_INTEGER, right, 3, MPI_COMM_WORLD, request)
        call MPI_Mprobe(left, 3, MPI_COMM_WORLD, message, status)
        call MPI_Mrecv(in, 1, MPI_INTEGER, message, status)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, is_there, status)
        call check(.not. is_there, 'nothing left')
        call MPI_Barrier(MPI_COMM_WORLD) ! else the next test's message could be there
        call check(MPI_Wtime() >= start, 'time')
        if (rank == 0) print '(a,i0)', 'messages ', in
    end subroutine messages

    ! A column is contiguous; a row is not: a row goes by a type.
    subroutine sections
        integer :: grid(6, 5), i, j
        type(MPI_Datatype) :: row

        grid = reshape([((1000 * rank + 10 * i + j, i=1, 6), j=1, 5)], [6, 5])
        call MPI_Sendrecv_replace(grid(:, 2), 6, MPI_INTEGER, right, 4, left, 4, &
                                  MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        call check(all(grid(:, 2) == [(1000 * left + 10 * i + 2, i=1, 6)]), 'column')
        call MPI_Type_vector(5, 1, 6, MPI_INTEGER, row)
        call MPI_Type_commit(row)
        call MPI_Bcast(grid(3, 1), 1, row, n_ranks - 1, MPI_COMM_WORLD)
        call check(grid(3, 5) == 1000 * (n_ranks - 1) + 35, 'row')
        call check(grid(4, 5) == 1000 * rank + 45, 'next row')
        call MPI_Type_free(row)
        if (rank == 0) print '(a,i0)', 'sections ', sum(grid)
    end subroutine sections

    subroutine many_requests
        type(MPI_Request) :: requests(40)
        type(MPI_Status) :: statuses(40)
        integer :: indices(40), i, n_done, total, index
        logical :: is_done

        do total = 1, 3
            many_in = -1
            do i = 1, 20
                many_out(i) = 100 * rank + i
                call MPI_Irecv(many_in(i), 1, MPI_INTEGER, left, i, MPI_COMM_WORLD, requests(i))
                call MPI_Isend(many_out(i), 1, MPI_INTEGER, right, i, MPI_COMM_WORLD, &
                               requests(20 + i))
            end do
            select case (total)
            case (1)
                call MPI_Waitall(40, requests, statuses)
                call check(all(statuses(1:20)%MPI_TAG == [(i, i=1, 20)]), 'tags')
            case (2)
                call MPI_Waitall(40, requests, MPI_STATUSES_IGNORE)
            case default
                call MPI_Waitany(40, requests, index, MPI_STATUS_IGNORE)
                n_done = 0
                do while (n_done /= MPI_UNDEFINED)
                    call MPI_Testsome(40, requests, n_done, indices, statuses)
                end do
                call MPI_Testall(40, requests, is_done, MPI_STATUSES_IGNORE)
                call check(is_done, 'testall')
            end select
            call check(all(many_in == [(100 * left + i, i=1, 20)]), 'data of many')
            call check(requests(7) == MPI_REQUEST_NULL, 'null requests')
        end do
        if (rank == 0) print '(a)', 'many requests'
    end subroutine many_requests

    subroutine persistent
        type(MPI_Request) :: requests(2)
        integer :: round

        call MPI_Recv_init(in, 1, MPI_INTEGER, left, 5, MPI_COMM_WORLD, requests(1))
        call MPI_Ssend_init(out, 1, MPI_INTEGER, right, 5, MPI_COMM_WORLD, requests(2))
        do round = 1, 5
            out = rank * round
            call MPI_Startall(2, requests)
            call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
            call check(in == left * round, 'persistent')
        end do
        call MPI_Request_free(requests(1))
        call MPI_Request_free(requests(2))
        if (rank == 0) print '(a)', 'persistent'
    end subroutine persistent

    subroutine collectives
        integer :: all_of(n_ranks), one, i
        character(8) :: text
        logical :: is_any

        call MPI_Allgather(rank, 1, MPI_INTEGER, all_of, 1, MPI_INTEGER, MPI_COMM_WORLD)
        call check(all(all_of == [(i, i=0, n_ranks - 1)]), 'allgather')
        call MPI_Allreduce(MPI_IN_PLACE, all_of, n_ranks, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
        call check(all(all_of == [(i * n_ranks, i=0, n_ranks - 1)]), 'allreduce')
        call MPI_Scatter(all_of, 1, MPI_INTEGER, one, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
        call check(one == rank * n_ranks, 'scatter')
        call MPI_Gather(one, 1, MPI_INTEGER, all_of, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
        text = merge('from 0  ', 'nothing ', rank == 0)
        call MPI_Bcast(text, 8, MPI_CHARACTER, 0, MPI_COMM_WORLD)
        call MPI_Allreduce(rank == 0, is_any, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD)
        call check(is_any .and. text == 'from 0', 'logical and text')
        if (rank == 0) print '(a,i0)', 'collectives ', sum(all_of)
    end subroutine collectives

    subroutine user_operation
        type(MPI_Op) :: op
        integer :: mine(3), result(3)

        call MPI_Op_create(keep_largest, .true., op)
        mine = [rank, 5 - rank, 3]
        call MPI_Allreduce(mine, result, 3, MPI_INTEGER, op, MPI_COMM_WORLD)
        call check(all(result == [n_ranks - 1, 5, 3]), 'user operation')
        call MPI_Op_free(op)
        if (rank == 0) print '(a,3i4)', 'user operation', result
    end subroutine user_operation

    subroutine types_and_groups
        type(MPI_Comm) :: comm
        type(MPI_Group) :: all_of, even
        integer :: range(3, 1), n

        call MPI_Comm_group(MPI_COMM_WORLD, all_of)
        range(:, 1) = [0, n_ranks - 1, 2]
        call MPI_Group_range_incl(all_of, 1, range, even)
        call MPI_Comm_create(MPI_COMM_WORLD, even, comm)
        if (comm /= MPI_COMM_NULL) then
            call MPI_Allreduce(1, n, 1, MPI_INTEGER, MPI_SUM, comm)
            call check(n == (n_ranks + 1) / 2, 'even')
            call MPI_Comm_free(comm)
        end if
        call MPI_Group_free(even)
        call MPI_Group_free(all_of)
        if (rank == 0) print '(a)', 'types and groups'
    end subroutine types_and_groups
end program fortran_f08
