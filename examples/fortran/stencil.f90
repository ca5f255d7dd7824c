! SPDX-License-Identifier: Apache-2.0
! One step of heat conduction on a square plate whose rim keeps its temperature.
subroutine heat_step(n, before, after) bind(c, name="heat_step")
    use, intrinsic :: iso_c_binding
    implicit none
    integer(c_int), value :: n
    real(c_double), intent(in) :: before(n, n)
    real(c_double), intent(inout) :: after(n, n)
    integer :: i, j

    do j = 2, n - 1
        do i = 2, n - 1
            after(i, j) = before(i, j) + 0.2d0 * (before(i - 1, j) + before(i + 1, j) &
                + before(i, j - 1) + before(i, j + 1) - 4 * before(i, j))
        end do
    end do
end subroutine heat_step
