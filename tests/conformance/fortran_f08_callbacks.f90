! SPDX-License-Identifier: BSD-3-Clause
!
! The mpi_f08 module: procedures that the library calls back (operations on derived types
! too, attributes copied and deleted, error handlers, generalized requests), and array
! sections with gaps as buffers of blocking calls.
module called_back
    use mpi_f08
    use, intrinsic :: iso_c_binding
    implicit none
    integer :: n_copied = 0, n_deleted = 0, n_errors = 0, n_queries = 0, n_freed = 0
    integer :: last_class = 0
    integer(MPI_ADDRESS_KIND) :: last_deleted = -1

contains

    ! (a, b) then (c, d) is (a*c, a*d + b): associative, but not commutative.
    subroutine compose(in, inout, n, type)
        type(c_ptr), value :: in, inout
        integer :: n, i
        type(MPI_Datatype) :: type
        integer, pointer :: left(:, :), right(:, :)

        if (type == MPI_INTEGER) call MPI_Abort(MPI_COMM_WORLD, 97)
        call c_f_pointer(in, left, [2, n])
        call c_f_pointer(inout, right, [2, n])
        do i = 1, n
            right(2, i) = left(1, i) * right(2, i) + left(2, i)
            right(1, i) = left(1, i) * right(1, i)
        end do
    end subroutine compose

    subroutine copy_plus_one(comm, key, extra, value, copy, flag, ierror)
        type(MPI_Comm) :: comm
        integer :: key, ierror
        integer(MPI_ADDRESS_KIND) :: extra, value, copy
        logical :: flag

        n_copied = n_copied + 1
        copy = value + extra
        flag = .true.
        ierror = MPI_SUCCESS
    end subroutine copy_plus_one

    subroutine count_deleted(comm, key, value, extra, ierror)
        type(MPI_Comm) :: comm
        integer :: key, ierror
        integer(MPI_ADDRESS_KIND) :: value, extra

        n_deleted = n_deleted + 1
        last_deleted = value
        ierror = MPI_SUCCESS
    end subroutine count_deleted

    subroutine count_errors(comm, code)
        type(MPI_Comm) :: comm
        integer :: code

        n_errors = n_errors + 1
        call MPI_Error_class(code, last_class)
    end subroutine count_errors

    subroutine query(extra, status, ierror)
        integer(MPI_ADDRESS_KIND) :: extra
        type(MPI_Status) :: status
        integer :: ierror

        n_queries = n_queries + 1
        status%MPI_SOURCE = int(extra)
        status%MPI_TAG = 77
        call MPI_Status_set_elements(status, MPI_INTEGER, 3)
        call MPI_Status_set_cancelled(status, .false.)
        ierror = MPI_SUCCESS
    end subroutine query

    subroutine count_freed(extra, ierror)
        integer(MPI_ADDRESS_KIND) :: extra
        integer :: ierror

        n_freed = n_freed + 1
        ierror = MPI_SUCCESS
    end subroutine count_freed

    subroutine cancel(extra, complete, ierror)
        integer(MPI_ADDRESS_KIND) :: extra
        logical :: complete
        integer :: ierror

        ierror = MPI_SUCCESS
    end subroutine cancel
end module called_back

program fortran_f08_callbacks
    use mpi_f08
    use called_back
    implicit none
    integer :: rank, n_ranks, left, right

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, n_ranks)
    left = mod(rank + n_ranks - 1, n_ranks)
    right = mod(rank + 1, n_ranks)
    call operation_on_pairs
    call attributes
    call error_handlers
    call generalized_requests
    call sections_in_messages
    call sections_in_collectives
    if (rank == 0) print '(a)', 'passed'
    call MPI_Finalize()

