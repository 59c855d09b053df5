dnl Compiler flags: probed one by one, because gcc and clang of all ages share the sources.

dnl SPARK_PROBE_CFLAGS(VARIABLE, FLAGS)
dnl Substitutes VARIABLE with those FLAGS that the C compiler takes without a warning.
AC_DEFUN([SPARK_PROBE_CFLAGS], [
	$1=
	spark_saved_cflags=$CFLAGS
	for spark_flag in m4_normalize([$2]); do
		AS_VAR_PUSHDEF([cached], [spark_cv_cflag_$spark_flag])
		AC_CACHE_CHECK([whether $CC takes $spark_flag], [cached], [
			CFLAGS="$spark_saved_cflags -Werror $spark_flag"
			AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
				[AS_VAR_SET([cached], [yes])], [AS_VAR_SET([cached], [no])])
		])
		AS_VAR_IF([cached], [yes], [AS_VAR_APPEND([$1], [" $spark_flag"])])
		AS_VAR_POPDEF([cached])
	done
	CFLAGS=$spark_saved_cflags
	AC_SUBST([$1])
])

dnl SPARK_ARG_WERROR
dnl --enable-werror; substitutes WERROR_CFLAGS. Not part of CFLAGS, which configure's own tests use.
AC_DEFUN([SPARK_ARG_WERROR], [
	AC_ARG_ENABLE([werror],
		[AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors])])
	AS_IF([test "x$enable_werror" = xyes], [WERROR_CFLAGS=-Werror], [WERROR_CFLAGS=])
	AC_SUBST([WERROR_CFLAGS])
])

dnl SPARK_ARG_SANITIZERS
dnl --enable-sanitizers=LIST; substitutes SANITIZERS and SANITIZE_CFLAGS, used to compile and to link.
AC_DEFUN([SPARK_ARG_SANITIZERS], [
	AC_ARG_ENABLE([sanitizers],
		[AS_HELP_STRING([--enable-sanitizers=LIST],
			[build sparkctl and the unit tests with -fsanitize=LIST, for example address,undefined
			or thread; the agent and the measured programs are never sanitized])])
	SANITIZERS=
	SANITIZE_CFLAGS=
	AS_CASE([$enable_sanitizers],
		[no | ''], [],
		[yes], [AC_MSG_ERROR([--enable-sanitizers needs a list, for example address,undefined])],
		[SANITIZERS=$enable_sanitizers])
	AS_IF([test "x$SANITIZERS" != x], [
		SANITIZE_CFLAGS="-fsanitize=$SANITIZERS -fno-sanitize-recover=all -fno-omit-frame-pointer"
		spark_saved_cflags=$CFLAGS
		CFLAGS="$CFLAGS $SANITIZE_CFLAGS"
		AC_MSG_CHECKING([whether $CC links with -fsanitize=$SANITIZERS])
		AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes])],
			[AC_MSG_ERROR([$CC cannot link with -fsanitize=$SANITIZERS])])
		CFLAGS=$spark_saved_cflags
	])
	AC_SUBST([SANITIZERS])
	AC_SUBST([SANITIZE_CFLAGS])
])
