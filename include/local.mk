# What a measured program may include, and spark.pc to find it.
sparkincludedir = $(includedir)/spark
sparkinclude_HEADERS = \
	include/spark/bench.h \
	include/spark/bench_program.h \
	include/spark/bench_results.h \
	include/spark/spark.h

pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = include/spark.pc
