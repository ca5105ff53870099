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
	admin-cgi/ctl/set.c \
	admin-cgi/ctl/audit_log.c \
	admin-cgi/ctl/channel.c \
	admin-cgi/ctl/key.c \
	admin-cgi/ctl/channel_test.c \
	admin-cgi/worker/probe.c admin-cgi/worker/probe.h \
	admin-cgi/ctl/price.c \
	admin-cgi/ctl/price_file.c \
	admin-cgi/ctl/group.c \
	admin-cgi/ctl/show.c \
	admin-cgi/ctl/audit.c \
	admin-cgi/ctl/ledger.c \
	admin-cgi/ctl/verify.c \
	admin-cgi/ctl/code.c \
	admin-cgi/ctl/config.c \
	admin-cgi/ctl/rotate.c \
	admin-cgi/ctl/secrets.c
admin_cgi_tollgatectl_LDADD = $(COMMON_LIBS)
dist_man_MANS += admin-cgi/tollgatectl.1 admin-cgi/tollgate-console.8

# The console: one program, and a name of it for every area (users.cgi, …). The library is what the
# program and the tests share. Console programs do not link libcurl.
noinst_LIBRARIES += libconsole.a
libconsole_a_CFLAGS = $(AM_CFLAGS) -DTG_JSDIR='"$(JSDIR)"'
libconsole_a_SOURCES = \
	admin-cgi/web/gate.c admin-cgi/web/gate.h \
	admin-cgi/web/params.c admin-cgi/web/params.h \
	admin-cgi/web/request.c admin-cgi/web/request.h \
	admin-cgi/access/permissions.def \
	admin-cgi/access/acl.c admin-cgi/access/who.h \
	admin-cgi/access/routes.def \
	admin-cgi/access/routes.c admin-cgi/access/routes.h \
	admin-cgi/access/csrf.c admin-cgi/access/csrf.h \
	admin-cgi/access/session.c admin-cgi/access/session.h \
	admin-cgi/access/pat.c admin-cgi/access/pat.h \
	admin-cgi/access/admit.c admin-cgi/access/admit.h \
	admin-cgi/access/slot.c admin-cgi/access/slot.h \
	admin-cgi/access/login.c admin-cgi/access/login.h \
	admin-cgi/web/form.c admin-cgi/web/form.h \
	admin-cgi/web/form_check.c \
	admin-cgi/web/form_pairs.c \
	admin-cgi/web/form_fill.c \
	admin-cgi/web/site.c admin-cgi/web/site.h \
	admin-cgi/web/page.c admin-cgi/web/page.h \
	admin-cgi/pages/pages.h \
	admin-cgi/pages/assets.c \
	admin-cgi/pages/login.c \
	admin-cgi/pages/person.c admin-cgi/pages/person.h \
	admin-cgi/pages/account.c \
	admin-cgi/pages/sessions.c \
	admin-cgi/pages/pats.c \
	admin-cgi/pages/days.c admin-cgi/pages/days.h \
	admin-cgi/pages/usage.c \
	admin-cgi/pages/token_form.c admin-cgi/pages/token_form.h \
	admin-cgi/pages/tokens.c \
	admin-cgi/pages/token_new.c \
	admin-cgi/pages/providers.def \
	admin-cgi/pages/channel_form.c admin-cgi/pages/channel_form.h \
	admin-cgi/pages/channel_rounds.c admin-cgi/pages/channels.c \
	admin-cgi/pages/channel_new.c \
	admin-cgi/pages/channel_keys.c \
	admin-cgi/pages/users.c \
	admin-cgi/pages/permissions.c \
	admin-cgi/pages/groups.c \
	admin-cgi/worker/probe.c admin-cgi/worker/probe.h \
	admin-cgi/pages/price_form.c admin-cgi/pages/price_form.h \
	admin-cgi/pages/prices.c \
	admin-cgi/pages/price_tools.c \
	admin-cgi/pages/csv.c admin-cgi/pages/csv.h \
	admin-cgi/pages/logs.c \
	admin-cgi/pages/audit.c \
	admin-cgi/pages/settings.c \
	admin-cgi/pages/dashboard.c \
	admin-cgi/web/escape.c admin-cgi/web/escape.h \
	admin-cgi/web/html_place.c admin-cgi/web/html_place.h \
	admin-cgi/web/template_parse.c admin-cgi/web/template_parse.h \
	admin-cgi/web/show.c admin-cgi/web/show.h \
	admin-cgi/web/template.c admin-cgi/web/template.h \
	admin-cgi/web/answer.c admin-cgi/web/answer.h \
	admin-cgi/web/flash.c admin-cgi/web/flash.h \
	admin-cgi/web/render.c admin-cgi/web/render.h \
	admin-cgi/web/serve.c admin-cgi/web/serve.h \
	admin-cgi/web/fastcgi.c admin-cgi/web/fastcgi.h
