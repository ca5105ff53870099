# The command line; the console's programs come beside it.
bin_PROGRAMS += admin-cgi/tollgatectl
admin_cgi_tollgatectl_SOURCES = \
	admin-cgi/ctl/main.c \
	admin-cgi/ctl/table.c admin-cgi/ctl/commands.h \
	admin-cgi/ctl/args.c admin-cgi/ctl/args.h \
	admin-cgi/ctl/ctl.c admin-cgi/ctl/ctl.h \
	admin-cgi/ctl/secret.c \
	admin-cgi/ctl/text.c \
	admin-cgi/ctl/setup.c \
	admin-cgi/ctl/user.c \
	admin-cgi/ctl/token.c \
	admin-cgi/ctl/channel.c \
	admin-cgi/ctl/channel_test.c \
	admin-cgi/ctl/price.c \
	admin-cgi/ctl/price_file.c \
	admin-cgi/ctl/group.c \
	admin-cgi/ctl/show.c \
	admin-cgi/ctl/audit.c \
	admin-cgi/ctl/ledger.c \
	admin-cgi/ctl/config.c \
	admin-cgi/ctl/secrets.c
admin_cgi_tollgatectl_LDADD = $(COMMON_LIBS)
dist_man_MANS += admin-cgi/tollgatectl.1
