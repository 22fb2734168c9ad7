// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The page, as part of the program. WEB_DIR is this folder. */
#include "web/web.h"

#define EMBED(name, file)					\
	__asm__(".section .rodata\n"				\
		".global web_" #name "\nweb_" #name ":\n"	\
		".incbin \"" WEB_DIR "/" file "\"\n"		\
		".global web_" #name "_end\nweb_" #name "_end:\n" \
		".byte 0\n.previous\n");			\
	extern const char web_##name[], web_##name##_end[]

EMBED(html, "page.html");
EMBED(js, "page.js");
EMBED(css, "page.css");

const struct web_file web_files[] = {
	{ "/", "text/html; charset=utf-8", web_html, web_html_end },
	{ "/page.js", "text/javascript; charset=utf-8", web_js, web_js_end },
	{ "/page.css", "text/css; charset=utf-8", web_css, web_css_end },
	{ NULL, NULL, NULL, NULL }
};
