/* unit - what every cmocka program includes, in the order cmocka wants it. */
#ifndef TOLLGATE_TESTS_UNIT_H
#define TOLLGATE_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#endif
