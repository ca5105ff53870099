# One driver per parser with a corpus that is replayed in every run:
#   check_PROGRAMS += fuzz-NAME
#   fuzz_NAME_SOURCES = tests/fuzz/NAME.c $(FUZZ_SOURCES)
#   fuzz_NAME_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_NAME='"NAME"'
#   fuzz_NAME_LDADD = $(COMMON_LIBS) $(FUZZ_LIBS)
#   TESTS += fuzz-NAME
# With --enable-fuzzer libFuzzer takes the place of replay.c (tests/run fuzz).
if LIBFUZZER
FUZZ_SOURCES = tests/fuzz/fuzz.h
else
FUZZ_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz.h
endif

check_PROGRAMS += fuzz-json
fuzz_json_SOURCES = tests/fuzz/json.c $(FUZZ_SOURCES)
fuzz_json_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_NAME='"json"'
fuzz_json_LDADD = $(BASE_LIBS) $(FUZZ_LIBS)
TESTS += fuzz-json

check_PROGRAMS += fuzz-units
fuzz_units_SOURCES = tests/fuzz/units.c $(FUZZ_SOURCES)
fuzz_units_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_NAME='"units"'
fuzz_units_LDADD = $(COMMON_LIBS) $(FUZZ_LIBS)
TESTS += fuzz-units

check_PROGRAMS += fuzz-sse
fuzz_sse_SOURCES = tests/fuzz/sse.c $(FUZZ_SOURCES)
fuzz_sse_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_NAME='"sse"'
fuzz_sse_LDADD = libgateway.a $(BASE_LIBS) $(FUZZ_LIBS)
TESTS += fuzz-sse

check_PROGRAMS += fuzz-chat_event
fuzz_chat_event_SOURCES = tests/fuzz/chat_event.c $(FUZZ_SOURCES)
fuzz_chat_event_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_NAME='"chat_event"'
fuzz_chat_event_LDADD = libconvert.a $(BASE_LIBS) $(FUZZ_LIBS)
TESTS += fuzz-chat_event

check_PROGRAMS += fuzz-convert
fuzz_convert_SOURCES = tests/fuzz/convert.c tests/unit/convert/sample.h $(FUZZ_SOURCES)
fuzz_convert_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_NAME='"convert"'
fuzz_convert_LDADD = libconvert.a $(BASE_LIBS) $(FUZZ_LIBS)
TESTS += fuzz-convert
EXTRA_DIST += \
	tests/fuzz/corpus/convert/chat_answer \
	tests/fuzz/corpus/convert/chat_request \
	tests/fuzz/corpus/convert/chat_stream \
	tests/fuzz/corpus/convert/gemini_answer \
	tests/fuzz/corpus/convert/gemini_request \
	tests/fuzz/corpus/convert/gemini_stream \
	tests/fuzz/corpus/convert/messages_answer \
	tests/fuzz/corpus/convert/messages_request \
	tests/fuzz/corpus/convert/messages_stream \
	tests/fuzz/corpus/convert/responses_answer \
	tests/fuzz/corpus/convert/responses_request \
	tests/fuzz/corpus/convert/responses_stream

check_PROGRAMS += fuzz-bpe
fuzz_bpe_SOURCES = tests/fuzz/bpe.c $(FUZZ_SOURCES)
fuzz_bpe_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_NAME='"bpe"'
fuzz_bpe_LDADD = $(COUNT_LIBS) $(FUZZ_LIBS)
TESTS += fuzz-bpe

check_PROGRAMS += fuzz-price
fuzz_price_SOURCES = tests/fuzz/price.c $(FUZZ_SOURCES)
fuzz_price_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_NAME='"price"'
fuzz_price_LDADD = $(COMMON_LIBS) $(FUZZ_LIBS)
TESTS += fuzz-price

check_PROGRAMS += fuzz-usage
fuzz_usage_SOURCES = tests/fuzz/usage.c $(FUZZ_SOURCES)
fuzz_usage_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_NAME='"usage"'
fuzz_usage_LDADD = libconvert.a $(BASE_LIBS) $(FUZZ_LIBS)
TESTS += fuzz-usage

check_PROGRAMS += fuzz-fcgi
fuzz_fcgi_SOURCES = tests/fuzz/fcgi.c $(FUZZ_SOURCES)
fuzz_fcgi_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_NAME='"fcgi"'
fuzz_fcgi_LDADD = $(COMMON_LIBS) $(FUZZ_LIBS)
TESTS += fuzz-fcgi

check_PROGRAMS += fuzz-url
fuzz_url_SOURCES = tests/fuzz/url.c $(FUZZ_SOURCES)
fuzz_url_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_NAME='"url"'
fuzz_url_LDADD = $(COMMON_LIBS) $(FUZZ_LIBS)
TESTS += fuzz-url

check_PROGRAMS += fuzz-headers
fuzz_headers_SOURCES = tests/fuzz/headers.c $(FUZZ_SOURCES)
fuzz_headers_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_NAME='"headers"'
fuzz_headers_LDADD = libgateway.a libconvert.a $(COMMON_LIBS) $(FUZZ_LIBS)
TESTS += fuzz-headers

