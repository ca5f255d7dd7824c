// SPDX-License-Identifier: Apache-2.0
// Throws known numbers of exceptions of known types, in known functions.  usage: throws [plain | fork]
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#define FAR_FROM_OPTIMISED __attribute__((noinline))

struct lost_track {
	int number;
};

static int caught;

FAR_FROM_OPTIMISED void throw_numbers(int times)
{
	for (int i = 0; i < times; i++) {
		try {
			throw i;
		} catch (int) {
			caught++;
		}
	}
}

FAR_FROM_OPTIMISED void throw_errors(int times)
{
	for (int i = 0; i < times; i++) {
		try {
			throw std::runtime_error("lost");
		} catch (const std::exception &) {
			caught++;
		}
	}
}

// The exception is thrown once, and rethrown by a caller.
FAR_FROM_OPTIMISED void throw_again(int times)
{
	for (int i = 0; i < times; i++) {
		try {
			try {
				throw lost_track{i};
			} catch (const lost_track &) {
				throw;
			}
		} catch (const lost_track &) {
			caught++;
		}
	}
}

// An exception from within the library.
FAR_FROM_OPTIMISED void look_beyond(int times)
{
	std::vector<int> empty;

	for (int i = 0; i < times; i++) {
		try {
			caught += empty.at(1);
		} catch (const std::out_of_range &) {
			caught++;
		}
	}
}

int main(int argc, char **argv)
{
	throw_numbers(300);
	throw_errors(40);
	throw_again(5);
	look_beyond(2);
	std::thread other([] { throw_errors(60); });
	other.join();
	if (argc > 1 && std::strcmp(argv[1], "fork") == 0) {
		const pid_t child = fork();

		if (child == 0) {
			throw_errors(7);
			std::exit(0);
		}
		(void)waitpid(child, nullptr, 0);
	}
	return caught == 407 ? 0 : 1;
}
