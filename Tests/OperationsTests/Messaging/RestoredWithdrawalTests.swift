import Database
import Domain
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

/// A backup, then what users take back from others, then the backup in the store's place.
@Suite("What users took back across a restore")
struct RestoredWithdrawalTests {
    @Test("stays so: permissions, requests, memberships, blocks and addresses; what nobody took back is there")
    func replay() async throws {
        try await MessageBench.run(on: .sqlite) {
            $0.streams.conversationRequires = .provider
        } _: { bench in
            let people = bench.people
            let (ann, bob, cat) = (
                try await people.person("ann"), try await people.person("bob"), try await people.person("cat")
            )
            let ended = try await bench.permit(ann, bob)
            let kept = try await bench.permit(ann, cat)
            let asked = try await people.request(bob, cat)
            let stream = try await bench.open("conversation", [bob, cat], by: ann)
            for text in ["1", "2"] { try await bench.send(text, to: stream, by: ann) }
            for person in [ann, bob] {
                try await bench.context.store.write {
                    try FindableAddressRepository($0).insert(.name, of: person.userID, at: $0.now)
                }
            }
            try await bench.restored {
                _ = try await people.context.cancelAuthorization(ended, for: bob)
                try await people.context.blockUser(bob.userID.description, for: cat)
                for text in ["3", "4"] { try await bench.send(text, to: stream, by: ann) }
                try await bench.remove(bob, from: stream, by: ann)
                try await bench.context.store.write {
                    try FindableAddressRepository($0).delete(.name, of: ann.userID)
                }
            } then: { store, report in
                // The request was hidden by the block; it is not counted.
                #expect(report.withdrawals == 4)
                try await store.write { transaction in
                    let permissions = AuthorizationRepository(transaction)
                    func find(_ text: String) throws -> MessagingPermission? {
                        try AuthorizationID(text[...]).flatMap { try permissions.find($0) }
                    }
                    #expect(try find(ended)?.state == .cancelled)
                    #expect(try find(kept)?.state == .approval)
                    #expect(try find(asked)?.isDelivered == false)
                    #expect(try BlockRepository(transaction).holds(cat.userID, blocks: bob.userID))
                    let addresses = FindableAddressRepository(transaction)
                    #expect(try addresses.list(of: ann.userID).isEmpty && addresses.list(of: bob.userID).count == 1)
                    let id = try #require(MessageStreamID(stream[...]))
                    let members = StreamMemberRepository(transaction)
                    // A message that gets the number 3 in the restored store is not the former member's.
                    #expect(try members.find(bob.userID, in: id)?.leftAt == 2)
                    #expect(try members.find(cat.userID, in: id)?.leftAt == nil)
                }
            }
        }
    }

    @Test("is nothing where the copy has it all: a second restore changes nothing")
    func again() async throws {
        try await MessageBench.run(on: .sqlite) { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            let permission = try await bench.permit(ann, bob)
            _ = try await bench.people.context.cancelAuthorization(permission, for: ann)
            try await bench.people.context.blockUser(ann.userID.description, for: bob)
            try await bench.restored {
            } then: { _, report in
                #expect(report.withdrawals == 0)
            }
        }
    }

    @Test("stays so: a user who hid the presence is hidden, and one who showed it is too")
    func presence() async throws {
        try await MessageBench.run(on: .sqlite) { bench in
            let (ann, bob) = (try await bench.people.person("ann"), try await bench.people.person("bob"))
            try await bench.context.changeProfile(Service.ProfileChange(presence: .hidden), for: ann)
            try await bench.restored {
                try await bench.context.changeProfile(Service.ProfileChange(presence: .visible), for: ann)
                try await bench.context.changeProfile(Service.ProfileChange(presence: .hidden), for: bob)
            } then: { store, report in
                let found = try await store.read { transaction in
                    try [ann, bob].map { try PresenceRepository(transaction).visibility(of: $0.userID) }
                }
                // What a user permitted since is permitted again.
                #expect(found == [.hidden, .hidden] && report.withdrawals == 1)
            }
        }
    }
}
