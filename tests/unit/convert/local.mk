# No library but libbase's: what libconvert needs from elsewhere fails these links.
check_PROGRAMS += unit-splice unit-usage-figures unit-chat-event unit-error-body
TESTS += unit-splice unit-usage-figures unit-chat-event unit-error-body

unit_splice_SOURCES = tests/unit/convert/splice.c
unit_splice_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_splice_LDADD = libconvert.a $(BASE_LIBS) $(CMOCKA_LIBS)

unit_usage_figures_SOURCES = tests/unit/convert/usage_figures.c
unit_usage_figures_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_usage_figures_LDADD = libconvert.a $(BASE_LIBS) $(CMOCKA_LIBS)

unit_chat_event_SOURCES = tests/unit/convert/chat_event.c
unit_chat_event_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_chat_event_LDADD = libconvert.a $(BASE_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += unit-responses-event
TESTS += unit-responses-event
unit_responses_event_SOURCES = tests/unit/convert/responses_event.c
unit_responses_event_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_responses_event_LDADD = libconvert.a $(BASE_LIBS) $(CMOCKA_LIBS)

unit_error_body_SOURCES = tests/unit/convert/error_body.c
unit_error_body_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_error_body_LDADD = libconvert.a $(BASE_LIBS) $(CMOCKA_LIBS)

# The converters behind a pipe, for tests/convert.
check_PROGRAMS += convert-tool
convert_tool_SOURCES = tests/unit/convert/convert_tool.c
convert_tool_LDADD = libconvert.a $(BASE_LIBS)
