# Usage is read in convert/, which links libbase only.
libbase_a_SOURCES += \
	common/price/usage.c common/price/usage.h

libcommon_a_SOURCES += \
	common/price/fraction.c common/price/fraction.h \
	common/price/rational.c common/price/rational.h \
	common/price/rates.c common/price/rates.h \
	common/price/price.h \
	common/price/form.c \
	common/price/expression.h common/price/expression_tree.h \
	common/price/expression_parse.c \
	common/price/expression.c \
	common/price/check.c \
	common/price/deposit.c \
	common/price/bill.c \
	common/price/price_json.c common/price/price_json.h \
	common/price/price_write.c \
	common/price/usage_json.c \
	common/price/list.c common/price/list.h \
	common/price/price_text.c common/price/price_text.h \
	common/price/formula.c common/price/formula.h
