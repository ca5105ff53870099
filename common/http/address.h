/* address - may this resolved address be reached for this purpose? Pure.
 *
 * Refused unless an operator's range allows it: unspecified, loopback, private, carrier-grade NAT
 * (100.64/10), link-local, benchmarking, documentation, multicast, reserved, broadcast; IPv6 ::,
 * ::1, v4-mapped and NAT64 (64:ff9b::/96) and 6to4 (2002::/16) forms of those, fc00::/7, fe80::/10,
 * ff00::/8. Source: IANA special-purpose registries, AMENDMENTS F1.
 *
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_HTTP_ADDRESS_H
#define TOLLGATE_HTTP_ADDRESS_H

#include "common/conf/units.h"

/* Link-local, cloud metadata, unspecified, multicast: no list of an operator's opens them. */
bool tg_address_is_never_reached(const struct tg_address *address) must_check non_null(1);
bool tg_address_may_reach(const struct tg_address *address, const struct tg_cidr *allow,
                          size_t allow_count) must_check non_null(1);

#endif
