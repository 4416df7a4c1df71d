import Domain
import Fixtures
import Foundation
import Testing

@testable import Operations

@Suite("Calls between users")
struct CallTests {
    @Test(
        "are one offer and the answer of the device that picks up first, and all devices learn of both",
        arguments: StoreKind.shared)
    func firstPickUp(kind: StoreKind) async throws {
        try await MessageBench.run(on: kind) { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            #expect(await bench.people.state { try await bench.open("call", [bob], by: ann) } == "unauthorized")
            try await bench.permit(ann, bob)
            let call = try await bench.open("call", [bob], by: ann)
            #expect(try await bench.show(call, to: bob).stream.kind == .call)
            #expect(await bench.people.state { try await bench.send("answer", to: call, by: bob) } == "turn")
            let anchor = try await bench.sync(for: bob).anchor
            try await bench.send("offer", to: call, by: ann)
            let rung = try await bench.sync(anchor, for: bob)
            #expect(rung.operations.map(\.change) == [.newMessage])
            #expect(await bench.people.state { try await bench.send("offer", to: call, by: ann) } == "turn")
            // Two devices of the callee, at the same moment.
            let states = await withTaskGroup(of: String?.self) { group -> [String?] in
                for device in 0..<2 {
                    group.addTask { await bench.people.state { try await bench.send("\(device)", to: call, by: bob) } }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(states) == ["answered", nil])
            let read = try await bench.read(call, by: ann)
            #expect(read.count == 2 && read[0] == "1 offer" && ["2 0", "2 1"].contains(read[1]))
            #expect(try await bench.read(call, by: bob) == read)
            for person in [ann, bob] {
                #expect(await bench.people.state { try await bench.send("more", to: call, by: person) } == "answered")
                let answered = try await bench.sync(anchor, for: person)
                #expect(answered.operations.contains { $0.change == .newMessage && $0.stream.description == call })
            }
            try await bench.context.deleteMessageStream(call, for: bob)
            await #expect(throws: Refusal(.notFound, "")) { try await bench.read(call, by: ann) }
        }
    }

    @Test("are missed when they have rung for too long, and end with the permission")
    func endings() async throws {
        try await MessageBench.run { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            let permission = try await bench.permit(ann, bob)
            let call = try await bench.open("call", [bob], by: ann)
            try await bench.send("offer", to: call, by: ann)
            bench.people.clock.advance(61)
            #expect(await bench.people.state { try await bench.send("answer", to: call, by: bob) } == "missed")
            let next = try await bench.open("call", [bob], by: ann)
            try await bench.send("offer", to: next, by: ann)
            _ = try await bench.people.context.cancelAuthorization(permission, for: ann)
            #expect(await bench.people.state { try await bench.send("answer", to: next, by: bob) } == "closed")
            let listed = try await bench.context.listMessageStreams(
                .init(kind: "call", cursor: nil), for: bob)
            #expect(listed.views.count == 2)
            let direct = try await bench.context.listMessageStreams(.init(kind: "direct", cursor: nil), for: bob)
            #expect(direct.views.isEmpty)
        }
    }
}