contains

    include 'fortran_check.f90'

    subroutine operation_on_pairs
        integer, parameter :: n = 60
        integer :: mine(2, n), total(2, n), expected(2), i
        type(MPI_Datatype) :: pair
        type(MPI_Op) :: op
        type(MPI_Request) :: request

        call MPI_Type_contiguous(2, MPI_INTEGER, pair)
        call MPI_Type_commit(pair)
        call MPI_Op_create(compose, .false., op)
        mine = spread([2, rank + 1], 2, n)
        expected = [1, 0]
        do i = 0, n_ranks - 1
            expected = [expected(1) * 2, expected(1) * (i + 1) + expected(2)]
        end do
        call MPI_Allreduce(mine, total, n, pair, op, MPI_COMM_WORLD)
        call check(all(total == spread(expected, 2, n)), 'allreduce of pairs')
        call MPI_Iallreduce(mine, total, 1, pair, op, MPI_COMM_WORLD, request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call check(all(total(:, 1) == expected), 'iallreduce of pairs')
        call MPI_Scan(mine, total, n, pair, op, MPI_COMM_WORLD)
        call check(rank < n_ranks - 1 .or. all(total(:, n) == expected), 'scan of pairs')
        call MPI_Op_free(op)
        call MPI_Type_free(pair)
        if (rank == 0) print '(a,2(1x,i0))', 'operation on pairs', expected
    end subroutine operation_on_pairs

    subroutine attributes
        type(MPI_Comm) :: first, second
        integer :: key
        integer(MPI_ADDRESS_KIND) :: value
        logical :: is_set

        call MPI_Comm_create_keyval(copy_plus_one, count_deleted, key, &
                                    1_MPI_ADDRESS_KIND)
        call MPI_Comm_dup(MPI_COMM_WORLD, first)
        call MPI_Comm_set_attr(first, key, 40_MPI_ADDRESS_KIND)
        call MPI_Comm_dup(first, second)
        call MPI_Comm_get_attr(second, key, value, is_set)
        call check(is_set .and. value == 41 .and. n_copied == 1, 'copied')
        call MPI_Comm_free(second)
        call check(n_deleted == 1 .and. last_deleted == 41, 'deleted with the copy')
        call MPI_Comm_delete_attr(first, key)
        call check(n_deleted == 2 .and. last_deleted == 40, 'deleted')
        call MPI_Comm_get_attr(first, key, value, is_set)
        call check(.not. is_set, 'gone')
        call MPI_Comm_free_keyval(key)
        call MPI_Comm_free(first)
        if (rank == 0) print '(a,2(1x,i0))', 'attributes', n_copied, n_deleted
    end subroutine attributes

    subroutine error_handlers
        type(MPI_Errhandler) :: handler
        type(MPI_Comm) :: comm
        integer :: ierror, class

        call MPI_Comm_dup(MPI_COMM_WORLD, comm)
        call MPI_Comm_create_errhandler(count_errors, handler)
        call MPI_Comm_set_errhandler(comm, handler)
        call MPI_Errhandler_free(handler)
        call MPI_Send(rank, 1, MPI_INTEGER, n_ranks, 1, comm, ierror)
        call MPI_Error_class(ierror, class)
        call check(n_errors == 1 .and. last_class == MPI_ERR_RANK, 'handler called')
        call check(class == MPI_ERR_RANK, 'error returned')
        call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
        call MPI_Bcast(rank, 1, MPI_INTEGER, -9, comm, ierror)
        call MPI_Error_class(ierror, class)
        call check(n_errors == 1 .and. class == MPI_ERR_ROOT, 'no handler called')
        call MPI_Comm_free(comm)
        if (rank == 0) print '(a,1x,i0)', 'error handlers', last_class
    end subroutine error_handlers

    ! One request of the library's beside two of messages.
    subroutine generalized_requests
        type(MPI_Request) :: requests(3)
        type(MPI_Status) :: statuses(3)
        integer, asynchronous :: in
        integer, asynchronous :: out
        integer :: n

        out = rank
        call MPI_Grequest_start(query, count_freed, cancel, 5_MPI_ADDRESS_KIND, requests(2))
        call MPI_Irecv(in, 1, MPI_INTEGER, left, 6, MPI_COMM_WORLD, requests(1))
        call MPI_Isend(out, 1, MPI_INTEGER, right, 6, MPI_COMM_WORLD, requests(3))
        call MPI_Grequest_complete(requests(2))
        call MPI_Waitall(3, requests, statuses)
        call check(statuses(1)%MPI_SOURCE == left .and. in == left, 'message')
        call check(statuses(2)%MPI_SOURCE == 5 .and. statuses(2)%MPI_TAG == 77, 'queried')
        call MPI_Get_count(statuses(2), MPI_INTEGER, n)
        call check(n == 3 .and. n_queries == 1 .and. n_freed == 1, 'called back')
        if (rank == 0) print '(a)', 'generalized requests'
    end subroutine generalized_requests

    subroutine sections_in_messages
        integer :: grid(9, 8), expected(9, 8), i, j

        grid = reshape([((1000 * rank + 10 * i + j, i=1, 9), j=1, 8)], [9, 8])
        expected = grid
        expected(1:9:4, 8:1:-3) = reshape([((1000 * left + 10 * i + j, i=3, 9, 3), &
                                            j=2, 6, 2)], [3, 3])
        call MPI_Sendrecv(grid(3:9:3, 2:6:2), 9, MPI_INTEGER, right, 7, &
                          grid(1:9:4, 8:1:-3), 9, MPI_INTEGER, left, 7, &
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        call check(all(grid == expected), 'sendrecv of sections')
        call MPI_Sendrecv_replace(grid(5, :), 8, MPI_INTEGER, right, 8, left, 8, &
                                  MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        call check(grid(5, 3) == 1000 * left + 53, 'row replaced')
        call check(grid(6, 3) == 1000 * rank + 63, 'next row kept')
        if (rank == 0) print '(a,1x,i0)', 'sections in messages', sum(grid)
    end subroutine sections_in_messages

    subroutine sections_in_collectives
        real(8) :: field(6, 7, 3), total(7)
        integer :: gathered(2, n_ranks), i

        field = rank + 1
        call MPI_Bcast(field(2, :, 1:3:2), 14, MPI_REAL8, n_ranks - 1, MPI_COMM_WORLD)
        call check(all(field(2, :, 3) == n_ranks), 'broadcast into a section')
        call check(all(field(2, :, 2) == rank + 1), 'nothing beside it')
        call MPI_Allreduce(field(3, :, 2), total, 7, MPI_REAL8, MPI_SUM, MPI_COMM_WORLD)
        call check(all(total == n_ranks * (n_ranks + 1) / 2), 'section reduced')
        call MPI_Allreduce(MPI_IN_PLACE, field(4, :, 2), 7, MPI_REAL8, MPI_MAX, &
                           MPI_COMM_WORLD)
        call check(all(field(4, :, 2) == n_ranks), 'section in place')
        gathered = -1
        call MPI_Allgather(rank, 1, MPI_INTEGER, gathered(2, :), 1, MPI_INTEGER, &
                           MPI_COMM_WORLD)
        call check(all(gathered(2, :) == [(i, i=0, n_ranks - 1)]), 'gathered')
        call check(all(gathered(1, :) == -1), 'nothing between')
        if (rank == 0) print '(a,1x,f0.1)', 'sections in collectives', sum(field)
    end subroutine sections_in_collectives
end program fortran_f08_callbacks
