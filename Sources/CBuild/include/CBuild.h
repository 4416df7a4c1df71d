#ifndef CBUILD_H
#define CBUILD_H

/// The commit that was built, as the build names it; empty if the build does not know it.
const char *countersign_commit(void);

#endif
