// SPDX-License-Identifier: Apache-2.0
/*
 * Checks that the offsets in collector/python/cpython_layout.c equal those of the Python headers
 * that this is compiled with. Prints the differences.
 */
#include "collector/python/cpython_layout.h"

#include <stddef.h>
#include <stdio.h>

/* Each header needs declarations of the previous one. */
/* clang-format off */
#define Py_BUILD_CORE 1 /* NOLINT(bugprone-reserved-identifier): Python's name */
#include <Python.h>
#include <internal/pycore_runtime.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_frame.h>
/* clang-format on */

static int wrong;

static void expect(const char *what, size_t ours, size_t theirs)
{
	if (ours == theirs)
		return;
	wrong = 1;
	(void)printf("%s: %zu, in these headers %zu\n", what, ours, theirs);
}

#define AT(ours, type, member)   expect(#type "." #member, layout->ours, offsetof(type, member))
#define SAME(ours, type, member) expect(#type "." #member, ours, offsetof(type, member))

static void check_versions(const struct fg_python_layout *layout)
{
#if PY_VERSION_HEX < 0x030c0000
	AT(tss_key, _PyRuntimeState, gilstate.autoTSSkey);
	AT(frame_is_entry, _PyInterpreterFrame, is_entry);
#else
	AT(tss_key, _PyRuntimeState, autoTSSkey);
	expect("FRAME_OWNED_BY_CSTACK", FG_PYTHON_OWNED_BY_C_STACK, FRAME_OWNED_BY_CSTACK);
#endif
#if PY_VERSION_HEX < 0x030d0000
	AT(cframe, PyThreadState, cframe);
	AT(current_frame, _PyCFrame, current_frame);
	AT(cframe_previous, _PyCFrame, previous);
	AT(frame_code, _PyInterpreterFrame, f_code);
	AT(frame_instruction, _PyInterpreterFrame, prev_instr);
#else
	AT(current_frame, PyThreadState, current_frame);
	AT(frame_code, _PyInterpreterFrame, f_executable);
	AT(frame_instruction, _PyInterpreterFrame, instr_ptr);
#endif
}

static void check_texts(const struct fg_python_layout *layout)
{
	PyASCIIObject text = {0};

	expect("sizeof(PyASCIIObject)", layout->ascii_size, sizeof(PyASCIIObject));
	expect("sizeof(PyCompactUnicodeObject)", layout->compact_size,
	       sizeof(PyCompactUnicodeObject));
	SAME(FG_PYTHON_SIZE, PyASCIIObject, length);
	SAME(FG_PYTHON_STR_STATE, PyASCIIObject, state);
	SAME(FG_PYTHON_BYTES, PyBytesObject, ob_sval);
	text.state.kind = 7;
	expect("kind", *(const unsigned *)(const void *)&text.state,
	       FG_PYTHON_STR_KIND_MASK << FG_PYTHON_STR_KIND_SHIFT);
	text.state.kind = 0;
	text.state.compact = 1;
	expect("compact", *(const unsigned *)(const void *)&text.state, FG_PYTHON_STR_COMPACT);
	text.state.compact = 0;
	text.state.ascii = 1;
	expect("ascii", *(const unsigned *)(const void *)&text.state, FG_PYTHON_STR_ASCII);
}

int main(void)
{
	const struct fg_python_layout *layout = fg_python_layout(PY_VERSION_HEX);

	if (!layout) {
		(void)printf("Python %s is not known\n", PY_VERSION);
		return 1;
	}
	check_versions(layout);
	check_texts(layout);
	AT(thread_id, PyThreadState, thread_id);
	AT(native_thread_id, PyThreadState, native_thread_id);
	AT(frame_previous, _PyInterpreterFrame, previous);
	AT(frame_owner, _PyInterpreterFrame, owner);
	AT(code_first_line, PyCodeObject, co_firstlineno);
	AT(code_filename, PyCodeObject, co_filename);
	AT(code_qualname, PyCodeObject, co_qualname);
	AT(code_linetable, PyCodeObject, co_linetable);
	AT(code_instructions, PyCodeObject, co_code_adaptive);
	SAME(FG_PYTHON_TSS_KEY, Py_tss_t, _key);
	SAME(FG_PYTHON_TYPE, PyObject, ob_type);
	SAME(FG_PYTHON_SIZE, PyVarObject, ob_size);
	SAME(FG_PYTHON_TYPE_NAME, PyTypeObject, tp_name);
	SAME(FG_PYTHON_TYPE_BASIC_SIZE, PyTypeObject, tp_basicsize);
	return wrong;
}
