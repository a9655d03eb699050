/*
 * What lies in a directory: ELF files and archives, at any depth. Links are not followed, other
 * file systems not entered.
 */
#include <ar.h>
#include <elf.h>
#include <fts.h>
#include <string.h>
#include <unistd.h>

#include "../text.h"
#include "files.h"
#include "survey.h"

struct left_out {
	uint64_t others, file_systems;
};

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Whether the file begins like one that is read; unreadable ones are read, to say why they are not.
 */
static bool is_wanted(const char *path)
{
	char head[SARMAG] = "";
	struct stat status;
	const char *why;
	int fd = file_open(path, &status, &why);
	if (fd < 0)
		return true;
	ssize_t count = pread(fd, head, sizeof(head), 0);
	close(fd);
	return (count >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0) ||
	       (count == SARMAG && (memcmp(head, ARMAG, SARMAG) == 0 ||
	                                   memcmp(head, "!<thin>\n", SARMAG) == 0));
}

static void add_entry(struct survey *survey, const FTSENT *entry, struct left_out *left_out)
{
	switch (entry->fts_info) {
	case FTS_F:
		if (is_wanted(entry->fts_path))
			survey_file(survey, entry->fts_path, entry->fts_path);
		else
			left_out->others++;
		break;
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		survey_refuse(survey, entry->fts_path, strerror(entry->fts_errno));
		break;
	case FTS_D:
	case FTS_DP:
	case FTS_DOT:
		break;
	default:
		left_out->others++;
	}
}

void survey_directory(struct survey *survey, const char *path)
{
	char *const paths[] = { (char *)path, NULL };
	struct left_out left_out = { .others = 0 };
	FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
	if (walk == NULL) {
		survey->out_of_memory = true;
		return;
	}
	dev_t device = 0;
	for (FTSENT *entry; (entry = fts_read(walk)) != NULL;) {
		bool is_directory = entry->fts_info == FTS_D;
		if (is_directory && entry->fts_level == FTS_ROOTLEVEL)
			device = entry->fts_dev;
		if (is_directory && entry->fts_dev != device) {
			fts_set(walk, entry, FTS_SKIP);
			left_out.file_systems++;
			continue;
		}
		add_entry(survey, entry, &left_out);
	}
	fts_close(walk);
	char number[TEXT_NUMBER_SIZE];
	if (left_out.others > 0)
		survey_note(survey, "left out: %s that %s no ELF file or archive",
		        text_things(number, left_out.others, "other file"),
		        left_out.others == 1 ? "is" : "are");
	if (left_out.file_systems > 0)
		survey_note(survey, "left out: %s on other file systems",
		        text_things(number, left_out.file_systems, "mount"));
	if (survey->targets[survey->target_count - 1].row_count == 0)
		survey_note(survey, "there is no ELF file or archive in it");
}
