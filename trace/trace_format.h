/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The format of a trace file, byte by byte. The collector writes it and trace/ reads it, both with
 * this header; docs/formats/trace.md describes it in prose.
 *
 * One process image (one pid between two execs) leaves one file, `<output
 * folder>/<pid>.<n>.fgtrace`.  All numbers are little-endian.  The file is
 *
 *	struct fg_trace_header       one page of FG_TRACE_HEADER_SIZE bytes
 *	struct fg_trace_chunk ...    chunks, aligned to FG_TRACE_ALIGN bytes and multiples of it;
 *	                             some are a struct fg_trace_table instead
 *
 * The file is a shared mapping, which outlives the process, so it is readable after SIGKILL at any
 * instant, without loss: a chunk is appended to in place, and one 64-bit store of its `commit` word
 * (bytes used, and the crc32c of just these bytes) makes a record part of the file. Bytes beyond
 * `used` are not part of the file. The file is sparse and longer than its content: the writer never
 * shortens it (a thread may still be writing); a final reader may cut it at `allocated`.
 *
 * Inside a chunk the payload is a sequence of records. A first byte with the top bit set begins a
 * sample, by far the most frequent record:
 *
 *	byte      0x80 | FG_SAMPLE_* bits | enum fg_trace_clock
 *	varint    nanoseconds of CLOCK_MONOTONIC since the previous sample in this chunk (the
 *	          first: since base_time_ns)
 *	varint    call path: id of the leaf's node, 0: no stack could be taken
 *	varint    weight in nanoseconds, only with FG_SAMPLE_WEIGHT; else the header's period_ns
 *
 * Any other first byte is an enum fg_trace_record, followed by a varint, the number of payload
 * bytes, and the payload. A reader skips kinds that it does not know, and fields after the fields
 * that it knows. A varint is LEB128: 7 bits per byte, lowest first, at most 10 bytes. "text" is a
 * varint length and that number of bytes, no NUL.
 *
 * A sample belongs to the thread and region that are current in its chunk: the chunk header names
 * them, until an FG_RECORD_THREAD_BEGIN or FG_RECORD_REGION_SET in the chunk changes them.
 *
 * Ids (thread, module, frame, node, region, name) are assigned from 1 up, process-wide, and their
 * definitions may be in any chunk: a reader collects every definition of the file before it
 * resolves a reference. 0 means none. The same thing may be defined twice under two ids (two
 * threads found it at the same time): equal definitions mean the same thing. An id without a
 * definition can occur after SIGKILL; a reader shows it as unknown instead of refusing the file.
 */
#ifndef FG_COLLECTOR_TRACE_FORMAT_H
#define FG_COLLECTOR_TRACE_FORMAT_H

#include <stdint.h>

#define FG_TRACE_MAGIC       "FGTRACE\n" /* 8 bytes, without the NUL */
#define FG_TRACE_VERSION     1u          /* a reader refuses a larger version */
#define FG_TRACE_SUFFIX      ".fgtrace"
#define FG_TRACE_HEADER_SIZE 4096u
#define FG_TRACE_ALIGN       4096u
#define FG_TRACE_CHUNK_MAGIC 0x4b434746u /* "FGCK" */
#define FG_TRACE_CHUNK_SIZE  4096u       /* usual size; all are multiples of FG_TRACE_ALIGN */
#define FG_TRACE_CHUNK_LIMIT (1u << 20)  /* largest chunk */
#define FG_TRACE_TABLE_MAGIC 0x42544746u /* "FGTB": a table of counters, see fg_trace_table */
#define FG_TRACE_TABLE_ROWS  128u        /* bytes from a table's start to its first row */
#define FG_TRACE_FRAMES_MAX  4096u       /* call paths of up to this many frames are complete */
#define FG_TRACE_FRAMES_EDGE 256u        /* frames kept at each end of a deeper call path */
#define FG_TRACE_TEXT_MAX    65536u      /* longest text */
#define FG_TRACE_MODULES_MAX 65535u
#define FG_SPAN_MIN_NS       100000u /* shorter visits to a region only add to its total */
#define FG_HANDLER_BUCKETS   80u

