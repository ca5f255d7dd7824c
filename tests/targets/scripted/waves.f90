! SPDX-License-Identifier: Apache-2.0
program waves
  implicit none
  real(8) :: total
  real(4) :: narrow
  complex(8) :: z
  integer :: i
  total = 0
  narrow = 0
  z = (0d0, 0d0)
  do i = 1, 40
    call step(i * 0.25d0, 1.5d0 + i)
    narrow = narrow + exp(real(i))
    z = z + exp(cmplx(i, -i, 8))
  end do
  print '(3es12.4)', total, narrow, abs(z)
contains
  subroutine step(x, y)
    real(8), intent(in) :: x, y
    total = total + exp(x) + sin(x) + y ** x
  end subroutine
end program
