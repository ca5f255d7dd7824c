// SPDX-License-Identifier: Apache-2.0
#include "parser.h"
namespace text
{
Parser::Parser()
{
}
void Parser::parse(int)
{
}
void Parser::parse(double)
{
}
template <class T> T Parser::take(T t)
{
	return t;
}
template int Parser::take<int>(int);
} // namespace text
