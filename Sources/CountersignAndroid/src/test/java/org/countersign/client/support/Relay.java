package org.countersign.client.support;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Passes bytes between a device and a service. If it is asked to lose a response, what the service sends next is thrown
 * away, and the connection ends a moment later. If it is asked to hold requests, those of open connections wait here.
 */
public final class Relay implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final AtomicBoolean isLosing = new AtomicBoolean();
    private final List<Socket> open = new ArrayList<>();
    /** The number of the newest connection, and of the newest one that is held. */
    private int newest;
    private int held;
    private int waiting;

    public Relay(int target) throws IOException {
        start(() -> {
            while (true) {
                Socket device = listener.accept();
                Socket service = new Socket(InetAddress.getLoopbackAddress(), target);
                int number;
                synchronized (this) {
                    open.add(device);
                    open.add(service);
                    number = ++newest;
                }
                start(() -> pass(device, service, number, false));
                start(() -> pass(service, device, number, true));
            }
        });
    }

    private interface Step {
        void run() throws Exception;
    }

    private static void start(Step step) {
        Thread thread = new Thread(() -> {
            try {
                step.run();
            } catch (Exception ended) {
                // A connection or the relay was closed.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private void pass(Socket from, Socket to, int number, boolean isResponse) throws Exception {
        try (InputStream input = from.getInputStream(); OutputStream output = to.getOutputStream()) {
            byte[] part = new byte[16_384];
            for (int count = input.read(part); count >= 0; count = input.read(part)) {
                if (isResponse && isLosing.getAndSet(false)) {
                    // The service continues with what it was sent.
                    Thread.sleep(500);
                    return;
                }
                if (!isResponse) awaitRelease(number);
                output.write(part, 0, count);
                output.flush();
            }
        } finally {
            from.close();
            to.close();
        }
    }

    private synchronized void awaitRelease(int number) throws InterruptedException {
        waiting++;
        while (number <= held) wait();
        waiting--;
    }

    public int port() {
        return listener.getLocalPort();
    }

    /** The next response is lost. */
    public void loseAnswer() {
        isLosing.set(true);
    }

    /** Requests over the connections of now wait until {@link #release}. */
    public synchronized void hold() {
        held = newest;
    }

    /** Whether a request waits. */
    public synchronized boolean isHolding() {
        return held > 0 && waiting > 0;
    }

    public synchronized void release() {
        held = 0;
        notifyAll();
    }

    @Override
    public synchronized void close() throws IOException {
        listener.close();
        for (Socket socket : open) socket.close();
    }
}