CONSOLE_LIBS = libconsole.a $(COMMON_LIBS) $(FCGI_LIBS) $(JWT_LIBS)

sbin_PROGRAMS += admin-cgi/tollgate-console
admin_cgi_tollgate_console_SOURCES = admin-cgi/main.c
admin_cgi_tollgate_console_LDADD = $(CONSOLE_LIBS)

nobase_dist_pkgdata_DATA += \
	admin-cgi/templates/layout.html \
	admin-cgi/templates/field.html \
	admin-cgi/templates/form.html \
	admin-cgi/templates/filter.html \
	admin-cgi/templates/pager.html \
	admin-cgi/templates/status.html \
	admin-cgi/templates/error.html \
	admin-cgi/templates/login.html \
	admin-cgi/templates/account.html \
	admin-cgi/templates/form_page.html \
	admin-cgi/templates/sessions.html \
	admin-cgi/templates/pats.html \
	admin-cgi/templates/pat_made.html \
	admin-cgi/templates/usage.html \
	admin-cgi/templates/tokens.html \
	admin-cgi/templates/token.html \
	admin-cgi/templates/token_new.html \
	admin-cgi/templates/token_made.html \
	admin-cgi/templates/channels.html \
	admin-cgi/templates/channel_pick.html \
	admin-cgi/templates/channel.html \
	admin-cgi/templates/channel_key.html \
	admin-cgi/templates/channel_keys.html \
	admin-cgi/templates/channel_states.html \
	admin-cgi/templates/channel_test.html \
	admin-cgi/templates/users.html \
	admin-cgi/templates/user.html \
	admin-cgi/templates/permissions.html \
	admin-cgi/templates/groups.html \
	admin-cgi/templates/group.html \
	admin-cgi/templates/prices.html \
	admin-cgi/templates/prices_unpriced.html \
	admin-cgi/templates/price.html \
	admin-cgi/templates/price_calculator.html \
	admin-cgi/templates/own_requests.html \
	admin-cgi/templates/logs.html \
	admin-cgi/templates/log.html \
	admin-cgi/templates/audit.html \
	admin-cgi/templates/audit_verify.html \
	admin-cgi/templates/settings.html \
	admin-cgi/templates/setting.html \
	admin-cgi/templates/dashboard.html \
	admin-cgi/assets/console.css \
	admin-cgi/assets/charts.js \
	admin-cgi/assets/theme.js \
	admin-cgi/assets/console.js

# The names, in the build tree (for tests) and where they are installed.
cgidir = $(libexecdir)/tollgate/cgi-bin
console_areas = sed -n 's/^ROUTE("\([a-z-]*\)".*/\1/p' '$(srcdir)/admin-cgi/access/routes.def' | \
	sort -u
all-local: admin-cgi/cgi-bin.made
admin-cgi/cgi-bin.made: admin-cgi/tollgate-console$(EXEEXT) admin-cgi/access/routes.def
	$(AM_V_GEN)rm -rf admin-cgi/cgi-bin && $(MKDIR_P) admin-cgi/cgi-bin && \
	for area in `$(console_areas)`; do \
		ln admin-cgi/tollgate-console$(EXEEXT) admin-cgi/cgi-bin/$$area.cgi || exit 1; \
	done && touch $@
clean-local:
	rm -rf admin-cgi/cgi-bin admin-cgi/cgi-bin.made
install-exec-hook:
	$(MKDIR_P) '$(DESTDIR)$(cgidir)'
	for area in `$(console_areas)`; do \
		ln -f '$(DESTDIR)$(sbindir)/tollgate-console' '$(DESTDIR)$(cgidir)/'$$area.cgi || \
		cp -f '$(DESTDIR)$(sbindir)/tollgate-console' '$(DESTDIR)$(cgidir)/'$$area.cgi || exit 1; \
	done
