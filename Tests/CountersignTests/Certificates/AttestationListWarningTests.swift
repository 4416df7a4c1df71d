import Domain
import Testing

@testable import countersign

@Suite("The warning that the list of revoked attestations cannot be fetched")
struct AttestationListWarningTests {
    @Test("says what the policy makes of Android keys")
    func consequences() {
        let consequences = CertificationPolicy.StatusUnknown.allCases.map(\.consequence)
        #expect(Set(consequences).count == consequences.count)
        #expect(CertificationPolicy.StatusUnknown.refuse.consequence.contains("no Android key is certified"))
        #expect(CertificationPolicy.StatusUnknown.admit.consequence.contains("Android keys are certified"))
        #expect(!CertificationPolicy.StatusUnknown.admit.consequence.contains("no Android key"))
    }
}