/* The cause of a sample, which determines what its weight counts. */
enum fg_trace_clock {
	FG_CLOCK_NONE = 0,
	/* perf task clock, user time; precise */
	FG_CLOCK_PERF_USER = 1,
	/* system time */
	FG_CLOCK_SYSTEM = 2,
	/* jittered monotonic timer, weight = CPU time, user and system */
	FG_CLOCK_JITTER = 3,
	/* thread CPU timer x overrun, user and system; may lock to the kernel tick */
	FG_CLOCK_TICK = 4,
	/* elapsed time, running or blocked */
	FG_CLOCK_WALL = 5,
	/*
	 * the clock of each CPU, for every process on the machine; appears only in the header and
	 * for threads, whose samples have clock 1 or 2
	 */
	FG_CLOCK_MACHINE = 8,
};
#define FG_SAMPLE_CLOCK_MASK 0x07u
#define FG_SAMPLE_WEIGHT     0x08u /* a weight follows */
#define FG_SAMPLE_TRUNCATED  0x10u /* the stack does not reach the start of its thread */
#define FG_SAMPLE_SYSCALL    0x20u /* the leaf is right after a system call instruction */
#define FG_SAMPLE_STOPPED    0x40u /* elapsed time in which the thread neither ran nor waited */
#define FG_SAMPLE            0x80u

/*
 * Records and their fields, all varints unless "text".
 *
 * FRAME's offset is address - bias (module 0: the address itself). With FG_FRAME_EXACT it is where
 * the program was interrupted (the leaf, or the caller of a signal frame); without the flag, it is
 * a return address: look up offset - 1. NODE: the child is the callee; parent 0 is a root. Frame 0
 * is a cut: the fourth field is the number of frames that were left out here. A module with a
 * build-id that is unloaded and mapped again at the same place keeps its id.
 */
