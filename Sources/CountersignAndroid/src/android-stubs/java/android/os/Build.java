package android.os;

/** The part of Android's class that the library uses, for compiling without Android. */
public class Build {
    public static class VERSION {
        public static final int SDK_INT = Integer.getInteger("countersign.sdk", 26);
    }

    public static class VERSION_CODES {
        public static final int P = 28;
    }
}
