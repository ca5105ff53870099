# Sample configuration and prices. The sample is made from common/conf/options.def.
nobase_dist_pkgdata_DATA += conf/tollgate.conf

# One file to include per web server, installed where README says; quickstart ships with the source.
nobase_dist_pkgdata_DATA += httpd-examples/apache/tollgate.conf \
	httpd-examples/caddy/tollgate.caddy httpd-examples/caddy/Caddyfile \
	httpd-examples/nginx/tollgate.conf httpd-examples/lighttpd/tollgate.conf
EXTRA_DIST += conf/quickstart conf/quickstart.d
