import Domain
import Encoding
import Foundation
import Testing

@Suite("The limits of calls")
struct CallLimitTests {
    @Test("are those of the policy for each cost, and many times as many for the backends of a provider")
    func costs() {
        var policy = Policy().requests
        (policy.readsPerMinute, policy.writesPerMinute, policy.heavyPerMinute) = (30, 20, 10)
        policy.providerFactor = 7
        let callers: [CountedCaller] = [.user(UserID(UUID())), .certificate(.of("a")), .address("192.0.2.1")]
        for caller in callers {
            #expect(CallCost.allCases.map { policy.limit(of: $0, for: caller)?.count } == [nil, 30, 20, 10])
        }
        let provider = CountedCaller.provider(ProviderID(UUID()))
        #expect(CallCost.allCases.map { policy.limit(of: $0, for: provider)?.count } == [nil, 210, 140, 70])
        #expect(policy.limit(of: .read, for: provider)?.period == 60)
    }

    @Test("leave the readings of streams of one certificate as they are by default")
    func heavy() {
        let policy = Policy()
        #expect(policy.requests.heavyPerMinute >= policy.streams.readsPerMinute)
    }
}
