package org.countersign.client.internal.work;

import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import javax.annotation.Nullable;
import org.countersign.client.State;
import org.countersign.client.StateListener;

/** Distributes the current state to any number of listeners, in order. */
public final class StateFeed {
    private final Executor hop;
    private final Facts facts = new Facts();
    private State last = State.UNCERTIFIED;
    private final Map<StateListener, Serial> listeners = new LinkedHashMap<>();

    /** What the state depends on. */
    public static final class Facts {
        public boolean isCertified;
        public int connections;
        public State session = State.CONNECTED_UNAUTHENTICATED;

        State state() {
            if (!isCertified) return State.UNCERTIFIED;
            return connections > 0 ? session : State.DISCONNECTED;
        }
    }

    /** Runs tasks of one listener one after another, on an executor with any number of threads. */
    private final class Serial {
        private final Executor executor;
        private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
        private boolean isRunning;

        Serial(Executor executor) {
            this.executor = executor;
        }

        synchronized void execute(Runnable task) {
            waiting.add(task);
            if (isRunning) return;
            isRunning = true;
            try {
                hop.execute(this::start);
            } catch (RejectedExecutionException closed) {
                stop();
            }
        }

        private void start() {
            try {
                executor.execute(this::drain);
            } catch (RejectedExecutionException closed) {
                stop();
            }
        }

        /** The threads have ended, and with them the interest in states. */
        private synchronized void stop() {
            isRunning = false;
            waiting.clear();
        }

        private void drain() {
            for (Runnable task = next(); task != null; task = next()) {
                try {
                    task.run();
                } catch (RuntimeException failed) {
                    Thread thread = Thread.currentThread();
                    Thread.UncaughtExceptionHandler handler = thread.getUncaughtExceptionHandler();
                    if (handler != null) handler.uncaughtException(thread, failed);
                }
            }
        }

        private synchronized @Nullable Runnable next() {
            Runnable task = waiting.poll();
            isRunning = task != null;
            return task;
        }
    }

    /**
     * Calls listeners from other threads than those that change the state: these have locks.
     *
     * @param hop threads of the client
     */
    public StateFeed(Executor hop) {
        this.hop = hop;
    }

    /** The current state. */
    public synchronized State state() {
        return last;
    }

    /** Lets a listener get the current state and every later one. */
    public synchronized void add(StateListener listener, Executor executor) {
        Serial serial = new Serial(executor);
        listeners.put(listener, serial);
        State state = last;
        serial.execute(() -> listener.onStateChanged(state));
    }

    public synchronized void remove(StateListener listener) {
        listeners.remove(listener);
    }

    /** Changes the known facts. Listeners get the state if it differs from the previous one. */
    public synchronized void update(Consumer<Facts> change) {
        change.accept(facts);
        State state = facts.state();
        if (state == last) return;
        last = state;
        listeners.forEach((listener, serial) -> serial.execute(() -> listener.onStateChanged(state)));
    }
}
