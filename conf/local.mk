# Sample configuration and prices. The sample is made from common/conf/options.def.
nobase_dist_pkgdata_DATA += conf/tollgate.conf
