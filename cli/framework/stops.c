// SPDX-License-Identifier: Apache-2.0
/* Turns SIGINT, SIGTERM and SIGHUP into a flag that commands check. */
#include "cli/framework/command.h"

static volatile sig_atomic_t interrupted;

const volatile sig_atomic_t *const fg_cli_interrupted = &interrupted;

static void on_stop_signal(int number)
{
	(void)number;
	interrupted = 1;
}

void fg_cli_handle(int number, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler};

	(void)sigemptyset(&action.sa_mask);
	(void)sigaction(number, &action, NULL);
}

void fg_cli_catch_stops(void)
{
	fg_cli_handle(SIGINT, on_stop_signal);
	fg_cli_handle(SIGTERM, on_stop_signal);
	fg_cli_handle(SIGHUP, on_stop_signal);
}
