! SPDX-License-Identifier: BSD-3-Clause
!
! Collectives through "use mpi": MPI_IN_PLACE, reductions of every Fortran type, pair
! types, a user operation written in Fortran, v-variants, communicators.
module operations
    use mpi
    implicit none

contains

    ! An element is the map x -> a * x + b; the operation is "first in, then inout".
    subroutine compose(in, inout, n, type)
        integer, intent(in) :: n, type
        integer, intent(in) :: in(2, n)
        integer, intent(inout) :: inout(2, n)

        if (type == MPI_DATATYPE_NULL) return
        inout(2, :) = mod(inout(1, :) * in(2, :) + inout(2, :), 10007)
        inout(1, :) = mod(inout(1, :) * in(1, :), 10007)
    end subroutine compose

    subroutine largest_norm(in, inout, n, type)
        integer, intent(in) :: n, type
        complex(8), intent(in) :: in(n)
        complex(8), intent(inout) :: inout(n)
        integer :: i

        if (type == MPI_DATATYPE_NULL) return
        do i = 1, n
            if (abs(in(i)) > abs(inout(i))) inout(i) = in(i)
        end do
    end subroutine largest_norm
end module operations

program fortran_module
    use mpi
    use operations
    implicit none
    integer :: rank, n_ranks, ierr

    call MPI_INIT(ierr)
    call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
    call MPI_COMM_SIZE(MPI_COMM_WORLD, n_ranks, ierr)
    call sums
    call truths
    call pairs
    call user_operations
    call in_place
    call blocks
    call communicators
    if (rank == 0) print '(a)', 'passed'
    call MPI_FINALIZE(ierr)

