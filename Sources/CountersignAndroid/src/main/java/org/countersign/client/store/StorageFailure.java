package org.countersign.client.store;

import java.io.IOException;
import java.nio.file.AccessDeniedException;

/** Why keys or secrets could not be stored or read. */
public enum StorageFailure {
    /** The disk, or the quota, is full. */
    FULL("The disk is full: the secret was not stored."),
    /** The app has no access, which on a phone is also the case before its first unlock. */
    NOT_PERMITTED("The secret cannot be accessed now: unlock the device, or check its permissions."),
    /** The device did not recognize its user, or the user cancelled. Nothing was signed. */
    NOT_PRESENT("The user was not recognized: nothing was signed."),
    /** The stored content is damaged, or its key was deleted. */
    DAMAGED("The stored secret is damaged: delete it, and certify the device again."),
    /** Any other error of the operating system: see the cause. */
    FAILED("The secret cannot be accessed: see the cause, an error of the operating system.");

    private final String sentence;

    StorageFailure(String sentence) {
        this.sentence = sentence;
    }

    /** One sentence for a developer. */
    public String sentence() {
        return sentence;
    }

    /** The failure of an access to a file. Java has no number for a full disk, so its words are compared. */
    static StorageFailure of(IOException error) {
        if (error instanceof AccessDeniedException) return NOT_PERMITTED;
        String words = String.valueOf(error.getMessage());
        if (words.contains("No space left") || words.contains("ENOSPC") || words.contains("quota")) return FULL;
        if (words.contains("Permission denied") || words.contains("Read-only")) return NOT_PERMITTED;
        return FAILED;
    }
}