enum fg_trace_record {
	/* Never written: a zero byte inside `used` is damage. */
	FG_RECORD_END = 0,
	/* frame, module, offset, flags (enum fg_frame_flags) */
	FG_RECORD_FRAME = 1,
	/* node, parent node, frame[, frames left out] */
	FG_RECORD_NODE = 2,
	/*
	 * module, time first seen, start, end, bias, enum fg_module_flags, text build-id (raw
	 * bytes, may be empty), text path (in brackets: no file; relative only if the process's
	 * folder was unknown)
	 */
	FG_RECORD_MODULE = 3,
	/* module, time */
	FG_RECORD_MODULE_GONE = 4,
	/* module, time */
	FG_RECORD_MODULE_BACK = 5,
	/*
	 * thread, tid, time, enum fg_thread_kind, enum fg_trace_clock in use for it (0: could not
	 * be sampled).  Makes the thread current in this chunk
	 */
	FG_RECORD_THREAD_BEGIN = 6,
	/*
	 * thread, time, user ns and system ns as the kernel counted them, user ns and system ns
	 * carried by its samples
	 */
	FG_RECORD_THREAD_END = 7,
	/* thread, text */
	FG_RECORD_THREAD_NAME = 8,
	/* name, text: names of regions and of kinds of unit */
	FG_RECORD_NAME = 9,
	/* region, parent region (0: outermost), name */
	FG_RECORD_REGION = 10,
	/* region (0: none): current from here on in this chunk */
	FG_RECORD_REGION_SET = 11,
	/* thread, name, number of the unit, time */
	FG_RECORD_UNIT_BEGIN = 12,
	/* as FG_RECORD_UNIT_BEGIN */
	FG_RECORD_UNIT_END = 13,
	/* text: path of the program */
	FG_RECORD_EXE = 14,
	/* text: argv, a NUL after each; may be cut at FG_TRACE_TEXT_MAX */
	FG_RECORD_COMMAND = 15,
	/* 0 or 1, time: sampling was turned off or on for the process */
	FG_RECORD_SAMPLING = 16,
	/* text: one line for the user, e.g. why a better clock was refused */
	FG_RECORD_NOTE = 17,
	/* thread, region, times entered, ns inside (inclusive); when the thread ends */
	FG_RECORD_REGION_TIMES = 18,
	/* measure, text: its name, such as "heap.bytes"; "": unknown */
	FG_RECORD_MEASURE = 19,
	/*
	 * thread (0: not known), region (0: none), node (0: no stack), then to the end of the
	 * record measure, value. Values with the same four ids are combined by the measure's fold
	 */
	FG_RECORD_COUNTS = 20,
	/*
	 * state (numbered from 1), then as FG_RECORD_COUNTS: the amounts held at that time. A state
	 * replaces the previous state
	 */
	FG_RECORD_HELD = 21,
	/* state, time, bytes held, largest number of bytes held so far: the state is complete */
	FG_RECORD_HELD_END = 22,
	/* thread, region, begin, end: a visit of FG_SPAN_MIN_NS or longer; inner visits first */
	FG_RECORD_REGION_SPAN = 23,
	/*
	 * state, 1 (near the peak of the heap) or 2 (at the end), time, bytes of the heap held
	 * then, resident bytes, text name: all mappings with this name together
	 */
	FG_RECORD_RESIDENT = 42,
	/*
	 * The outcome of a pattern of functions to count: 1 if it reached a function, or 0; number
	 * of imports that are bound later to a function that is not certain; text pattern; text
	 * library ("": any); 1 with a text (an object that exports such a function), or 0; 1 if
	 * arguments were requested of a function whose signature is unknown; 1 if durations were
	 * requested of calls that cannot be timed; and 1 if overloads are only counted, because
	 * their parameters differ from the signature
	 */
	FG_RECORD_PATTERN = 30,
	/* measure, text: the signature of a counted function, "double(double,int)" */
	FG_RECORD_SIGNATURE = 31,
	/*
	 * thread (0: not known), region (0: none), node (0: no stack), measure, argument (from 0),
	 * then its statistics: values, zeros, negatives, denormals, infinities, NaNs, repeats of
	 * the previous value; the minimum, maximum and sum of the finite values (bits of a double);
	 * then to the end of the record bin, number of values. Records with the same five ids add
	 * up
	 */
	FG_RECORD_DOMAIN = 32,
	/*
	 * thread (0: not known), region (0: none), node (0: no stack), measure of its calls, then
	 * of the calls that returned: number, total ns, ns without nested timed calls, ns of the
	 * shortest, ns of the longest; then to the end of the record bin, number of calls. Records
	 * with the same four ids add up
	 */
	FG_RECORD_CALL_TIMES = 50,
	/* measure of calls, how they are counted: the sum of enum fg_call_way */
	FG_RECORD_CALL_WAYS = 51,
	/*
	 * thread (0: not known), region (0: none), node (0: no stack), measure of its calls,
	 * columns (arguments), rows (calls, or lanes of vector functions' calls), then a text with
	 * all values, row after row, as bits of a double. Each value is stored as its difference
	 * (exclusive or) from the value above it, or from 0 in the first row. A byte precedes each
	 * difference: the high half is the number of lowest bytes that are zero, the low half the
	 * number of bytes that follow, lowest first; all further bytes are zero
	 */
	FG_RECORD_CALL_VALUES = 52,
	/*
	 * Functions counted or refused at their entries: the reason (enum fg_entry_refusal of
	 * entry_plan.h; 0: they are counted), their number, then to the end of the record texts,
	 * the names of some of them
	 */
	FG_RECORD_ENTRIES = 53,
	/*
	 * as FG_RECORD_DOMAIN: the statistics so far. The last record with the same five ids is
	 * valid if the process was killed before it wrote an FG_RECORD_DOMAIN with them
	 */
	FG_RECORD_DOMAIN_SO_FAR = 54,
	/* module, start, size, text: the name of these addresses of a module without a file */
	FG_RECORD_SYMBOL = 60,
	/* module: a Python interpreter whose frames are read; its version (PY_VERSION_HEX) */
	FG_RECORD_PYTHON = 70,
	/* code, its first line, text qualified name, text file: a Python function */
	FG_RECORD_PYTHON_CODE = 71,
	/*
	 * code, position, text: the bytes of the code's line table from this position on
	 * (co_linetable, whose format Python's documentation describes)
	 */
	FG_RECORD_PYTHON_LINES = 72,
	/*
	 * frame, code, instruction: a Python frame, numbered like the frames of FG_RECORD_FRAME.
	 * Instructions are counted from 1, two bytes each; 0: before the first
	 */
	FG_RECORD_PYTHON_FRAME = 73,
};

/* Bits for the ways to count a function's calls; functions of one name may have several bits. */
enum fg_call_way {
	FG_CALL_WAY_IMPORT = 0, /* a slot of the dynamic linker */
	FG_CALL_WAY_HOOKS = 1,  /* the hooks of -finstrument-functions */
	FG_CALL_WAY_FENTRY = 2, /* the hook of -pg -mfentry */
	FG_CALL_WAY_ENTRY = 4,  /* a jump in place of the function's first instructions */
};

