# libconvert links libbase only: unit-convert proves it.
noinst_LIBRARIES += libconvert.a
libconvert_a_CFLAGS = $(AM_CFLAGS)
libconvert_a_SOURCES = \
	fcgi-app/convert/value.c fcgi-app/convert/value.h \
	fcgi-app/convert/splice.c fcgi-app/convert/splice.h \
	fcgi-app/convert/usage_figures.c fcgi-app/convert/usage_figures.h \
	fcgi-app/convert/chat_usage.c fcgi-app/convert/chat_usage.h \
	fcgi-app/convert/chat_event.c fcgi-app/convert/chat_event.h \
	fcgi-app/convert/messages_event.c fcgi-app/convert/messages_event.h \
	fcgi-app/convert/responses_event.c fcgi-app/convert/responses_event.h \
	fcgi-app/convert/error_body.c fcgi-app/convert/error_body.h \
	fcgi-app/convert/mask.c fcgi-app/convert/mask.h \
	fcgi-app/convert/protocol.c fcgi-app/convert/protocol.h \
	fcgi-app/convert/diagnostic.c fcgi-app/convert/diagnostic.h \
	fcgi-app/convert/convert.h \
	fcgi-app/convert/registry.c fcgi-app/convert/registry.h \
	fcgi-app/convert/hub.c fcgi-app/convert/hub.h \
	fcgi-app/convert/envelope.c fcgi-app/convert/envelope.h \
	fcgi-app/convert/balance.c fcgi-app/convert/balance.h \
	fcgi-app/convert/chat_edges.c fcgi-app/convert/chat_edges.h \
	fcgi-app/convert/chat_read.c fcgi-app/convert/chat_read.h \
	fcgi-app/convert/messages_to_chat_stream.c \
	fcgi-app/convert/chat_to_messages.h \
	fcgi-app/convert/chat_to_messages_stream.c \
	fcgi-app/convert/chat_to_messages_blocks.c \
	fcgi-app/convert/chat_to_messages_calls.c \
	fcgi-app/convert/chat_wire.c fcgi-app/convert/chat_wire.h \
	fcgi-app/convert/citations.c fcgi-app/convert/citations.h \
	fcgi-app/convert/sha256.c fcgi-app/convert/sha256.h \
	fcgi-app/convert/names.c fcgi-app/convert/names.h \
	fcgi-app/convert/media.c fcgi-app/convert/media.h \
	fcgi-app/convert/model_facts.c fcgi-app/convert/model_facts.h \
	fcgi-app/convert/toolset.c fcgi-app/convert/toolset.h fcgi-app/convert/toolset_forms.h \
	fcgi-app/convert/toolset_chat.c \
	fcgi-app/convert/toolset_messages.c \
	fcgi-app/convert/messages_to_chat.h \
	fcgi-app/convert/messages_to_chat_request.c \
	fcgi-app/convert/messages_to_chat_turns.c \
	fcgi-app/convert/messages_to_chat_parts.c \
	fcgi-app/convert/chat_to_messages_request.h \
	fcgi-app/convert/chat_to_messages_request.c \
	fcgi-app/convert/chat_to_messages_turns.c \
	fcgi-app/convert/chat_to_messages_parts.c \
	fcgi-app/convert/chat_to_messages_format.c \
	fcgi-app/convert/messages_order.c \
	fcgi-app/convert/messages_to_chat_answer.c \
	fcgi-app/convert/chat_to_messages_answer.c \
	fcgi-app/convert/responses.c fcgi-app/convert/responses.h \
	fcgi-app/convert/toolset_responses.c \
	fcgi-app/convert/responses_to_chat.h \
	fcgi-app/convert/responses_to_chat_request.c \
	fcgi-app/convert/responses_to_chat_items.c \
	fcgi-app/convert/responses_to_chat_parts.c \
	fcgi-app/convert/responses_to_chat_stream.c \
	fcgi-app/convert/responses_to_chat_answer.c \
	fcgi-app/convert/chat_to_responses_request.h \
	fcgi-app/convert/chat_to_responses_request.c \
	fcgi-app/convert/chat_to_responses_input.c \
	fcgi-app/convert/chat_to_responses_parts.c \
	fcgi-app/convert/chat_to_responses.h \
	fcgi-app/convert/chat_to_responses_stream.c \
	fcgi-app/convert/chat_to_responses_items.c \
	fcgi-app/convert/chat_to_responses_answer.c \
	fcgi-app/convert/effort.c fcgi-app/convert/effort.h \
	fcgi-app/convert/gemini_event.c fcgi-app/convert/gemini_event.h \
	fcgi-app/convert/gemini_hub.c fcgi-app/convert/gemini_hub.h \
	fcgi-app/convert/gemini_model.c fcgi-app/convert/gemini_model.h \
	fcgi-app/convert/gemini_logprobs.c fcgi-app/convert/gemini_logprobs.h \
	fcgi-app/convert/schema_gemini.c fcgi-app/convert/schema_gemini.h \
	fcgi-app/convert/schema_values.c fcgi-app/convert/schema_values.h \
	fcgi-app/convert/schema_for_gemini.c \
	fcgi-app/convert/schema_of_gemini.c \
	fcgi-app/convert/toolset_gemini.c \
	fcgi-app/convert/gemini_to_chat.h \
	fcgi-app/convert/gemini_to_chat_request.c \
	fcgi-app/convert/gemini_to_chat_generation.c \
	fcgi-app/convert/gemini_to_chat_turns.c \
	fcgi-app/convert/gemini_to_chat_parts.c \
	fcgi-app/convert/gemini_to_chat_answer.c \
	fcgi-app/convert/gemini_to_chat_stream.c \
	fcgi-app/convert/chat_to_gemini.h \
	fcgi-app/convert/chat_to_gemini_request.c \
	fcgi-app/convert/chat_to_gemini_turns.c \
	fcgi-app/convert/chat_to_gemini_media.c \
	fcgi-app/convert/chat_to_gemini_format.c \
	fcgi-app/convert/gemini_order.c \
	fcgi-app/convert/chat_to_gemini_parts.c \
	fcgi-app/convert/chat_to_gemini_answer.c \
	fcgi-app/convert/chat_to_gemini_stream.c
