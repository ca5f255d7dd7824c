// SPDX-License-Identifier: Apache-2.0
void back(void);
void chain(void);
void chain(void)
{
	volatile char frame[FRAME];
	frame[0] = 1;
	back();
	frame[1] = frame[0];
}
