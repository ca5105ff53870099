# The rules of CONVENTIONS that a program can check. `make lint` asks clang-tidy and cppcheck.
if HAVE_PYTHON3
TESTS += tests/style/check-style
endif
EXTRA_DIST += \
	tests/style/check-style \
	tests/style/csource.py \
	tests/style/lint \
	tests/style/rules.py \
	tests/style/selftest.py \
	.clang-tidy .cppcheck-suppressions .editorconfig

.PHONY: lint
lint:
	$(top_srcdir)/tests/style/lint $(top_builddir)
