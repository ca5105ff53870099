# Migrations, installed under pkgdatadir.
