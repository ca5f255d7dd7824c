// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/process.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int run_shell(const char *script, struct fg_process_options options,
		     struct fg_process_result *result, struct fg_error *err)
{
	char *argv[] = {"/bin/sh", "-c", (char *)(uintptr_t)script, NULL};

	options.argv = argv;
	if (options.stdout_to == FG_STREAM_DISCARD)
		options.stdout_to = FG_STREAM_CAPTURE;
	options.stderr_to = FG_STREAM_CAPTURE;
	return fg_process_run(&options, result, err);
}

FG_TEST(output_exit_code_and_usage_are_returned)
{
	struct fg_process_result result = {0};

	assert_int_equal(run_shell("echo out; echo err >&2; exit 3", (struct fg_process_options){0},
				   &result, NULL),
			 FG_OK);
	assert_true(result.exited);
	assert_int_equal(result.exit_code, 3);
	assert_string_equal(result.stdout_text, "out\n");
	assert_string_equal(result.stderr_text, "err\n");
	assert_true(result.usage.ru_maxrss > 0);
	assert_true(result.wall_ns > 0);
	assert_false(result.left_children);
	fg_process_result_release(&result);
}

FG_TEST(death_by_signal_is_distinguished)
{
	struct fg_process_result result = {0};
	struct fg_strbuf text = {0};

	assert_int_equal(run_shell("kill -SEGV $$", (struct fg_process_options){0}, &result, NULL),
			 FG_OK);
	assert_false(result.exited);
	assert_int_equal(result.signal, SIGSEGV);
	fg_process_describe(&result, &text);
	assert_string_equal(text.data, "was killed by signal 11 (Segmentation fault)");
	fg_strbuf_release(&text);
	fg_process_result_release(&result);
}

FG_TEST(missing_program_is_named)
{
	char *argv[] = {"no-such-program-here", NULL};
	char *path_argv[] = {"/nowhere/x", NULL};
	struct fg_process_options options = {.argv = argv};
	struct fg_process_result result = {0};
	struct fg_error err = {0};

	assert_int_equal(fg_process_run(&options, &result, &err), FG_ENOENT);
	assert_string_equal(err.message,
			    "cannot run 'no-such-program-here': no such program in PATH");
	options.argv = path_argv;
	assert_int_equal(fg_process_run(&options, &result, &err), FG_ENOENT);
	assert_string_equal(err.message, "cannot run '/nowhere/x': No such file or directory");
	options.working_directory = "/nowhere";
	assert_int_equal(fg_process_run(&options, &result, &err), FG_ENOENT);
	assert_string_equal(err.message,
			    "cannot run '/nowhere/x': folder '/nowhere' does not exist");
}

FG_TEST(time_limit_ends_the_whole_tree)
{
	struct fg_process_result result = {0};
	const struct fg_process_options options = {.timeout_ns = 2 * FG_NS_PER_S, .grace_ms = 50};

	/* The grandchild holds the pipe; the shell ignores SIGTERM from the start. */
	assert_int_equal(
		run_shell("trap '' TERM; sleep 600 & sleep 600; sleep 600", options, &result, NULL),
		FG_OK);
	assert_true(result.timed_out);
	assert_false(result.exited);
	assert_int_equal(result.signal, SIGKILL);
	fg_process_result_release(&result);
}

FG_TEST(daemon_that_left_its_group_is_ended)
{
	struct fg_process_result result = {0};
	pid_t daemon = 0;

	assert_int_equal(run_shell("setsid sleep 600 >/dev/null 2>&1 & echo $!",
				   (struct fg_process_options){0}, &result, NULL),
			 FG_OK);
	assert_true(result.left_children);
	daemon = (pid_t)strtol(result.stdout_text, NULL, 10);
	assert_true(daemon > 1);
	assert_int_equal(kill(daemon, 0), -1);
	assert_int_equal(errno, ESRCH);
	fg_process_result_release(&result);
}

