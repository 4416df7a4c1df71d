package org.countersign.client.internal;

import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.countersign.client.CountersignException;
import org.countersign.client.internal.wire.HttpCall;
import org.countersign.client.internal.wire.Json;
import org.countersign.client.internal.wire.Text;

/** An attestation as it is sent, which is kept until its answer arrives. */
final class Attestation {
    private static final String KIND = "android_key";
    private final String challenge;
    /** Certificates in base64, the key's own first. */
    private final List<String> chain;

    private Attestation(String challenge, List<String> chain) {
        this.challenge = challenge;
        this.chain = chain;
    }

    /** An attestation by certificates in DER. */
    static Attestation of(String challenge, List<byte[]> certificates) {
        List<String> chain = new ArrayList<>();
        for (byte[] one : certificates) chain.add(Base64.getEncoder().encodeToString(one));
        return new Attestation(challenge, Collections.unmodifiableList(chain));
    }

    /** What the key store attests: SHA-256 of a text with the challenge and the id of the device. */
    static byte[] digest(String challenge, String deviceId) {
        return Text.sha256(Text.utf8("countersign-attest-v1\n" + challenge + "\n" + deviceId));
    }

    Map<String, Object> members() {
        return HttpCall.members("kind", KIND, "challenge", challenge, "chain", chain);
    }

    /** Reads what {@link #members} wrote. */
    static Attestation read(Json json) throws CountersignException {
        return new Attestation(json.text("challenge"), json.textList("chain"));
    }
}
