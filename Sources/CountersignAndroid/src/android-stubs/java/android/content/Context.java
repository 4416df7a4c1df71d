package android.content;

import java.io.File;

/** The part of Android's class that the library uses, for compiling without Android. */
public abstract class Context {
    public abstract File getNoBackupFilesDir();
}