#define FG_VALUES_COLUMNS_MAX 4u

/*
 * Bins of a duration: one for each nanosecond below 4, then four of equal width for every doubling,
 * so that bin i starts at (4 + i % 4) * 2^(i / 4 - 1) ns. The last bin, from 2^40 ns, is open.
 */
#define FG_CALL_TIME_BINS 157u

static inline unsigned fg_call_time_bin(uint64_t ns)
{
	unsigned shift = 0;

	if (ns < 4)
		return (unsigned)ns;
	shift = 61 - (unsigned)__builtin_clzll(ns);

	const unsigned bin = 4 * (shift + 1) + (unsigned)(ns >> shift & 3u);

	return bin < FG_CALL_TIME_BINS ? bin : FG_CALL_TIME_BINS - 1;
}

static inline uint64_t fg_call_time_bin_start(unsigned bin)
{
	return bin < 4 ? bin : (UINT64_C(4) + bin % 4) << (bin / 4 - 1);
}

/*
 * Bins of an argument's exponent: bin 32 holds magnitudes from 1 to below 2, and every bin starts
 * at twice the start of the previous bin; the first and the last bin are open. Zeros, infinities
 * and NaNs are in no bin.
 */
#define FG_DOMAIN_BINS 64u

enum fg_frame_flags {
	FG_FRAME_EXACT = 1,
};

enum fg_module_flags {
	FG_MODULE_MAIN = 1, /* the program itself */
	FG_MODULE_VDSO = 2, /* the vDSO, which has no file */
	FG_MODULE_COLLECTOR = 4,
	FG_MODULE_KERNEL = 8, /* the kernel or a module of it; FG_RECORD_SYMBOL has names */
};

enum fg_thread_kind {
	FG_THREAD_MAIN = 1,
	FG_THREAD_PTHREAD = 2,
};

/*
 * Counters of fg_trace_header.losses: samples that were due but not taken, or whose stack is
 * missing or incomplete; stray signals; threads without a clock; modules without room in the table.
 */
enum fg_trace_loss {
	/* The file is full. */
	FG_LOSS_NO_ROOM = 0,
	/* The table of call paths is full; the sample is kept, without a stack. */
	FG_LOSS_PATHS_FULL = 1,
	/* No frame could be read; the sample is kept, without a stack. */
	FG_LOSS_NO_STACK = 2,
	/* The stack ends early; the sample is kept, flagged. */
	FG_LOSS_TRUNCATED = 3,
	/* A signal of ours whose sender could not be determined. */
	FG_LOSS_STRAY = 5,
	/* Threads without a clock. */
	FG_LOSS_NO_CLOCK = 6,
	/* The stack is deeper than FG_TRACE_FRAMES_MAX; the sample is kept, cut in the middle. */
	FG_LOSS_DEEP = 7,
	/* The signal arrived inside the collector's own code. */
	FG_LOSS_REENTERED = 8,
	FG_LOSS_MODULES_FULL = 9,
	/* The signal stack was too small for a walk; the sample is kept, flagged truncated. */
	FG_LOSS_SMALL_STACK = 10,
	FG_LOSS_COUNT = 16,
};

/* The end of a process image, as far as the collector knows. */
enum fg_trace_end {
	/* Killed, or an _exit that was not seen: use the totals of the parent's wait. */
	FG_END_UNKNOWN = 0,
	FG_END_EXIT = 1,
	FG_END_EXEC = 2,
};

enum fg_trace_state {
	FG_STATE_STARTING = 0,
	FG_STATE_ACTIVE = 1, /* samples were possible */
};

/*
 * The first page. Identity and decisions are written once; counters are updated in place while the
 * process lives, each atomically. Unused bytes up to FG_TRACE_HEADER_SIZE are zero and reserved.
 */
struct fg_trace_header {
	char magic[8];
	uint32_t version;
	uint32_t header_size;
	uint32_t header_crc; /* crc32c of the bytes from word_bits to before allocated */
	uint32_t state;      /* enum fg_trace_state */