FG_TEST(kept_children_live_until_ended)
{
	struct fg_process_result result = {0};
	const struct fg_process_options options = {.keep_children = true};
	pid_t server = 0;

	assert_int_equal(run_shell("sleep 600 >/dev/null 2>&1 & echo $!", options, &result, NULL),
			 FG_OK);
	server = (pid_t)strtol(result.stdout_text, NULL, 10);
	fg_process_result_release(&result);
	assert_int_equal(run_shell("true", (struct fg_process_options){0}, &result, NULL), FG_OK);
	fg_process_result_release(&result);
	assert_int_equal(kill(server, 0), 0);
	fg_process_end_kept();
	assert_int_equal(kill(server, 0), -1);
}

/* Numbered lines show every byte that is lost, doubled or out of order. */
FG_TEST(kept_parts_of_a_long_output_are_exact)
{
	enum {
		LIMIT = 1000,
		HALF = LIMIT / 2 + 1,
		LINE = 8,
	};
	static const unsigned line_counts[] = {62, 63, 64, 120, 125, 126, 127, 1000, 1001};
	static const enum fg_process_stream streams[] = {FG_STREAM_CAPTURE, FG_STREAM_FILE};

	for (size_t k = 0; k < FG_ARRAY_SIZE(line_counts) * FG_ARRAY_SIZE(streams); k++) {
		const size_t i = k / FG_ARRAY_SIZE(streams);
		const size_t size = (size_t)line_counts[i] * LINE;
		struct fg_process_result result = {0};
		struct fg_strbuf whole = {0};
		struct fg_strbuf wanted = {0};
		char script[64];

		for (unsigned n = 1; n <= line_counts[i]; n++)
			fg_strbuf_printf(&whole, "%07u\n", n);
		fg_strbuf_add(&wanted, whole.data, fg_min_size(size, HALF));
		if (size > 2 * (size_t)HALF)
			fg_strbuf_printf(&wanted, "\n[... %zu bytes left out ...]\n",
					 size - 2 * (size_t)HALF);
		if (size > HALF)
			fg_strbuf_add_text(&wanted,
					   whole.data + (size > 2 * (size_t)HALF ? size - HALF
										 : (size_t)HALF));
		(void)snprintf(script, sizeof(script), "seq -f %%07.0f 1 %u", line_counts[i]);
		assert_int_equal(run_shell(script,
					   (struct fg_process_options){
						   .stdout_to = streams[k % FG_ARRAY_SIZE(streams)],
						   .capture_limit_bytes = LIMIT},
					   &result, NULL),
				 FG_OK);
		assert_string_equal(result.stdout_text, fg_strbuf_text(&wanted));
		assert_int_equal(result.printed[0], size);
		assert_int_equal(result.output_cut, size > 2 * (size_t)HALF);
		fg_process_result_release(&result);
		fg_strbuf_release(&whole);
		fg_strbuf_release(&wanted);
	}
}

/* The program prints before anything is read, and signals the end through a second pipe. */
FG_TEST(half_a_megabyte_is_printed_without_waiting_for_a_reader)
{
	enum {
		PIPE_BYTES = 1 << 20
	};
	struct fg_process_result result = {0};
	struct fg_process process = {0};
	char script[128];
	char *argv[] = {"/bin/sh", "-c", script, NULL};
	const struct fg_process_options options = {.argv = argv, .stdout_to = FG_STREAM_CAPTURE};
	char through = 0;
	int told[2];

	assert_int_equal(pipe(told), 0);
	if (fcntl(told[1], F_SETPIPE_SZ, PIPE_BYTES) < PIPE_BYTES) {
		(void)close(told[0]);
		(void)close(told[1]);
		skip(); /* this user's share of pipe memory is used up */
	}
	(void)snprintf(script, sizeof(script),
		       "head -c 500000 /dev/zero; printf y >/proc/self/fd/%d", told[1]);
	assert_int_equal(fg_process_start(&options, &process, NULL), FG_OK);
	(void)close(told[1]);
	assert_int_equal(read(told[0], &through, 1), 1);
	assert_int_equal(through, 'y');
	(void)close(told[0]);
	assert_int_equal(fg_process_wait(&process, 1, &result, NULL), FG_OK);
	assert_int_equal(result.stdout_size, 500000);
	fg_process_release(&process);
	fg_process_result_release(&result);
}

