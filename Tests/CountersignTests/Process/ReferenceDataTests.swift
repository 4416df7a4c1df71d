import Domain
import Foundation
import Testing

@testable import countersign

@Suite("Reference data")
struct ReferenceDataTests {
    @Test("has a name of its own, a source, a version and a day that was")
    func rows() {
        #expect(Set(ReferenceData.all.map(\.name)).count == ReferenceData.all.count)
        #expect(ReferenceData.all.map(\.name) == ReferenceData.all.map(\.name).sorted())
        for data in ReferenceData.all {
            #expect(data.name.wholeMatch(of: /[a-z]+(_[a-z]+)*/) != nil, "\(data.name)")
            #expect(!data.source.isEmpty && !data.version.isEmpty, "\(data.name)")
            #expect(data.date.start > Date(timeIntervalSince1970: 1_600_000_000), "\(data.name)")
            #expect(data.date.start <= Date(), "\(data.name)")
        }
    }

    @Test("has an age in whole days, and none before its date")
    func age() throws {
        let data = try #require(ReferenceData.all.first)
        let start = data.date.start
        #expect(data.days(at: start.addingTimeInterval(-1)) == 0)
        #expect(data.days(at: start.addingTimeInterval(86_399)) == 0)
        #expect(data.days(at: start.addingTimeInterval(121 * 86_400)) == 121)
    }
}
