package org.countersign.client.internal.work;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The threads of a client. None keeps a program from its end. */
public final class Threads {
    private static final int CALLS = 64;

    private Threads() {}

    private static ThreadFactory named(String name) {
        AtomicInteger number = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, "countersign-" + name + "-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    /** For work that every call may wait for, such as a renewal. */
    public static ExecutorService flights() {
        return Executors.newCachedThreadPool(named("work"));
    }

    /** For calls that return a future, as many as the client makes at a time. */
    public static ExecutorService calls() {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
            CALLS, CALLS, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), named("call"));
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    public static ScheduledExecutorService timer() {
        return Executors.newSingleThreadScheduledExecutor(named("timer"));
    }
}
