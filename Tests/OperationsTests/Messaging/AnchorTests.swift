import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Operations

@Suite("An anchor of a synchronization")
struct AnchorTests {
    @Test("of another timeline of the server leads to everything anew, and so does one that names none")
    func timeline() async throws {
        try await MessageBench.run(on: .postgresql) { bench in
            let ann = try await bench.people.person("ann")
            let stream = try await bench.open("conversation", by: ann)
            try await bench.send("x", to: stream, by: ann)
            let anchor = try await bench.sync(for: ann).anchor
            #expect(try await bench.sync(anchor, for: ann).operations.isEmpty)
            let timeline = try await bench.context.store.write { try $0.timeline() }
            #expect(timeline.count == 8 && anchor.history.hasSuffix(timeline))
            let generation = anchor.history.dropLast(8)
            for history in ["\(generation)0000000F", String(generation)] {
                let other = Service.SyncAnchor(
                    history: history, sequence: anchor.sequence, at: bench.people.clock.now)
                #expect(try Service.SyncAnchor(other.text) == other)
                #expect(try await bench.sync(other, for: ann).operations.map(\.change) == [.newMessage])
            }
        }
    }
}