	uint32_t word_bits;   /* 32 or 64 */
	uint32_t elf_machine; /* EM_X86_64, ... */
	uint32_t pid;
	uint32_t ppid;
	uint64_t image; /* number of the exec in this pid, from 0, as in the file name */
	uint64_t start_realtime_ns; /* CLOCK_REALTIME and CLOCK_MONOTONIC at one instant */
	uint64_t start_monotonic_ns;
	/* field 22 of /proc/self/stat: identifies the process together with pid; 0: unknown */
	uint64_t process_start_ticks;
	uint32_t mode;       /* enum fg_trace_mode */
	uint32_t clock_user; /* enum fg_trace_clock chosen for user time, or for all samples */
	/* enum fg_trace_clock chosen for system time; 0: contained in clock_user, or unseen */
	uint32_t clock_system;
	uint32_t perf_errno; /* reason (errno) why perf was refused; 0: it was not refused */
	uint64_t period_ns;  /* first period, and the weight of a sample that carries no weight */
	uint64_t tick_ns;    /* time between kernel ticks; 0: ticks do not find system time */
	uint64_t capacity;   /* bytes that the file may use */

	/* bytes allocated, header included; may exceed the file's length if the file was cut */
	uint64_t allocated;
	uint64_t samples; /* in the file */
	/* sums of weights, by kind of time; wall samples count only in wall_ns */
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t wall_ns;
	uint64_t losses[FG_LOSS_COUNT];
	/* elapsed time in handlers; a handler longer than 0.3 ms counts as 0.3 ms */
	uint64_t handler_ns;
	uint64_t handler_max_ns;      /* the longest handler */
	uint64_t handler_late_max_ns; /* the longest handler after the first second */
	uint64_t frames;              /* frames walked */
	uint64_t frames_reused;       /* frames taken over from the previous stack, verified */
	uint64_t frames_slow;         /* rules that were computed from unwind tables */
	uint32_t kernel_frames;       /* frames of the kernel that still need names */
	/* reason (errno) why the kernel's functions could not be seen; 0: they were visible */
	uint32_t kernel_errno;
	uint64_t startup_ns; /* the collector's own CPU time before main */
	uint64_t threads;
	/* system calls that our signal interrupted and that were restarted */
	uint64_t restarts;
	uint64_t forwarded; /* the program's own signals, passed on to it */
	uint64_t end;       /* enum fg_trace_end, written after the other end_ members */
	uint64_t end_monotonic_ns;
	uint64_t end_user_ns; /* rusage of the process at its end */
	uint64_t end_system_ns;
	uint64_t handler_late[FG_HANDLER_BUCKETS]; /* handlers after the first second, by length */
	/* latest measured cost of an interrupt with its signal, in CPU time; 0: not measured */
	uint64_t signal_ns;
	/* latest measured extra cost of a context switch, in CPU time; 0: not measured */
	uint64_t switch_ns;
	uint64_t end_switches;  /* context switches of the process until its end */
	uint64_t python_stacks; /* samples with Python frames */
	uint64_t python_missed; /* samples in Python whose frames could not be read */
	/* extra samples: each is a part of the system time of the previous sample */
	uint64_t parts;
	/* part of system_ns that perf events of the kernel sampled, independently of its ticks */
	uint64_t kernel_ns;
	/*
	 * interrupts of the kernel's perf events, without a signal: an event has its own period,
	 * and most interrupts find the program in user mode, where they leave nothing
	 */
	uint64_t kernel_interrupts;
	/* latest measured CPU time of a handler; 0: not measured */
	uint64_t handler_cpu_ns;
	/* share of the CPU time, in millionths, to which the period is adapted; 0: fixed period */
	uint64_t budget;
};

/*
 * Bucket 0 of handler_late counts handlers below 1024 ns; then every doubling has four buckets of
 * equal width, so that bucket i starts at (4 + (i - 1) % 4) * 2^(8 + (i - 1) / 4) ns. The last
 * bucket is open.
 */
static inline unsigned fg_handler_bucket(uint64_t ns)
{
	unsigned octave = 0;

	if (ns < 1024)
		return 0;
	while (ns >> (octave + 11))
		octave++;
	const unsigned bucket = 1 + 4 * octave + (unsigned)((ns >> (octave + 8)) & 3u);

	return bucket < FG_HANDLER_BUCKETS ? bucket : FG_HANDLER_BUCKETS - 1;
}

/*
 * Returns the cost of sampling that does not depend on samples, per process. `startup_ns` is the
 * cost of the constructor; loading and unloading the library cost about half as much again.
 */
static inline uint64_t fg_trace_start_ns(const struct fg_trace_header *header)
{
	return header->startup_ns + header->startup_ns / 2;
}

