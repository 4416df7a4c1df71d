#include "CBuild.h"

// Only C can be given a text by the build: a change of it compiles this file and nothing else.
#define TEXT_OF(words) #words
#define TEXT(macro) TEXT_OF(macro)

const char *countersign_commit(void) {
#ifdef COUNTERSIGN_COMMIT
    return TEXT(COUNTERSIGN_COMMIT);
#else
    return "";
#endif
}
