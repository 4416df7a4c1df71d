package org.countersign.client;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import javax.annotation.Nullable;
import org.countersign.client.internal.wire.Answer;

/** A response of the service, with a status below 400. */
public final class Reply {
    private final Answer answer;

    Reply(Answer answer) {
        this.answer = answer;
    }

    public int status() {
        return answer.status;
    }

    /** A header field; null if it is missing. The case of its name is ignored. */
    public @Nullable String header(String name) {
        return answer.headers.get(name);
    }

    public byte[] bytes() {
        return answer.body.clone();
    }

    /** The body as UTF-8. */
    public String text() {
        return new String(answer.body, StandardCharsets.UTF_8);
    }

    /** The members of a body of JSON: maps, lists, texts, longs, doubles, booleans and null. */
    public Map<String, Object> json() throws CountersignException {
        return answer.json().members();
    }
}
