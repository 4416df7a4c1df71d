import Domain
import Encoding
import Foundation
import Testing

@Suite("A session's clocks")
struct SessionClockTests {
    private let start = Date(timeIntervalSince1970: 1_800_000_000)
    private let policy = SessionPolicy()

    private func session(challengedAt: Date? = nil, lastUsedAt: Date? = nil) -> Session {
        Session(
            id: SessionID(UUID()), tokenHash: Digest256.of("token"), userID: UserID(UUID()),
            providerID: ProviderID(UUID()), externalID: "alice", applicationID: ApplicationID(UUID()),
            deviceID: DeviceID(UUID()), thumbprint: Digest256.of("certificate"), providerKeyID: ProviderKeyID(UUID()),
            state: challengedAt == nil ? .authenticated : .challenged, createdAt: start, renewedAt: start,
            lastUsedAt: lastUsedAt ?? start, challengedAt: challengedAt)
    }

    @Test("An hour without use challenges it, to the second")
    func idle() {
        #expect(session().effectiveState(at: start.addingTimeInterval(3599), policy: policy) == .authenticated)
        #expect(session().effectiveState(at: start.addingTimeInterval(3600), policy: policy) == .challenged)
    }

    @Test("A challenged session that nobody renews expires after a day")
    func unrenewed() {
        let challenged = session(challengedAt: start.addingTimeInterval(100))
        #expect(challenged.effectiveState(at: start.addingTimeInterval(86_499), policy: policy) == .challenged)
        #expect(challenged.effectiveState(at: start.addingTimeInterval(86_500), policy: policy) == .expired)
    }

    @Test("Use keeps it alive for a day and no longer")
    func absolute() {
        let used = session(lastUsedAt: start.addingTimeInterval(86_300))
        #expect(used.effectiveState(at: start.addingTimeInterval(86_399), policy: policy) == .authenticated)
        #expect(used.effectiveState(at: start.addingTimeInterval(86_400), policy: policy) == .expired)
    }

    @Test("What may not act says why")
    func refusals() {
        #expect(throws: Refusal(.sessionChallenged, "")) {
            try session(challengedAt: start).requireAuthenticated(now: start, policy: policy)
        }
        #expect(throws: Refusal(.sessionExpired, "")) {
            try session().requireAuthenticated(now: start.addingTimeInterval(200_000), policy: policy)
        }
    }
}
