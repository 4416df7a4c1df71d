import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@Suite("Concurrent calls for one redirect")
struct RedirectRaceTests {
    @Test("keep one answer and store one card, on two nodes", arguments: StoreKind.shared)
    func nodes(kind: StoreKind) async throws {
        try await ServiceFixture.run(PresentationBench.policy, on: kind, nodes: 2) { fixture, nodes in
            let bench = try await PresentationBench(fixture)
            let alice = try await bench.cards.withPhone("alice", "+14155552671")
            let begun = try await bench.begin(.identity, alice, on: nodes[0])
            // Each is another answer of the same wallet.
            let answers = try (0..<8).map { _ in try begun.answer(bench.mint(.identity)) }
            let codes = await withTaskGroup(of: String?.self) { group in
                for (index, answer) in answers.enumerated() {
                    group.addTask { try? await bench.post(answer, to: begun, on: nodes[index % 2]) }
                }
                return await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
            }
            let code = try #require(codes.first)
            #expect(codes.count == 1)
            let accepted = await withTaskGroup(of: Bool.self) { group in
                for index in 0..<40 {
                    group.addTask {
                        (try? await bench.redeem(begun, code, alice, on: nodes[index % 2])) != nil
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(accepted == 1)
            #expect(try await bench.count("identity_cards") == 1)
            #expect(try await bench.count("presentations WHERE state = 'accepted'") == 1)
            #expect(try await bench.count(bench.kept) == 0)
        }
    }

    @Test("of the same answer return the same code, on two nodes", arguments: StoreKind.shared)
    func same(kind: StoreKind) async throws {
        try await ServiceFixture.run(PresentationBench.policy, on: kind, nodes: 2) { fixture, nodes in
            let bench = try await PresentationBench(fixture)
            let alice = try await bench.cards.phones.person("alice")
            let begun = try await bench.begin(.over18, alice, on: nodes[1])
            let answer = try begun.answer(bench.mint(.over18))
            let codes = await withTaskGroup(of: String?.self) { group in
                for index in 0..<4 {
                    group.addTask { try? await bench.post(answer, to: begun, on: nodes[index % 2]) }
                }
                return await group.reduce(into: Set<String>()) { all, code in
                    if let code { all.insert(code) }
                }
            }
            #expect(codes.count == 1)
            let code = try #require(codes.first)
            #expect(try await bench.redeem(begun, code, alice, on: nodes[1]).isReached == true)
        }
    }

    @Test(
        "keep nothing after the session has ended, or its user or device is banned",
        arguments: StoreKind.shared, ["session", "user", "device"])
    func noReceiver(kind: StoreKind, ended: String) async throws {
        try await PresentationBench.run(on: kind) { bench in
            let alice = try await bench.cards.withPhone("alice", "+14155552671")
            let (begun, received) = (
                try await bench.begin(.identity, alice), try await bench.begin(.over18, alice)
            )
            let answer = try begun.answer(bench.mint(.identity))
            let sent = try received.answer(bench.mint(.over18))
            _ = try await bench.post(sent, to: received)
            switch ended {
            case "session": try await bench.fixture.admin.endSession(alice.session.id)
            case "user": try await BanBench(bench.fixture).ban(.user("test/alice"))
            default: try await BanBench(bench.fixture).ban(.device(alice.session.deviceID))
            }
            let context = bench.fixture.context
            await #expect(throws: Refusal.unknownWalletRequest) { _ = try await bench.post(answer, to: begun) }
            await #expect(throws: Refusal.unknownWalletRequest) { _ = try await bench.post(sent, to: received) }
            await #expect(throws: Refusal.unknownWalletRequest) {
                _ = try await context.readRequestObject(begun.request, walletNonce: nil)
            }
            #expect(try await bench.count("presentations WHERE state = 'open' AND sealed_result IS NULL") == 1)
        }
    }

    @Test("leave nothing of a credential but the age, and nothing at all after an erasure", arguments: StoreKind.shared)
    func canary(kind: StoreKind) async throws {
        try await PresentationBench.run(on: kind) { bench in
            let alice = try await bench.cards.withPhone("alice", "+14155552671")
            let begun = try await bench.begin(.identity, alice)
            let answer = try begun.answer(bench.mint(.identity))
            let code = try await bench.post(answer, to: begun)
            let secrets = [
                code, begun.request, "ALICE", "SAMPLE", "T64235789", "1990-01-31", String(answer.prefix(64)),
            ]
            func found() async throws -> [String] {
                let tables = try await bench.fixture.store.tables().map(\.name)
                let values = try await bench.fixture.store.read { transaction in
                    try tables.flatMap { try transaction.query("SELECT * FROM \($0)").flatMap(\.values) }
                }
                #expect(values.count > 100)
                return secrets.filter { secret in
                    values.contains { value in
                        switch value {
                        case .bytes(let content): return content.firstRange(of: Array(secret.utf8)) != nil
                        case .text(let text): return text.contains(secret)
                        default: return false
                        }
                    }
                }
            }
            // What waits for its app is sealed, and the secrets are digests.
            #expect(try await found() == [])
            #expect(try await bench.count(bench.kept) == 1)
            _ = try await bench.fixture.context.erasePersonalData(for: alice.session)
            #expect(try await bench.count("presentations") == 0)
            #expect(try await found() == [])
            await #expect(throws: Refusal.unknownWalletRequest) { _ = try await bench.post(answer, to: begun) }
        }
    }
}
