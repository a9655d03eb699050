/*
 * Archives of objects (ar).
 */
#ifndef LOADER_AUDIT_ARCHIVE_H
#define LOADER_AUDIT_ARCHIVE_H

#include "audit.h"
#include "map.h"

/* Reads a member, named ARCHIVE(MEMBER); depth: of archives in archives. */
typedef void archive_reader(
        struct audit_list *list, const struct view *view, const char *path, unsigned depth);

bool archive_is(const struct view *view);

/* Has every member read that holds code or should. Notes what is wrong in a row of its own. */
void archive_read(struct audit_list *list, const struct view *view, const char *path,
        unsigned depth, archive_reader *read);

#endif
