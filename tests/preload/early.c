/*
 * A preload that asks what the CPU has before the libraries in front of it have been relocated: in
 * the resolver of an ifunc. Says at the start what it was told.
 */
#include <stdio.h>
#include <sys/auxv.h>
#include <unistd.h>

extern int early_value(void);

static volatile unsigned long told;

static int value(void)
{
	return (int)(told >> 8 & 1);
}

static __attribute__((used)) int (*resolve(void))(void)
{
	told = getauxval(AT_HWCAP);
	return value;
}

int early_value(void) __attribute__((ifunc("resolve")));

__attribute__((constructor)) static void say(void)
{
	char text[] = "early 0\n";
	text[6] += (char)early_value();
	if (write(1, text, sizeof(text) - 1) < 0)
		_exit(1);
}
