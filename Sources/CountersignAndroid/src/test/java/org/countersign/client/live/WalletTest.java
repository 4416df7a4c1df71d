package org.countersign.client.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.util.concurrent.CompletableFuture;
import org.countersign.client.CountersignException;
import org.countersign.client.CountersignException.Kind;
import org.countersign.client.Problem;
import org.countersign.client.proof.CardProof;
import org.countersign.client.proof.PhoneVerification;
import org.countersign.client.proof.Wallet;
import org.countersign.client.proof.WalletClaim;
import org.countersign.client.proof.WalletLink;
import org.countersign.client.proof.WalletResult;
import org.countersign.client.support.LinkedWallet;
import org.countersign.client.support.LiveService;
import org.countersign.client.support.TestApp;
import org.countersign.client.user.Assurance;
import org.countersign.client.user.Proof;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A wallet")
final class WalletTest {
    private static final String ORIGIN = "https://app.example";
    private static final String NUMBER = "+14155550133";

    private static <Answer> CompletableFuture<Answer> failed(Exception cause) {
        CompletableFuture<Answer> future = new CompletableFuture<>();
        future.completeExceptionally(cause);
        return future;
    }

    @Test
    @DisplayName("proves an age, and an identity once the phone number is proven")
    void proofs() throws Exception {
        try (LiveService service = new LiveService(); TestApp app = new TestApp(service.service())) {
            service.enableWallets(ORIGIN);
            app.client.certify(Proof.none());
            app.client.signIn(service.source("alice"));
            Wallet wallet = requests -> {
                try {
                    return CompletableFuture.completedFuture(service.walletAnswer(requests, ORIGIN));
                } catch (Exception failure) {
                    return failed(failure);
                }
            };
            CardProof card = app.client.card();
            WalletResult age = card.present(WalletClaim.OVER_21, ORIGIN, wallet);
            assertTrue(age.isAgeReached());
            assertNull(age.card());
            TestApp.expect(Problem.CONFLICT, () -> card.present(WalletClaim.IDENTITY, ORIGIN, wallet));

            PhoneVerification verification = app.client.phone().start(NUMBER);
            verification.check(service.code(NUMBER));
            WalletResult identity = card.presentAsync(WalletClaim.IDENTITY, ORIGIN, wallet).get();
            assertEquals("verified", identity.card().status(), identity.card().checks().toString());
            assertEquals(Assurance.CREDENTIAL, identity.card().assurance());
        }
    }

    @Test
    @DisplayName("on the same device proves an identity by a link, and a declined request is deleted")
    void links() throws Exception {
        URI address = URI.create("https://app.example/wallet");
        try (LiveService service = new LiveService(); TestApp app = new TestApp(service.service())) {
            LinkedWallet device = service.linkedWallet();
            service.enableWallets(address.toString());
            app.client.certify(Proof.none());
            app.client.signIn(service.source("alice"));
            PhoneVerification verification = app.client.phone().start(NUMBER);
            verification.check(service.code(NUMBER));
            CardProof card = app.client.card();
            // Three requests of a user may be open.
            Exception declined = new IllegalStateException("declined");
            for (int attempt = 0; attempt < 4; attempt++) {
                CountersignException failure = TestApp.expect(
                    Kind.WALLET, () -> card.present(WalletClaim.OVER_18, address, link -> failed(declined)));
                assertEquals(declined, failure.getCause());
            }
            WalletLink wallet = link -> {
                try {
                    return CompletableFuture.completedFuture(device.present(link));
                } catch (Exception failure) {
                    return failed(failure);
                }
            };
            WalletResult identity = card.presentAsync(WalletClaim.IDENTITY, address, wallet).get();
            assertEquals("verified", identity.card().status(), identity.card().checks().toString());
            assertEquals(Assurance.CREDENTIAL, identity.card().assurance());
            TestApp.expect(Problem.NOT_FOUND, () -> card.present(
                WalletClaim.OVER_18, address, link -> CompletableFuture.completedFuture(address)));
        }
    }

    @Test
    @DisplayName("that presents nothing, or something unreadable, leaves no request behind")
    void declined() throws Exception {
        try (LiveService service = new LiveService(); TestApp app = new TestApp(service.service())) {
            service.enableWallets(ORIGIN);
            app.client.certify(Proof.none());
            app.client.signIn(service.source("alice"));
            Exception declined = new IllegalStateException("declined");
            // Three requests of a user may be open.
            for (int attempt = 0; attempt < 4; attempt++) {
                CountersignException failure = assertThrows(
                    CountersignException.class,
                    () -> app.client.card().present(WalletClaim.OVER_18, ORIGIN, requests -> failed(declined)));
                assertEquals(Kind.WALLET, failure.kind());
                assertEquals(declined, failure.getCause());
            }
            CountersignException failure = assertThrows(
                CountersignException.class,
                () -> app.client.card().present(
                    WalletClaim.OVER_18, ORIGIN, requests -> CompletableFuture.completedFuture("{}")));
            assertEquals(Kind.WALLET, failure.kind());
        }
    }
}
