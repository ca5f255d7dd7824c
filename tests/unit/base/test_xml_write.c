// SPDX-License-Identifier: Apache-2.0
#include "base/xml_write.h"
#include "tests/support/fg_test.h"

FG_TEST(elements_attributes_and_text_are_written)
{
	struct fg_strbuf text = {0};
	struct fg_xml_writer w;

	fg_xml_writer_init(&w, &text);
	fg_xml_begin(&w, "suite");
	fg_xml_attribute(&w, "name", "a<b>&\"c\"");
	fg_xml_attribute_printf(&w, "n", "%d", 3);
	fg_xml_begin(&w, "case");
	fg_xml_end(&w);
	fg_xml_begin(&w, "failure");
	fg_xml_text(&w, "x < y & z");
	fg_xml_end(&w);
	fg_xml_end(&w);
	assert_string_equal(text.data,
			    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			    "<suite name=\"a&lt;b&gt;&amp;&quot;c&quot;\" n=\"3\">\n  <case/>\n"
			    "  <failure>x &lt; y &amp; z</failure>\n</suite>\n");
	fg_strbuf_release(&text);
}

FG_TEST(characters_that_xml_cannot_carry_are_replaced)
{
	struct fg_strbuf text = {0};
	struct fg_xml_writer w;

	fg_xml_writer_init(&w, &text);
	fg_xml_begin(&w, "a");
	fg_xml_text(&w, "1\x01"
			"2\xff"
			"3\xef\xbf\xbf"
			"4\n5\t6]]>");
	fg_xml_end(&w);
	assert_non_null(strstr(text.data, "<a>1\xef\xbf\xbd"
					  "2\xef\xbf\xbd"
					  "3\xef\xbf\xbd"
					  "4\n5\t6]]&gt;</a>"));
	fg_strbuf_release(&text);
}
