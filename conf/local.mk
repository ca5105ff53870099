# Sample configuration and prices. The sample is made from common/conf/options.def.
nobase_dist_pkgdata_DATA += conf/tollgate.conf

# Prices of current models, made by conf/make-prices; `tollgatectl price import --shipped`.
nobase_dist_pkgdata_DATA += conf/prices.json
EXTRA_DIST += conf/make-prices

# One file to include per web server, installed where README says; quickstart ships with the source.
nobase_dist_pkgdata_DATA += httpd-examples/apache/tollgate.conf httpd-examples/apache/console.conf \
	httpd-examples/caddy/tollgate.caddy httpd-examples/caddy/Caddyfile \
	httpd-examples/nginx/tollgate.conf httpd-examples/lighttpd/tollgate.conf \
	httpd-examples/caddy/console.caddy httpd-examples/nginx/console.conf \
	httpd-examples/lighttpd/console.conf
EXTRA_DIST += conf/quickstart conf/quickstart.d

# systemd: units for this prefix, the account, the folders.
sysusersdir = $(prefix)/lib/sysusers.d
tmpfilesdir = $(prefix)/lib/tmpfiles.d
systemdsystemunit_DATA = conf/systemd/tollgate-fcgi.service conf/systemd/tollgate-fcgi.socket \
	conf/systemd/tollgate-ledger.service conf/systemd/tollgate-console.service
dist_sysusers_DATA = conf/systemd/sysusers.d/tollgate.conf
dist_tmpfiles_DATA = conf/systemd/tmpfiles.d/tollgate.conf
nobase_dist_pkgdata_DATA += conf/systemd/socket-activation.conf
EXTRA_DIST += conf/systemd/tollgate-fcgi.service.in conf/systemd/tollgate-fcgi.socket.in \
	conf/systemd/tollgate-ledger.service.in conf/systemd/tollgate-console.service.in
CLEANFILES += $(systemdsystemunit_DATA)
$(systemdsystemunit_DATA): conf/local.mk Makefile
	$(AM_V_GEN)$(MKDIR_P) conf/systemd && sed -e 's|@sbindir[@]|$(sbindir)|' \
		-e 's|@sysconfdir[@]|$(sysconfdir)|' -e 's|@pkgdatadir[@]|$(pkgdatadir)|' \
		-e 's|@WEB_GROUP[@]|$(WEB_GROUP)|' $(srcdir)/$@.in >$@-t && mv $@-t $@
conf/systemd/tollgate-fcgi.service: conf/systemd/tollgate-fcgi.service.in
conf/systemd/tollgate-fcgi.socket: conf/systemd/tollgate-fcgi.socket.in
conf/systemd/tollgate-ledger.service: conf/systemd/tollgate-ledger.service.in
conf/systemd/tollgate-console.service: conf/systemd/tollgate-console.service.in

# tollgate.conf(5): prose around the options of the table, which a program prints.
noinst_PROGRAMS += conf/manual
conf_manual_SOURCES = conf/manual.c
conf_manual_LDADD = $(COMMON_LIBS)
nodist_man_MANS += conf/tollgate.conf.5
EXTRA_DIST += conf/tollgate.conf.5.in
CLEANFILES += conf/tollgate.conf.5
conf/tollgate.conf.5: conf/tollgate.conf.5.in conf/manual$(EXEEXT)
	$(AM_V_GEN)conf/manual$(EXEEXT) >$@-o && sed -e '/^@OPTIONS@$$/{' -e 'r $@-o' -e 'd' -e '}' \
		$(srcdir)/conf/tollgate.conf.5.in >$@-t && rm -f $@-o && mv $@-t $@
