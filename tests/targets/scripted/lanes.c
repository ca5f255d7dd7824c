// SPDX-License-Identifier: Apache-2.0
#include <emmintrin.h>
#include <stdio.h>
__m128d _ZGVbN2v_exp(__m128d x);
__m128d _ZGVbN2vv_pow(__m128d x, __m128d y);
__m128 _ZGVbN4v_sinf(__m128 x);
int main(void)
{
	__m128d sum = _mm_setzero_pd();
	__m128 narrow = _mm_setzero_ps();
	for (int i = 0; i < 10; i++) {
		sum = _mm_add_pd(sum, _ZGVbN2v_exp(_mm_set_pd(-i, i)));
		sum = _mm_add_pd(sum, _ZGVbN2vv_pow(_mm_set_pd(i + 1, 20), _mm_set_pd(0.5, 0.25)));
		narrow = _mm_add_ps(narrow, _ZGVbN4v_sinf(_mm_set_ps(i, 1, 2, -3)));
	}
	printf("%g %g\n", _mm_cvtsd_f64(sum), _mm_cvtss_f32(narrow));
	return 0;
}
