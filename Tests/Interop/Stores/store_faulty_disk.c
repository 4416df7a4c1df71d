/* A disk that fails, for SQLite: once loaded, every write-ahead log of the process obeys `store_fault`.
 *
 *     cc -shared -fPIC -o store_faulty_disk.so store_faulty_disk.c -lsqlite3
 */
#include <sqlite3.h>

/* 0: nothing; 1: the log cannot be synchronized (EIO); 2: nothing can be written to it (no room). */
int store_fault = 0;

static sqlite3_vfs faulty;
static sqlite3_vfs *real;
static sqlite3_io_methods methods;
static const sqlite3_io_methods *real_methods;

static int sync_file(sqlite3_file *file, int flags) {
    return store_fault == 1 ? SQLITE_IOERR_FSYNC : real_methods->xSync(file, flags);
}

static int write_bytes(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    return store_fault == 2 ? SQLITE_FULL : real_methods->xWrite(file, bytes, count, offset);
}

static int open_file(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *out) {
    (void)vfs;
    int code = real->xOpen(real, name, file, flags, out);
    if (code == SQLITE_OK && (flags & SQLITE_OPEN_WAL) && file->pMethods) {
        real_methods = file->pMethods;
        methods = *file->pMethods;
        methods.xSync = sync_file;
        methods.xWrite = write_bytes;
        file->pMethods = &methods;
    }
    return code;
}

/* Puts the disk in the place of the usual one, for every file that is opened from now on. */
int store_faulty_disk(void) {
    real = sqlite3_vfs_find(0);
    faulty = *real;
    faulty.zName = "faulty";
    faulty.pNext = 0;
    faulty.xOpen = open_file;
    return sqlite3_vfs_register(&faulty, 1);
}
