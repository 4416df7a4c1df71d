package org.countersign.client.proof;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import javax.annotation.Nullable;
import org.countersign.client.CountersignException;
import org.countersign.client.Problem;
import org.countersign.client.internal.Client;
import org.countersign.client.internal.wire.HttpCall;
import org.countersign.client.user.Nonce;

/** The proof of a phone number by a texted code. */
public final class PhoneProof {
    private final Client client;

    /** Made by {@code Countersign}. */
    public PhoneProof(Client client) {
        this.client = client;
    }

    /** Starts a verification, like {@link #start(String, String, String)}. */
    public PhoneVerification start(String number) throws CountersignException {
        return start(number, null, null);
    }

    public CompletableFuture<PhoneVerification> startAsync(String number) {
        return client.async(() -> start(number));
    }

    /**
     * Starts a verification by a texted code. Repeating it while the code is valid returns the same verification and
     * sends nothing. With a presence key the device recognizes the user, and the call carries the proof.
     *
     * @param number E.164, or without a presence key in the region's notation
     * @param region such as {@code US}, for a number without {@code +}
     * @param pushEndpoint the ARN of an Amazon SNS endpoint, for pushes to the user
     * @throws CountersignException {@code invalid_presence_proof}, with reason {@code missing} if the service requires
     *     a proof and this device has no key for it
     */
    public PhoneVerification start(String number, @Nullable String region, @Nullable String pushEndpoint)
            throws CountersignException {
        Map<String, Object> members = HttpCall.members(
            "phone_number", number, "region", region, "push_endpoint", pushEndpoint);
        Nonce nonce = null;
        for (int proofs = 1; ; proofs++) {
            String proof = client.presenceProof(number, nonce);
            if (proof != null) members.put("presence", proof);
            try {
                HttpCall call = HttpCall.json("POST", "/phone-verifications", members).repeatable();
                return new PhoneVerification(client, client.perform(call));
            } catch (CountersignException failure) {
                Problem problem = failure.problem();
                if (proofs >= 3 || problem == null || !problem.asksForPresence()) throw failure;
                nonce = problem.nonce();
            }
        }
    }

    public CompletableFuture<PhoneVerification> startAsync(
            String number, @Nullable String region, @Nullable String pushEndpoint) {
        return client.async(() -> start(number, region, pushEndpoint));
    }
}
