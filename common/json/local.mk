# Part of libbase: pure, libc and json-c only.
libbase_a_SOURCES += \
	common/json/lex.c common/json/lex.h \
	common/json/keys.c common/json/keys.h \
	common/json/scan.c common/json/scan.h \
	common/json/find.c \
	common/json/json.c common/json/json.h common/json/tree.h \
	common/json/writer.c common/json/writer.h
