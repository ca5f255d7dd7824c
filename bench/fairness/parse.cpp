// SPDX-License-Identifier: Apache-2.0
#include "tinyxml2.h"

#include <string>
int main()
{
	std::string text = "<all>";
	for (int i = 0; i < 4000; i++)
		text += "<item name='n" + std::to_string(i) + "'><part>some text</part></item>";
	text += "</all>";
	for (int i = 0; i < 20; i++) {
		tinyxml2::XMLDocument document;
		if (document.Parse(text.c_str()) != tinyxml2::XML_SUCCESS)
			return 1;
	}
	return 0;
}
