// SPDX-License-Identifier: Apache-2.0
#pragma once
namespace text
{
struct Parser {
	template <class T> T take(T);
	void parse(int);
	void parse(double);
	Parser();
};
extern template int Parser::take<int>(int);
} // namespace text
