// SPDX-License-Identifier: Apache-2.0
/*
 * Only the first bytes, the program headers and the dynamic string table are looked at; every
 * offset is checked against the file's size before it is used, for the file is anybody's.
 */
#include "runner/program_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	HEADERS_MAX = 1024,
	DYNAMIC_MAX = 4096
};

struct file {
	const uint8_t *bytes;
	uint64_t size;
	bool wide; /* 64-bit */
};

/* The two widths have the same fields in different places; this is what is needed of them. */
struct segment {
	uint32_t type;
	uint64_t offset;
	uint64_t address;
	uint64_t size;
};

static bool has(const struct file *file, uint64_t offset, uint64_t size)
{
	return size <= file->size && offset <= file->size - size;
}

static bool read_segment(const struct file *file, uint64_t at, struct segment *segment)
{
	if (file->wide) {
		Elf64_Phdr header;

		if (!has(file, at, sizeof(header)))
			return false;
		memcpy(&header, file->bytes + at, sizeof(header));
		*segment = (struct segment){header.p_type, header.p_offset, header.p_vaddr,
					    header.p_filesz};
	} else {
		Elf32_Phdr header;

		if (!has(file, at, sizeof(header)))
			return false;
		memcpy(&header, file->bytes + at, sizeof(header));
		*segment = (struct segment){header.p_type, header.p_offset, header.p_vaddr,
					    header.p_filesz};
	}
	return true;
}

struct headers {
	uint64_t offset;
	uint64_t entry_size;
	unsigned count;
};

static bool find_segment(const struct file *file, const struct headers *headers, uint32_t type,
			 uint64_t address, struct segment *segment)
{
	for (unsigned i = 0; i < headers->count && i < HEADERS_MAX; i++) {
		if (!read_segment(file, headers->offset + i * headers->entry_size, segment))
			return false;
		if (segment->type == type &&
		    (type != PT_LOAD ||
		     (address >= segment->address && address - segment->address < segment->size)))
			return true;
	}
	return false;
}

static bool read_dynamic(const struct file *file, const struct segment *dynamic, int64_t tag,
			 uint64_t *value)
{
	const uint64_t entry_size = file->wide ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);

	for (uint64_t i = 0; i < DYNAMIC_MAX && (i + 1) * entry_size <= dynamic->size; i++) {
		const uint64_t at = dynamic->offset + i * entry_size;
		Elf64_Dyn entry = {0};

		if (!has(file, at, entry_size))
			return false;
		if (file->wide) {
			memcpy(&entry, file->bytes + at, sizeof(entry));
		} else {
			Elf32_Dyn narrow;

			memcpy(&narrow, file->bytes + at, sizeof(narrow));
			entry.d_tag = narrow.d_tag;
			entry.d_un.d_val = narrow.d_un.d_val;
		}
		if (entry.d_tag == DT_NULL)
			return false;
		if (entry.d_tag == tag) {
			*value = entry.d_un.d_val;
			return true;
		}
	}
	return false;
}

/*
 * Names of needed libraries and of exported functions lie in one table; a sanitizer is in there by
 * either.
 */
static const char *find_sanitizer(const struct file *file, const struct headers *headers)
{
	static const struct {
		const char *trace;
		const char *name;
	} known[] = {
		{"__asan_init", "AddressSanitizer"}, {"libasan.so", "AddressSanitizer"},
		{"__tsan_init", "ThreadSanitizer"},  {"libtsan.so", "ThreadSanitizer"},
		{"__msan_init", "MemorySanitizer"},
	};
	struct segment dynamic;
	struct segment load;
	uint64_t address;
	uint64_t size;

	if (!find_segment(file, headers, PT_DYNAMIC, 0, &dynamic) ||
	    !read_dynamic(file, &dynamic, DT_STRTAB, &address) ||
	    !read_dynamic(file, &dynamic, DT_STRSZ, &size) ||
	    !find_segment(file, headers, PT_LOAD, address, &load))
		return NULL;
	const uint64_t at = load.offset + (address - load.address);

	if (!has(file, at, size))
		return NULL;
	for (size_t i = 0; i < FG_ARRAY_SIZE(known); i++)
		if (memmem(file->bytes + at, size, known[i].trace, strlen(known[i].trace)))
			return known[i].name;
	return NULL;
}

static void read_loader(const struct file *file, const struct segment *segment,
			struct fg_program_file *program)
{
	if (segment->size < sizeof(program->loader) && has(file, segment->offset, segment->size))
		memcpy(program->loader, file->bytes + segment->offset, segment->size);
}

static void read_headers(const struct file *file, struct fg_program_file *program)
{
	struct headers headers = {0};
	struct segment segment;

	if (file->wide) {
		Elf64_Ehdr header;

		memcpy(&header, file->bytes, sizeof(header));
		headers = (struct headers){header.e_phoff, header.e_phentsize, header.e_phnum};
		program->machine = header.e_machine;
	} else {
		Elf32_Ehdr header;

		memcpy(&header, file->bytes, sizeof(header));
		headers = (struct headers){header.e_phoff, header.e_phentsize, header.e_phnum};
		program->machine = header.e_machine;
	}
	program->is_elf = true;
	program->is_dynamic = find_segment(file, &headers, PT_INTERP, 0, &segment);
	if (!program->is_dynamic)
		return;
	read_loader(file, &segment, program);
	program->sanitizer = find_sanitizer(file, &headers);
}

static void read_script(const struct file *file, struct fg_program_file *program)
{
	uint64_t at = 2;
	size_t size = 0;

	while (at < file->size && (file->bytes[at] == ' ' || file->bytes[at] == '\t'))
		at++;
	while (at < file->size && size + 1 < sizeof(program->interpreter) && file->bytes[at] > ' ')
		program->interpreter[size++] = (char)file->bytes[at++];
	program->interpreter[size] = '\0';
}

static void look_at(struct file *file, struct fg_program_file *program)
{
	if (file->size >= 2 && memcmp(file->bytes, "#!", 2) == 0) {
		read_script(file, program);
		return;
	}
	if (file->size < sizeof(Elf64_Ehdr) || memcmp(file->bytes, ELFMAG, SELFMAG) != 0 ||
	    file->bytes[EI_DATA] != ELFDATA2LSB)
		return;
	file->wide = file->bytes[EI_CLASS] == ELFCLASS64;
	read_headers(file, program);
}

int fg_program_file_read(const char *path, struct fg_program_file *program, struct fg_error *err)
{
	struct file file = {0};
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int result = FG_OK;
	void *bytes = MAP_FAILED;

	*program = (struct fg_program_file){0};
	if (fd < 0) {
		/*
		 * A program may be executable and not readable; then nothing can be said about it.
		 */
		return errno == EACCES ? FG_OK : fg_error_errno(err, FG_EIO, "%s", path);
	}
	if (fstat(fd, &status) != 0) {
		result = fg_error_errno(err, FG_EIO, "%s", path);
		goto out;
	}
	if (status.st_size == 0)
		goto out;
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED) {
		result = fg_error_errno(err, FG_EIO, "%s", path);
		goto out;
	}
	file.bytes = bytes;
	file.size = (uint64_t)status.st_size;
	look_at(&file, program);
out:
	if (bytes != MAP_FAILED)
		(void)munmap(bytes, (size_t)status.st_size);
	(void)close(fd);
	return result;
}
