package org.countersign.client.internal.wire;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import javax.net.SocketFactory;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/** Counts connections, from the end of the handshake to the end of the socket. */
final class CountedSockets extends SSLSocketFactory {
    private final SSLSocketFactory inner;
    private final IntConsumer count;

    /** Calls {@code count} with 1 when a connection opens, and with -1 when it closes. */
    CountedSockets(SSLSocketFactory inner, IntConsumer count) {
        this.inner = inner;
        this.count = count;
    }

    /** The sockets below TLS, whose end is noticed. */
    static final class Plain extends SocketFactory {
        @Override
        public Socket createSocket() {
            return new Ending();
        }

        @Override
        public Socket createSocket(String host, int port) throws IOException {
            throw new IOException("a socket is connected after it is made");
        }

        @Override
        public Socket createSocket(String host, int port, InetAddress local, int localPort) throws IOException {
            return createSocket(host, port);
        }

        @Override
        public Socket createSocket(InetAddress host, int port) throws IOException {
            return createSocket(host.getHostAddress(), port);
        }

        @Override
        public Socket createSocket(InetAddress host, int port, InetAddress local, int localPort) throws IOException {
            return createSocket(host, port);
        }
    }

    private static final class Ending extends Socket {
        /** 0 before the handshake, 1 while it is counted, 2 after the end. */
        private final AtomicInteger step = new AtomicInteger();
        private volatile IntConsumer count = change -> {};

        void open(IntConsumer count) {
            this.count = count;
            if (step.compareAndSet(0, 1)) count.accept(1);
        }

        @Override
        public void close() throws IOException {
            if (step.getAndSet(2) == 1) count.accept(-1);
            super.close();
        }
    }

    @Override
    public Socket createSocket(Socket plain, String host, int port, boolean closesPlain) throws IOException {
        Socket secure = inner.createSocket(plain, host, port, closesPlain);
        if (plain instanceof Ending && secure instanceof SSLSocket) {
            ((SSLSocket) secure).addHandshakeCompletedListener(event -> ((Ending) plain).open(count));
        }
        return secure;
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        return inner.createSocket(host, port);
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress local, int localPort) throws IOException {
        return inner.createSocket(host, port, local, localPort);
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        return inner.createSocket(host, port);
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress local, int localPort) throws IOException {
        return inner.createSocket(host, port, local, localPort);
    }

    @Override
    public String[] getDefaultCipherSuites() {
        return inner.getDefaultCipherSuites();
    }

    @Override
    public String[] getSupportedCipherSuites() {
        return inner.getSupportedCipherSuites();
    }
}
