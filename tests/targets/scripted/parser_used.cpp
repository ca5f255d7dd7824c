// SPDX-License-Identifier: Apache-2.0
#include "parser.h"
int main()
{
	text::Parser p;
	for (int i = 0; i < 3; i++)
		p.parse(i);
	p.parse(1.5);
	return p.take<int>(0);
}
