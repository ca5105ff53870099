# Usage is read in convert/, which links libbase only.
libbase_a_SOURCES += \
	common/price/usage.c common/price/usage.h

libcommon_a_SOURCES += \
	common/price/rational.c common/price/rational.h \
	common/price/price.h \
	common/price/check.c \
	common/price/deposit.c \
	common/price/bill.c
