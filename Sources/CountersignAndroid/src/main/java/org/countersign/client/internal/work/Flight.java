package org.countersign.client.internal.work;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.countersign.client.CountersignException;
import org.countersign.client.CountersignException.Kind;

/**
 * Work that is done once for all threads that need it, on a thread of the client. An interrupt of a waiting thread
 * does not end it.
 */
public final class Flight<T> {
    private final CompletableFuture<T> result = new CompletableFuture<>();

    /** Does the work, lets {@code clear} forget this flight, and wakes the waiting threads. */
    public void run(Callable<T> work, Runnable clear) {
        T value = null;
        Throwable failure = null;
        try {
            value = work.call();
        } catch (Exception | Error error) {
            failure = error;
        }
        // Waiting threads check again at once, so it is forgotten before they wake.
        clear.run();
        if (failure == null) {
            result.complete(value);
        } else {
            result.completeExceptionally(failure);
        }
    }

    /** Waits for the result. */
    public T await() throws CountersignException {
        try {
            return result.get();
        } catch (InterruptedException interrupt) {
            throw CountersignException.interrupted(interrupt);
        } catch (ExecutionException failed) {
            Throwable cause = failed.getCause();
            if (cause instanceof CountersignException) throw ((CountersignException) cause).again("");
            throw new CountersignException(Kind.UNREADABLE, "The client failed: see the cause.", cause);
        }
    }

    /** Waits for the end, whatever it is. */
    public void settle() throws CountersignException {
        try {
            await();
        } catch (CountersignException failure) {
            if (failure.kind() == Kind.INTERRUPTED) throw failure;
        }
    }
}
