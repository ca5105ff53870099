# The command line; the console's programs come beside it.