contains

    include 'fortran_check.f90'

    subroutine sums
        integer :: i, whole(20), whole_sum(20)
        integer(8) :: long, long_sum
        real :: single(20), single_sum(20)
        real(8) :: double(20), double_sum(20)
        complex :: pair(20), pair_sum(20)

        whole = [(rank + i, i=1, 20)]
        single = whole / 4.0
        double = whole / 8d0
        pair = cmplx(single, -single)
        long = 10_8**12 * (rank + 1)
        call MPI_ALLREDUCE(whole, whole_sum, 20, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
        call MPI_ALLREDUCE(single, single_sum, 20, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierr)
        call MPI_ALLREDUCE(double, double_sum, 20, MPI_DOUBLE_PRECISION, MPI_MAX, &
                           MPI_COMM_WORLD, ierr)
        call MPI_ALLREDUCE(pair, pair_sum, 20, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, ierr)
        call MPI_REDUCE(long, long_sum, 1, MPI_INTEGER8, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
        call check(all(single_sum == whole_sum / 4.0), 'real sum')
        call check(all(double_sum == [(n_ranks - 1 + i, i=1, 20)] / 8d0), 'double max')
        call check(all(pair_sum == cmplx(single_sum, -single_sum)), 'complex sum')
        if (rank == 0) print '(a,i0,1x,i0)', 'sums ', whole_sum(20), long_sum
    end subroutine sums

    subroutine truths
        logical :: mine(3), all_of(3), any_of(3), odd_of(3)

        mine = [rank == 0, .true., mod(rank, 2) == 1]
        call MPI_ALLREDUCE(mine, all_of, 3, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr)
        call MPI_ALLREDUCE(mine, any_of, 3, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierr)
        call MPI_ALLREDUCE(mine, odd_of, 3, MPI_LOGICAL, MPI_LXOR, MPI_COMM_WORLD, ierr)
        call check(all_of(2) .and. any_of(1) .and. odd_of(1), 'truths')
        call check(odd_of(2) .eqv. mod(n_ranks, 2) == 1, 'lxor')
        if (rank == 0) print '(a,9l2)', 'truths', all_of, any_of, odd_of
    end subroutine truths

    subroutine pairs
        real :: single(2, 3), single_max(2, 3)
        real(8) :: double(2, 3), double_min(2, 3)
        integer :: whole(2, 3), whole_max(2, 3)

        whole(1, :) = [mod(rank * 3, 5), rank, 7]
        whole(2, :) = rank
        single = whole
        double = whole
        call MPI_ALLREDUCE(single, single_max, 3, MPI_2REAL, MPI_MAXLOC, MPI_COMM_WORLD, ierr)
        call MPI_ALLREDUCE(double, double_min, 3, MPI_2DOUBLE_PRECISION, MPI_MINLOC, &
                           MPI_COMM_WORLD, ierr)
        call MPI_ALLREDUCE(whole, whole_max, 3, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD, ierr)
        call check(all(single_max == whole_max), 'maxloc')
        call check(whole_max(2, 2) == n_ranks - 1 .and. whole_max(2, 3) == 0, 'places')
        call check(double_min(2, 1) == 0 .and. double_min(2, 3) == 0, 'minloc')
        if (rank == 0) print '(a,6i4)', 'pairs', whole_max
    end subroutine pairs

    pure function maps_of(of_rank) result(maps)
        integer, intent(in) :: of_rank
        integer :: maps(2, 4)

        maps = reshape([2, 1, 3, of_rank, of_rank + 2, 5, 7, 9 - of_rank], [2, 4])
    end function maps_of

    subroutine user_operations
        integer :: op, map, mine(2, 4), out(2, 4), expected(2, 4), i
        complex(8) :: value, largest

        call MPI_TYPE_CONTIGUOUS(2, MPI_INTEGER, map, ierr)
        call MPI_TYPE_COMMIT(map, ierr)
        call MPI_OP_CREATE(compose, .false., op, ierr)
        mine = maps_of(rank)
        expected = maps_of(n_ranks - 1)
        do i = n_ranks - 2, 0, -1
            call compose(maps_of(i), expected, 4, map)
        end do
        call MPI_ALLREDUCE(mine, out, 4, map, op, MPI_COMM_WORLD, ierr)
        call check(all(out == expected), 'maps in rank order')
        out = -1
        call MPI_REDUCE(mine, out, 4, map, op, n_ranks - 1, MPI_COMM_WORLD, ierr)
        if (rank == n_ranks - 1) call check(all(out == expected), 'maps at the root')
        if (rank == 0) print '(a,8i6)', 'maps', expected
        call MPI_OP_FREE(op, ierr)
        call MPI_TYPE_FREE(map, ierr)
        call MPI_OP_CREATE(largest_norm, .true., op, ierr)
        value = cmplx(mod(rank * 7, 5), -rank, 8)
        call MPI_ALLREDUCE(value, largest, 1, MPI_DOUBLE_COMPLEX, op, MPI_COMM_WORLD, ierr)
        call check(abs(largest) >= abs(value), 'largest')
        call MPI_OP_FREE(op, ierr)
        if (rank == 0) print '(a,2f8.2)', 'user operations', largest
    end subroutine user_operations

    subroutine in_place
        integer :: numbers(n_ranks), i, total(3)

        total = rank + [1, 2, 3]
        call MPI_ALLREDUCE(MPI_IN_PLACE, total, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
        call check(total(3) == n_ranks * (n_ranks - 1) / 2 + 3 * n_ranks, 'allreduce')
        numbers = -1
        numbers(rank + 1) = 5 * rank
        call MPI_ALLGATHER(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, numbers, 1, MPI_INTEGER, &
                           MPI_COMM_WORLD, ierr)
        call check(all(numbers == [(5 * i, i=0, n_ranks - 1)]), 'allgather')
        if (rank == 0) then
            call MPI_REDUCE(MPI_IN_PLACE, total, 3, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, &
                            ierr)
            call MPI_GATHER(MPI_IN_PLACE, 0, MPI_INTEGER, numbers, 1, MPI_INTEGER, 0, &
                            MPI_COMM_WORLD, ierr)
            call MPI_SCATTER(numbers, 1, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_INTEGER, 0, &
                             MPI_COMM_WORLD, ierr)
        else
            call MPI_REDUCE(total, total, 3, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, ierr)
            call MPI_GATHER(numbers(rank + 1), 1, MPI_INTEGER, numbers, 1, MPI_INTEGER, 0, &
                            MPI_COMM_WORLD, ierr)
            call MPI_SCATTER(numbers, 1, MPI_INTEGER, i, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, &
                             ierr)
            call check(i == 5 * rank, 'scatter')
        end if
        numbers = 10 * rank + [(i, i=0, n_ranks - 1)]
        call MPI_ALLTOALL(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, numbers, 1, MPI_INTEGER, &
                          MPI_COMM_WORLD, ierr)
        call check(all(numbers == [(10 * i + rank, i=0, n_ranks - 1)]), 'alltoall')
        if (rank == 0) print '(a,8i5)', 'in place', numbers(1:min(8, n_ranks))
    end subroutine in_place

    subroutine blocks
        integer :: counts(n_ranks), places(n_ranks), i, n
        real(8), allocatable :: mine(:), all_of(:)

        counts = [(i, i=0, n_ranks - 1)]
        places(1) = 2
        do i = 2, n_ranks
            places(i) = places(i - 1) + counts(i - 1) + 1
        end do
        n = places(n_ranks) + counts(n_ranks)
        allocate (mine(rank), all_of(n))
        mine = rank + 0.5d0
        all_of = -1
        call MPI_ALLGATHERV(mine, rank, MPI_DOUBLE_PRECISION, all_of, counts, places, &
                            MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
        do i = 1, n_ranks
            call check(all(all_of(places(i) + 1:places(i) + counts(i)) == i - 0.5d0), 'blocks')
        end do
        call check(all_of(1) == -1, 'gap')
        if (rank == 0) print '(a,f0.2)', 'blocks ', sum(all_of)
    end subroutine blocks

    subroutine communicators
        integer :: half, copy, inner_rank, total, status(MPI_STATUS_SIZE), in

        call MPI_COMM_SPLIT(MPI_COMM_WORLD, mod(rank, 2), -rank, half, ierr)
        call MPI_COMM_RANK(half, inner_rank, ierr)
        call MPI_COMM_DUP(half, copy, ierr)
        call MPI_ALLREDUCE(1, total, 1, MPI_INTEGER, MPI_SUM, copy, ierr)
        call MPI_SENDRECV(rank, 1, MPI_INTEGER, mod(inner_rank + 1, total), 1, in, 1, &
                          MPI_INTEGER, MPI_ANY_SOURCE, 1, copy, status, ierr)
        call check(mod(in, 2) == mod(rank, 2), 'half')
        call check(status(MPI_SOURCE) == mod(inner_rank + total - 1, total), 'source')
        call MPI_COMM_FREE(copy, ierr)
        call MPI_COMM_FREE(half, ierr)
        call check(half == MPI_COMM_NULL, 'null')
        call MPI_COMM_SPLIT(MPI_COMM_WORLD, merge(MPI_UNDEFINED, 0, rank == 0), 0, half, ierr)
        call check((half == MPI_COMM_NULL) .eqv. (rank == 0), 'undefined')
        if (rank > 0) call MPI_COMM_FREE(half, ierr)
        if (rank == 0) print '(a,i0)', 'communicators ', total
    end subroutine communicators
end program fortran_module
