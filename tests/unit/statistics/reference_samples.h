/* SPDX-License-Identifier: Apache-2.0 */
/* Two small samples, one with an outlier; R 4.2.2 computed the reference values for them. */
#ifndef FG_TESTS_STATS_REFERENCE_SAMPLES_H
#define FG_TESTS_STATS_REFERENCE_SAMPLES_H

static const double reference_x[] = {0.012, -0.004, 0.031,  0.008, 0.019, -0.011, 0.027, 0.005,
				     0.014, 0.350,  -0.002, 0.009, 0.022, -0.017, 0.016};
static const double reference_y[] = {0.001, -0.014, 0.011, 0.018,  -0.009, -0.021,
				     0.007, 0.006,  0.004, -0.012, 0.0025, 0.0085};
#define REFERENCE_X_COUNT (sizeof(reference_x) / sizeof(reference_x[0]))
#define REFERENCE_Y_COUNT (sizeof(reference_y) / sizeof(reference_y[0]))

#endif
