import CountersignClient
import Fixtures
import Foundation
import Testing

/// Two people who look for each other.
@Suite("Contacts in an app of the SDK")
struct ContactFlowTests {
    /// A signed-in user with a proven phone number.
    static func proven(
        _ service: LiveService, _ name: String, _ number: String
    ) async throws -> (app: App, id: UUID) {
        let app = try App(service.service())
        try await app.client.certify()
        let session = try await app.client.signIn(service.source(name))
        let verification = try await app.client.phone.start(number)
        let code = try await service.code(textedTo: number)
        #expect(try await app.client.phone.check(code, of: verification) == .phone)
        return (app, session.userID)
    }

    @Test("are found by what they share, by one address or privately by a whole address book")
    func finding() async throws {
        let service = try await LiveService()
        let (alice, aliceID) = try await Self.proven(service, "alice", "+14155550101")
        let (bob, _) = try await Self.proven(service, "bob", "+14155550102")
        #expect(try await alice.client.addresses.list().isEmpty)
        #expect(try await bob.client.addresses.resolve("devices/alice") == nil)
        for kind in Addresses.Kind.allCases { try await alice.client.addresses.share(kind) }
        #expect(Set(try await alice.client.addresses.list().map(\.type)) == [.phone, .name])
        for address in ["devices/alice", "+14155550101"] {
            #expect(try await bob.client.addresses.resolve(address) == aliceID)
        }
        #expect(try await bob.client.contacts.find([]).isEmpty)
        let book = (0..<70).map { "+1415555\(3000 + $0)" } + ["+14155550101", "+14155550102", "no number"]
        var found: [String: UUID] = [:]
        // The set is filled beside the service's other work.
        for _ in 0..<240 {
            found = try await bob.client.contacts.find(["+14155550101"])
            if !found.isEmpty { break }
            try await Task.sleep(for: .milliseconds(500))
        }
        #expect(found == ["+14155550101": aliceID])
        #expect(try await bob.client.contacts.find(book) == ["+14155550101": aliceID])
        for kind in Addresses.Kind.allCases { try await alice.client.addresses.hide(kind) }
        #expect(try await bob.client.contacts.find(book).isEmpty)
        #expect(try await bob.client.addresses.resolve("+14155550101") == nil)
    }
}
