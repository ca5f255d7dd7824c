// SPDX-License-Identifier: Apache-2.0
/* Runs Graphviz without a shell, with a time limit and bounded output. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/process.h"
#include "profile/views/graph.h"

enum {
	DEFAULT_TIMEOUT_S = 60,
	MAX_PICTURE_BYTES = 256 << 20,
};

static int run_dot(const char *program, const char *dot_path,
		   const struct fg_graph_render_options *options, struct fg_strbuf *picture,
		   struct fg_error *err)
{
	char *format = fg_xasprintf("-T%s", options->format);
	char *file = fg_xstrdup(dot_path);
	char *name = fg_xstrdup(program);
	char *argv[] = {name, format, file, NULL};
	const struct fg_process_options process = {
		.argv = argv,
		.stdout_to = FG_STREAM_CAPTURE,
		.stderr_to = FG_STREAM_CAPTURE,
		.capture_limit_bytes = MAX_PICTURE_BYTES,
		.timeout_ns = options->timeout_ns > 0 ? options->timeout_ns
						      : DEFAULT_TIMEOUT_S * FG_NS_PER_S,
		.cpu = -1,
		.interrupted = options->interrupted,
	};
	struct fg_process_result result = {0};
	int status = fg_process_run(&process, &result, err);

	if (status == FG_OK && result.timed_out)
		status = fg_error_set(
			err, FG_ETIMEOUT,
			"Graphviz did not finish in time: show less with --nodes or a higher "
			"--floor");
	else if (status == FG_OK && (!result.exited || result.exit_code != 0))
		status = fg_error_set(err, FG_ECHILD, "%s failed: %.300s", program,
				      result.stderr_text ? result.stderr_text
							 : "the program printed nothing");
	else if (status == FG_OK && result.output_cut)
		status = fg_error_set(err, FG_ELIMIT, "the picture is larger than %d bytes",
				      MAX_PICTURE_BYTES);
	if (status == FG_OK)
		fg_strbuf_add(picture, result.stdout_text, result.stdout_size);
	fg_process_result_release(&result);
	free(format);
	free(file);
	free(name);
	return status;
}

int fg_graph_render(const struct fg_strbuf *dot, const struct fg_graph_render_options *options,
		    struct fg_strbuf *picture, struct fg_error *err)
{
	const char *wanted = options->program ? options->program : "dot";
	char *program = fg_fs_find_program(wanted);
	const char *parent = getenv("TMPDIR");
	char *folder = NULL;
	char *path = NULL;
	int status = FG_OK;

	if (!program)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "'%s' was not found: pictures are drawn by Graphviz (Debian: "
				    "apt-get install graphviz)",
				    wanted);
	FG_TRY_OUT(fg_fs_temporary_folder(parent && *parent ? parent : "/tmp", "fastgate-graph-",
					  &folder, err));
	path = fg_fs_join(folder, "graph.dot");
	FG_TRY_OUT(fg_fs_write_atomic(path, dot->data, dot->length, 0600, err));
	status = run_dot(program, path, options, picture, err);
out:
	if (folder && fg_fs_remove_tree(folder, status == FG_OK ? err : NULL) != FG_OK &&
	    status == FG_OK)
		status = FG_EIO;
	free(program);
	free(folder);
	free(path);
	return status;
}
