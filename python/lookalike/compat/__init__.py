"""The interfaces of other packages over our own sketches and tables: change the import, keep the program."""
