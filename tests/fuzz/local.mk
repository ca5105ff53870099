# One driver per parser; here each replays its corpus. With clang, the same driver without
# replay.c and with -fsanitize=fuzzer explores on its own.
check_PROGRAMS += fuzz-sse fuzz-chat_event
TESTS += fuzz-sse fuzz-chat_event
fuzz_sse_SOURCES = tests/fuzz/sse.c tests/fuzz/replay.c tests/fuzz/fuzz.h
fuzz_sse_LDADD = libgateway.a $(BASE_LIBS)
fuzz_chat_event_SOURCES = tests/fuzz/chat_event.c tests/fuzz/replay.c tests/fuzz/fuzz.h
fuzz_chat_event_LDADD = libconvert.a $(BASE_LIBS)
EXTRA_DIST += \
	tests/fuzz/corpus/sse/lines tests/fuzz/corpus/sse/fields tests/fuzz/corpus/sse/chat \
	tests/fuzz/corpus/chat_event/content tests/fuzz/corpus/chat_event/usage \
	tests/fuzz/corpus/chat_event/error tests/fuzz/corpus/chat_event/answer \
	tests/fuzz/corpus/chat_event/request
