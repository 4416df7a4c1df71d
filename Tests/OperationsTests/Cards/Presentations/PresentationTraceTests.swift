import Crypto
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@Suite("What a presentation leaves")
struct PresentationTraceTests {
    @Test("after 500 concurrent answers is one row, and one answer was accepted", arguments: StoreKind.shared)
    func concurrent(kind: StoreKind) async throws {
        try await PresentationBench.run(on: kind) { bench in
            let alice = try await bench.cards.withPhone("alice", "+14155552671")
            let opened = try await bench.open(.identity, alice)
            let answer = try bench.answer(opened, bench.mint(.identity), by: .isoDocument)
            let context = bench.fixture.context
            let session = alice.session
            let accepted = await withTaskGroup(of: Bool.self) { group in
                for _ in 1...500 {
                    group.addTask {
                        do {
                            _ = try await context.answerPresentation(
                                opened.id.description, answer, for: session)
                            return true
                        } catch { return false }
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(accepted == 1)
            #expect(try await bench.count("identity_cards") == 1)
            #expect(try await bench.count("presentations WHERE state = 'accepted'") == 1)
        }
    }

    @Test("after an age is a byte, which the user's erasure deletes with the request", arguments: StoreKind.shared)
    func erasure(kind: StoreKind) async throws {
        try await PresentationBench.run(on: kind) { bench in
            let alice = try await bench.cards.phones.person("alice")
            try await bench.present(.over18, alice)
            let sealed = try await bench.cards.sealedValues().filter { $0.table == "age_proofs" }
            // One digit of text, behind a format byte and a nonce, and before a tag.
            #expect(sealed.map(\.bytes.count) == [30])
            _ = try await bench.open(.over18, alice)
            let export = try await bench.fixture.context.exportPersonalData(for: alice.session).json
            #expect(export["age_proof"]?["age_over_18"] == .bool(true))
            #expect(export["age_proof"]?["age_over_21"] == .bool(false))
            _ = try await bench.fixture.context.erasePersonalData(for: alice.session)
            #expect(try await bench.count("age_proofs") == 0)
            #expect(try await bench.count("presentations") == 0)
        }
    }

    @Test("after an age has nothing of the credential, in any column", arguments: StoreKind.shared)
    func canary(kind: StoreKind) async throws {
        try await PresentationBench.run(on: kind) { bench in
            let alice = try await bench.cards.phones.person("alice")
            let opened = try await bench.open(.over18, alice)
            let mint = bench.mint(.over18)
            let received = ReceivedRequest(opened, by: .isoDocument)
            let response = try mint.response(to: received.request())
            let answer = try received.answer(presenting: response)
            _ = try await bench.fixture.context.answerPresentation(
                opened.id.description, answer, for: alice.session)
            let key = Array(mint.deviceKey.publicKey.rawRepresentation.prefix(32))
            #expect(response.firstRange(of: key) != nil)
            let canaries = [
                key, bench.wallet.issuer.certificate, Array("IACA".utf8), Array(answer.response.utf8.prefix(64)),
                Array(Base64URL.encode(key).utf8),
            ]
            let tables = try await bench.fixture.store.tables().map(\.name)
            let values = try await bench.fixture.store.read { transaction in
                try tables.flatMap { try transaction.query("SELECT * FROM \($0)").flatMap(\.values) }
            }
            #expect(values.count > 100)
            for value in values {
                let bytes: [UInt8]
                switch value {
                case .bytes(let content): bytes = content
                case .text(let text): bytes = Array(text.utf8)
                default: continue
                }
                #expect(!canaries.contains { bytes.firstRange(of: $0) != nil })
            }
        }
    }

    @Test("is told to the provider: the age, with the evidence of an electronic record")
    func claims() async throws {
        try await PresentationBench.run { bench in
            let connection = try await bench.fixture.connectNewDevice()
            let opened = try await bench.fixture.opened("alice", on: connection)
            let alice = PhoneBench.Person(session: opened.session, connection: connection)
            let token = try #require(opened.token).text.reveal()
            let backend = try await bench.fixture.backend()
            func claims() async throws -> JSONValue? {
                try await bench.fixture.context.introspect(token, for: backend)?.verifiedClaims?.json
            }
            #expect(try await claims() == nil)
            try await bench.present(.over21, alice)
            let proved = try #require(try await claims())
            #expect(proved["claims"] == .object(["age_over_18": .bool(true), "age_over_21": .bool(true)]))
            #expect(
                proved["verification"]?["evidence"] == .array([.object(["type": .string("electronic_record")])]))
            let known = try await bench.fixture.context.readUserClaims(
                "alice", of: bench.fixture.registration.provider.id)
            #expect(known.isOver(18) == true && known.isOver(21) == true && known.initials == nil)
        }
    }
}
