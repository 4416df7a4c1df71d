package org.countersign.client.internal.wire;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.ProtocolException;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.annotation.Nullable;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;
import okhttp3.Call;
import okhttp3.Callback;
import okhttp3.Interceptor;
import okhttp3.Response;
import okhttp3.ResponseBody;
import org.countersign.client.CountersignException;
import org.countersign.client.CountersignException.Kind;

/** A request that was given to OkHttp: whether it was sent, and its response. */
final class Pending implements Callback {
    /** The maximum size of a response in bytes. */
    private static final int LONGEST = 1 << 20;
    private final @Nullable String serial;
    private final Duration deadline;
    private final CompletableFuture<Answer> answer = new CompletableFuture<>();
    /** Whether a connection was open, so that the service may have got the request. */
    private volatile boolean isSent;

    Pending(@Nullable String serial, Duration deadline) {
        this.serial = serial;
        this.deadline = deadline;
    }

    /** A response that is longer than allowed. */
    private static final class TooLong extends IOException {
        private static final long serialVersionUID = 1;
    }

    /**
     * Notes that a request is sent, and never lets it be sent twice. OkHttp may connect to another address of the
     * server, but only the client knows whether a request may be repeated.
     */
    static Interceptor guard() {
        return chain -> {
            Pending pending = chain.request().tag(Pending.class);
            if (pending != null) {
                if (pending.isSent) throw new ProtocolException("the connection broke");
                pending.isSent = true;
            }
            return chain.proceed(chain.request());
        };
    }

    /** Waits for the response. An interrupt ends the request. */
    Answer send(Call call) throws CountersignException {
        call.enqueue(this);
        try {
            return answer.get(deadline.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException failed) {
            throw failure(failed.getCause());
        } catch (TimeoutException late) {
            call.cancel();
            String why = "the time limit of " + deadline.getSeconds() + " s was exceeded";
            throw isSent ? unanswered(why, late) : unreachable("no connection within the time limit", late);
        } catch (InterruptedException interrupt) {
            call.cancel();
            throw CountersignException.interrupted(interrupt);
        }
    }

    @Override
    public void onFailure(Call call, IOException failure) {
        answer.completeExceptionally(failure);
    }

    @Override
    public void onResponse(Call call, Response response) {
        try (ResponseBody body = response.body()) {
            byte[] bytes = body == null ? new byte[0] : read(body.byteStream());
            answer.complete(new Answer(response.code(), response.headers(), bytes, serial));
        } catch (IOException failure) {
            answer.completeExceptionally(failure);
        }
    }

    private static byte[] read(InputStream stream) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        byte[] part = new byte[8192];
        for (int count = stream.read(part); count >= 0; count = stream.read(part)) {
            bytes.write(part, 0, count);
            if (bytes.size() > LONGEST) throw new TooLong();
        }
        return bytes.toByteArray();
    }

    /** Maps the error of a connection: the server was the wrong one, was not reached, or may have acted. */
    private CountersignException failure(@Nullable Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof Pins.Mismatch) {
                return new CountersignException(Kind.PIN_MISMATCH, cause.getMessage(), error);
            }
            if (cause instanceof CertificateException && error instanceof SSLException) {
                return untrusted("it is not certified by a trusted authority, or a clock is wrong", error);
            }
        }
        if (error instanceof SSLPeerUnverifiedException) return untrusted("its certificate is for another name", error);
        if (error instanceof TooLong) {
            return new CountersignException(
                Kind.UNREADABLE, "The answer cannot be read: it is longer than a mebibyte.", error);
        }
        // The server did not process a stream that it refused (RFC 9113 §8.7).
        boolean isRefused = error != null && "stream was reset: REFUSED_STREAM".equals(error.getMessage());
        if (isSent && !isRefused) return unanswered("the connection broke", error);
        return unreachable(error instanceof SSLException ? "the TLS handshake failed" : "no connection", error);
    }

    private static CountersignException untrusted(String why, Throwable cause) {
        return new CountersignException(Kind.UNTRUSTED, "The server is not trusted: " + why + ".", cause);
    }

    private static CountersignException unreachable(String why, @Nullable Throwable cause) {
        return new CountersignException(Kind.UNREACHABLE, "No connection to the service: " + why + ".", cause);
    }

    private static CountersignException unanswered(String why, @Nullable Throwable cause) {
        return new CountersignException(
            Kind.UNANSWERED, "The service did not respond: " + why + ". The request may have been carried out.", cause);
    }
}
