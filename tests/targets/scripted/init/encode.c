// SPDX-License-Identifier: Apache-2.0
/* Accepts a WAV file whose header agrees with its size. */
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
	char header[44];
	static char data[1 << 20];
	unsigned sum = 0;
	unsigned size = 0;

	if (!file || fread(header, 1, 44, file) != 44 || memcmp(header, "RIFF", 4) ||
	    memcmp(header + 8, "WAVEfmt ", 8) || memcmp(header + 36, "data", 4))
		return fputs("usage: encode FILE.wav\n", stderr), 1;
	memcpy(&size, header + 40, 4);
	if (fread(data, 1, sizeof(data), file) != size || fgetc(file) != EOF)
		return 2;
	for (int i = 0; i < 60 << 20; i++)
		sum = sum * 31 + (unsigned char)data[i % size];
	return printf("%u\n", sum) < 0;
}
