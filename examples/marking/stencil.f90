! SPDX-License-Identifier: Apache-2.0
program stencil
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    subroutine mark_region(name) bind(c)
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    subroutine mark_region_end() bind(c)
    end subroutine
    subroutine mark_unit(kind, number) bind(c)
      import :: c_char, c_int64_t
      character(kind=c_char), intent(in) :: kind(*)
      integer(c_int64_t), value :: number
    end subroutine
    subroutine mark_unit_end() bind(c)
    end subroutine
  end interface
  real(8) :: grid(1000, 1000) = 1
  integer(c_int64_t) :: step

  do step = 1, 100
    call mark_unit("step" // c_null_char, step)
    call mark_region("relax" // c_null_char)
    grid(2:999, 2:999) = 0.25 * (grid(1:998, 2:999) + grid(3:1000, 2:999) + grid(2:999, 1:998) + grid(2:999, 3:1000))
    call mark_region_end()
    call mark_unit_end()
  end do
  print *, sum(grid)
end program