/*
 * Nobody reads the output while the program runs. It is 16 times as large as the largest pipe, but
 * goes to a file, so the program still ends.
 */
FG_TEST(a_file_takes_any_output_without_a_reader)
{
	enum {
		PRINTED = 16 << 20
	};
	struct fg_process_result result = {0};
	struct fg_process process = {0};
	char *argv[] = {"/bin/sh", "-c", "head -c 16777216 /dev/zero; printf end", NULL};
	const struct fg_process_options options = {
		.argv = argv, .stdout_to = FG_STREAM_FILE, .capture_limit_bytes = 100};
	siginfo_t ended;

	assert_int_equal(fg_process_start(&options, &process, NULL), FG_OK);
	assert_int_equal(waitid(P_PID, (id_t)process.pid, &ended, WEXITED | WNOWAIT), 0);
	assert_int_equal(fg_process_wait(&process, 1, &result, NULL), FG_OK);
	assert_true(result.exited && result.exit_code == 0);
	assert_int_equal(result.printed[0], PRINTED + 3);
	assert_true(result.output_cut);
	assert_memory_equal(result.stdout_text + result.stdout_size - 4, "\0end", 4);
	fg_process_release(&process);
	fg_process_result_release(&result);
}

/*
 * The program prints more than the file ever holds at once; the kept text and the counts stay
 * correct.
 */
FG_TEST(the_middle_of_a_long_file_is_given_back)
{
	struct fg_capture capture;
	struct fg_captured taken;
	struct stat about;
	char *block = fg_xcalloc(1, 1 << 20);
	int fd = -1;

	assert_int_equal(fg_capture_open(&capture, true, 100, &fd, NULL), FG_OK);
	assert_int_equal(write(fd, "begin", 5), 5);
	for (unsigned i = 0; i < 200; i++) {
		assert_int_equal(write(fd, block, 1 << 20), 1 << 20);
		fg_capture_read(&capture);
		assert_int_equal(fstat(fd, &about), 0);
		assert_true(about.st_blocks * 512 <= (65 << 20) + 4096);
	}
	assert_int_equal(write(fd, "end", 3), 3);
	taken = fg_capture_take(&capture);
	assert_true(taken.cut);
	assert_int_equal(taken.printed, (200 << 20) + 8);
	assert_memory_equal(taken.text, "begin", 5);
	assert_memory_equal(taken.text + taken.size - 4, "\0end", 4);
	free(taken.text);
	fg_capture_release(&capture);
	(void)close(fd);
	free(block);
}

FG_TEST(interruption_ends_the_program)
{
	volatile sig_atomic_t flag = 1;
	struct fg_process_result result = {0};
	struct fg_error err = {0};
	const struct fg_process_options options = {.interrupted = &flag};

	assert_int_equal(run_shell("sleep 600", options, &result, &err), FG_EINTERRUPTED);
}

FG_TEST(a_program_that_ended_before_the_interrupt_keeps_its_result)
{
	volatile sig_atomic_t flag = 0;
	char *argv[] = {"/bin/sh", "-c", "echo done; exit 3", NULL};
	const struct fg_process_options options = {
		.argv = argv, .stdout_to = FG_STREAM_CAPTURE, .interrupted = &flag};
	struct fg_process process = {0};
	struct fg_process_result result = {0};
	siginfo_t info = {0};
	struct fg_error err = {0};

	assert_int_equal(fg_process_start(&options, &process, &err), FG_OK);
	assert_int_equal(waitid(P_PID, (id_t)process.pid, &info, WEXITED | WNOWAIT), 0);
	flag = 1;
	assert_int_equal(fg_process_wait(&process, 1, &result, &err), FG_OK);
	assert_true(result.exited);
	assert_int_equal(result.exit_code, 3);
	assert_string_equal(result.stdout_text, "done\n");
	fg_process_result_release(&result);
	fg_process_release(&process);
}

