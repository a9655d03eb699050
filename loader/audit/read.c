/*
 * Reads one file for the audit.
 */
#include "audit.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

void audit_read(struct audit_list *list, int fd, const char *path)
{
	unsigned char head[EI_NIDENT];
	ssize_t count = pread(fd, head, sizeof(head), 0);
	if (count != sizeof(head) || memcmp(head, ELFMAG, SELFMAG) != 0)
		audit_refuse(list, path, count == 0 ? "empty" : "no ELF file");
	else
		audit_refuse(list, path, "an ELF file of a kind that is not counted");
}