EXTRA_DIST += tests/fuzz/replay.c \
	tests/fuzz/corpus/usage/chat \
	tests/fuzz/corpus/usage/gemini \
	tests/fuzz/corpus/usage/messages \
	tests/fuzz/corpus/usage/others \
	tests/fuzz/corpus/usage/responses \
	tests/fuzz/corpus/price/all \
	tests/fuzz/corpus/price/error \
	tests/fuzz/corpus/price/list.json \
	tests/fuzz/corpus/price/tier \
	tests/fuzz/corpus/bpe/blanks \
	tests/fuzz/corpus/bpe/edges \
	tests/fuzz/corpus/bpe/long \
	tests/fuzz/corpus/bpe/ranks \
	tests/fuzz/corpus/chat_event/answer \
	tests/fuzz/corpus/chat_event/content \
	tests/fuzz/corpus/chat_event/error \
	tests/fuzz/corpus/chat_event/request \
	tests/fuzz/corpus/chat_event/usage \
	tests/fuzz/corpus/sse/bom-at-limit \
	tests/fuzz/corpus/sse/chat \
	tests/fuzz/corpus/sse/fields \
	tests/fuzz/corpus/sse/lines \
	tests/fuzz/corpus/json/bare-number.json \
	tests/fuzz/corpus/json/bare-string.json \
	tests/fuzz/corpus/json/byte-order-mark.json \
	tests/fuzz/corpus/json/chat-chunk.json \
	tests/fuzz/corpus/json/chat-request.json \
	tests/fuzz/corpus/json/duplicate-escaped.json \
	tests/fuzz/corpus/json/empty.json \
	tests/fuzz/corpus/json/nested.json \
	tests/fuzz/corpus/json/surrogates.json \
	tests/fuzz/corpus/units/01 \
	tests/fuzz/corpus/units/02 \
	tests/fuzz/corpus/units/03 \
	tests/fuzz/corpus/units/04 \
	tests/fuzz/corpus/units/05 \
	tests/fuzz/corpus/units/06 \
	tests/fuzz/corpus/units/07 \
	tests/fuzz/corpus/units/08 \
	tests/fuzz/corpus/units/09 \
	tests/fuzz/corpus/units/10 \
	tests/fuzz/corpus/units/11 \
	tests/fuzz/corpus/units/12 \
	tests/fuzz/corpus/units/13 \
	tests/fuzz/corpus/units/14 \
	tests/fuzz/corpus/units/15 \
	tests/fuzz/corpus/units/16

EXTRA_DIST += \
	tests/fuzz/corpus/fcgi/request \
	tests/fuzz/corpus/fcgi/two \
	tests/fuzz/corpus/fcgi/padded \
	tests/fuzz/corpus/fcgi/abort \
	tests/fuzz/corpus/fcgi/claim \
	tests/fuzz/corpus/fcgi/values \
	tests/fuzz/corpus/fcgi/multiplex \
	tests/fuzz/corpus/fcgi/role \
	tests/fuzz/corpus/fcgi/names \
	tests/fuzz/corpus/url/plain \
	tests/fuzz/corpus/url/port \
	tests/fuzz/corpus/url/mapped \
	tests/fuzz/corpus/url/hex \
	tests/fuzz/corpus/url/decimal \
	tests/fuzz/corpus/url/account \
	tests/fuzz/corpus/url/metadata \
	tests/fuzz/corpus/url/local \
	tests/fuzz/corpus/url/dot \
	tests/fuzz/corpus/url/scheme \
	tests/fuzz/corpus/headers/usual \
	tests/fuzz/corpus/headers/folded \
	tests/fuzz/corpus/headers/lengths \
	tests/fuzz/corpus/headers/both \
	tests/fuzz/corpus/headers/date \
	tests/fuzz/corpus/headers/number \
	tests/fuzz/corpus/headers/odd \
	tests/fuzz/corpus/headers/exp

check_PROGRAMS += fuzz-web_form fuzz-web_template
fuzz_web_form_SOURCES = tests/fuzz/web_form.c $(FUZZ_SOURCES)
fuzz_web_form_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_NAME='"web_form"'
fuzz_web_form_LDADD = $(CONSOLE_LIBS) $(FUZZ_LIBS)
fuzz_web_template_SOURCES = tests/fuzz/web_template.c $(FUZZ_SOURCES)
fuzz_web_template_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_NAME='"web_template"'
fuzz_web_template_LDADD = $(CONSOLE_LIBS) $(FUZZ_LIBS)
TESTS += fuzz-web_form fuzz-web_template
EXTRA_DIST += \
	tests/fuzz/corpus/web_form/query \
	tests/fuzz/corpus/web_form/json \
	tests/fuzz/corpus/web_form/cookies \
	tests/fuzz/corpus/web_form/escapes \
	tests/fuzz/corpus/web_template/field \
	tests/fuzz/corpus/web_template/all \
	tests/fuzz/corpus/web_template/payload
