import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

/// Who the other side of a permission is.
@Suite("The other side of a permission")
struct PermittedProfileTests {
    @Test("has no id, address or name before the approval, and all of them after it, for both sides")
    func approval() async throws {
        try await AuthorizationBench.run { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let id = try await bench.request(alice, "test/bob")
            let asked = try await bench.context.readAuthorization(id, to: bob)
            #expect(asked.partner != nil && asked.partner?.profile == nil)
            #expect(try await bench.list(bob).first?.partner?.profile == nil)
            let answered = try await bench.context.approveAuthorization(id, for: bob)
            let requester = try #require(answered.partner?.profile)
            #expect(requester.userID == alice.userID && requester.address == "test/alice")
            #expect(requester.displayName == "Person alice" && requester.initials == "MS")
            let recipient = try #require(try await bench.list(alice).first?.partner?.profile)
            #expect(recipient.userID == bob.userID && recipient.address == "test/bob")
            #expect(recipient.displayName == "Person bob")
            _ = try await bench.context.cancelAuthorization(id, for: alice)
            #expect(try await bench.context.readAuthorization(id, to: bob).partner == nil)
        }
    }

    @Test("has no name by the policy `ids`, and keeps initials, age and picture")
    func ids() async throws {
        try await AuthorizationBench.run {
            $0.streams.members = .ids
        } _: { bench in
            let (alice, bob) = (try await bench.person("alice"), try await bench.person("bob"))
            let id = try await bench.request(alice, bob)
            let partner = try #require(try await bench.context.approveAuthorization(id, for: bob).partner)
            #expect(partner.profile?.address == "test/alice" && partner.profile?.displayName == nil)
            #expect(partner.initials == "MS" && partner.pictureURL == "https://pictures.example/alice.png")
            for _ in 0..<2 { _ = try await bench.deliver() }
            let push = try bench.pushes.data()
            #expect(push["type"]?.text == "APPROVAL" && push["address"]?.text == "test/bob")
            #expect(push["display_name"] == nil && push["initials"]?.text == "MS")
        }
    }
}
