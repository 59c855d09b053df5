# What a measured program may include, and spark.pc to find it.
sparkincludedir = $(includedir)/spark
sparkinclude_HEADERS = \
	include/spark/spark.h

pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = include/spark.pc