FG_TEST(environment_folder_input_and_cpu_are_set)
{
	char *environment[] = {"PATH=/usr/bin:/bin", "COLOUR=blue", NULL};
	struct fg_process_result result = {0};
	const struct fg_process_options options = {.environment = environment,
						   .working_directory = "/",
						   .stdin_path = "/proc/self/comm",
						   .pinned = true,
						   .cpu = 0};

	assert_int_equal(run_shell("echo $COLOUR; pwd; cat; grep Cpus_allowed_list "
				   "/proc/self/status | cut -f2",
				   options, &result, NULL),
			 FG_OK);
	assert_memory_equal(result.stdout_text, "blue\n/\n", 7);
	assert_non_null(strstr(result.stdout_text, "\n0\n"));
	fg_process_result_release(&result);
}

FG_TEST(two_programs_are_awaited_at_once)
{
	char *argv[2][4] = {{"/bin/sh", "-c", "echo a; exit 1", NULL},
			    {"/bin/sh", "-c", "echo b; exit 2", NULL}};
	struct fg_process processes[2];
	struct fg_process_result results[2];

	for (size_t i = 0; i < 2; i++) {
		const struct fg_process_options options = {.argv = argv[i],
							   .stdout_to = FG_STREAM_CAPTURE};

		assert_int_equal(fg_process_start(&options, &processes[i], NULL), FG_OK);
	}
	assert_int_equal(fg_process_wait(processes, 2, results, NULL), FG_OK);
	assert_int_equal(results[0].exit_code, 1);
	assert_int_equal(results[1].exit_code, 2);
	assert_string_equal(results[0].stdout_text, "a\n");
	assert_string_equal(results[1].stdout_text, "b\n");
	for (size_t i = 0; i < 2; i++) {
		fg_process_release(&processes[i]);
		fg_process_result_release(&results[i]);
	}
}

static void expect_blue(char *const *environment)
{
	char *argv[] = {"only-here", NULL};
	struct fg_process_result result = {0};
	struct fg_error err = {0};
	char **before = environ;
	sigset_t mask;

	if (fg_process_run(&(struct fg_process_options){.argv = argv,
							.environment = environment,
							.stdout_to = FG_STREAM_CAPTURE},
			   &result, &err) != FG_OK)
		fail_msg("%s", err.message);
	assert_string_equal(result.stdout_text, "blue\n");
	fg_process_result_release(&result);
	assert_ptr_equal(environ, before);
	assert_null(getenv("COLOUR"));
	assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &mask), 0);
	assert_int_equal(sigismember(&mask, SIGTERM), 0);
}

FG_TEST(a_program_is_looked_for_in_the_path_that_it_is_given)
{
	struct fg_scratch scratch;
	char *usual = fg_xstrdup(getenv("PATH"));
	char *path = NULL;

	fg_scratch_init(&scratch);
	fg_scratch_write_text(&scratch, "only-here", "#!/bin/sh\necho $COLOUR\n");
	assert_int_equal(chmod(fg_scratch_path(&scratch, "only-here"), 0755), 0);
	path = fg_xasprintf("PATH=%s:/usr/bin:/bin", scratch.path);
	char *environment[] = {path, "COLOUR=blue", NULL};

	expect_blue(environment); /* finds the program although our own PATH differs */
	assert_int_equal(setenv("PATH", path + strlen("PATH="), 1), 0);
	expect_blue(environment); /* with the same PATH */
	assert_int_equal(setenv("PATH", usual, 1), 0);
	fg_scratch_release(&scratch);
	free(path);
	free(usual);
}