enum fg_trace_mode {
	FG_MODE_CPU = 0,
	FG_MODE_WALL = 1,
};

struct fg_trace_chunk {
	uint32_t magic;
	uint32_t size; /* bytes of the chunk, with this header */
	/* 0, 1, ... in order of allocation; a gap is a chunk that was never written */
	uint32_t sequence;
	uint32_t thread; /* current thread at the chunk's start */
	uint32_t region; /* current region at the chunk's start */
	/* crc32c of the other fields of this header, without commit */
	uint32_t header_crc;
	uint64_t base_time_ns; /* CLOCK_MONOTONIC */
	/*
	 * low half: payload bytes used; high half: crc32c of these bytes; written by one 64-bit
	 * store
	 */
	uint64_t commit;
};

/*
 * Counters that the program updates in place, so that they survive a kill. A table is a struct
 * fg_trace_chunk with FG_TRACE_TABLE_MAGIC and a commit of 0, a struct fg_trace_table, and the
 * rows. Only the chunk's header has a checksum.
 */
enum fg_trace_table_kind {
	/* struct fg_trace_counts_row: counts to be added to the values of FG_RECORD_COUNTS */
	FG_TABLE_COUNTS = 1,
	/* FG_TRACE_SITE_MEMBERS: the things held, valid if the process was killed */
	FG_TABLE_SITES = 2,
	/* struct fg_trace_calls_row: calls to be added to the values of FG_RECORD_COUNTS */
	FG_TABLE_CALLS = 3,
};

#define FG_TRACE_COUNT_KINDS 8u
#define FG_TRACE_HELD_WHAT   2u /* heap, descriptors */

struct fg_trace_table {
	uint32_t kind;
	uint32_t stride; /* bytes of a row */
	uint32_t rows;   /* 0: nothing here is valid */
	uint32_t thread; /* thread of counts and calls; 0: not known */
	/* tables of counts: first measure; tables of sites: measure FG_HELD_LIVE of the heap */
	uint32_t measure;
	uint32_t epochs[FG_TRACE_HELD_WHAT]; /* current epochs, in one table of sites; else 0 */
};

struct fg_trace_counts_row {
	uint32_t path;
	uint32_t region;
	uint32_t number; /* only for the collector, like `own` */
	uint32_t unused;
	uint64_t values[FG_TRACE_COUNT_KINDS]; /* values of consecutive measures */
	uint32_t own;
	uint32_t unused2;
};

struct fg_trace_calls_row {
	uint32_t path;
	uint32_t region;
	uint32_t number; /* only for the collector, like `domains` */
	uint32_t domains;
	uint64_t calls;
	uint32_t measure;
	uint32_t unused;
};

/* Measures of held memory and descriptors, FG_HELD_KINDS for each of the two, in this order. */
enum fg_held_kind {
	FG_HELD_LIVE,
	FG_HELD_LIVE_BLOCKS,
	FG_HELD_PEAK,
	FG_HELD_OWN_PEAK,
	FG_HELD_TEMPORARY,
	FG_HELD_LEAKED,
	FG_HELD_LEAKED_BLOCKS,
	FG_HELD_UNTOUCHED,
	FG_HELD_KINDS,
};

/*
 * A row for a call path that holds memory or descriptors; its words are as wide as the program's.
 * At the peak of the process the path held `at_peak` if `epoch` is the table's current epoch; if
 * not, it held the current amount.
 */
#define FG_TRACE_SITE_MEMBERS(word, number) \
 word bytes;                                \
 word blocks;                               \
 word most;                                 \
 word at_peak;                              \
 word returned_bytes;                       \
 word returned_blocks;                      \
 word untouched;                            \
 number epoch;                              \
 number temporary;                          \
 uint32_t what;                             \
 uint32_t thread;                           \
 uint32_t region;                           \
 uint32_t path;

#define FG_TRACE_COMMIT(used, crc) ((uint64_t)(used) | ((uint64_t)(crc) << 32))
#define FG_TRACE_COMMIT_USED(word) ((uint32_t)(word))
#define FG_TRACE_COMMIT_CRC(word)  ((uint32_t)((word) >> 32))

/*
 * crc32c is the Castagnoli polynomial, reflected (0x82f63b78), initial value and final xor
 * 0xffffffff: the crc32c of "123456789" is 0xe3069283.
 */

#endif
