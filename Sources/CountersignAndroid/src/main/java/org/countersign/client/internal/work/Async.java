package org.countersign.client.internal.work;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.FutureTask;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;

/** Makes calls on other threads. */
public final class Async {
    private final Executor executor;
    private final @Nullable ExecutorService own;

    /** Uses the app's executor, or threads of the client if it is null. */
    public Async(@Nullable Executor executor) {
        own = executor == null ? Threads.calls() : null;
        this.executor = executor == null ? own : executor;
    }

    /** Something to do without a result. */
    public interface Action {
        void run() throws CountersignException;
    }

    public <T> CompletableFuture<T> start(Callable<T> call) {
        CompletableFuture<T> result = new CompletableFuture<>();
        FutureTask<Void> task = new FutureTask<>(() -> {
            try {
                result.complete(call.call());
            } catch (Exception | Error failure) {
                result.completeExceptionally(failure);
            }
            return null;
        });
        result.whenComplete((value, failure) -> {
            if (result.isCancelled()) task.cancel(true);
        });
        executor.execute(task);
        return result;
    }

    public void close() {
        if (own != null) own.shutdown();
    }
}
